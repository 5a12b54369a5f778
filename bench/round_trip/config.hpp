// SPDX-License-Identifier: Apache-2.0
// Cross-worker round trip with both workers awake: a worker makes a task available, another worker
// takes it and answers, the first sees the answer. The first worker only waits, so the task must
// run elsewhere meanwhile; it gives up after a bounded wait (no runtime promises that another
// worker comes), and only trips answered by another worker count. Compare with the limit
// `ping_pong`, one cache line there and one back. n is the number of tries, fewer if the waits that
// were given up add up to a second.
#pragma once
#include <atomic>

#include "harness/workload.hpp"

namespace bench::round_trip {

inline constexpr description what{.name = "round_trip",
                                  .about = "task to another worker awake and its answer (median)",
                                  .unit = "ns",
                                  .full = 200'000,
                                  .quick = 20'000,
                                  .smoke = 50,
                                  .min_workers = 2};

/// The answer of one trip, on its own cache line.
class alignas(64) mailbox {
 public:
  /// Called by the task, wherever it runs.
  void answer() { answered_.store(true, std::memory_order_release); }

  /// Called by the worker that made the task. Returns whether the answer came within about 2 ms.
  bool wait() const {
    using clock = std::chrono::steady_clock;
    const auto give_up = clock::now() + std::chrono::milliseconds(2);
    do {
      for (int spins = 0; spins < 1000; ++spins) {
        if (answered_.load(std::memory_order_acquire)) return true;
      }
    } while (clock::now() < give_up);
    return false;
  }

  void reset() { answered_.store(false, std::memory_order_relaxed); }

 private:
  std::atomic<bool> answered_{false};
};

/// Runs once, inside the runtime: `trip(mailbox)` makes a task that calls answer(), calls wait(),
/// and returns its result when both are done.
template <class Trip>
sample run(const settings& s, const Trip& trip) {
  std::vector<double> times;
  double given_up_ns = 0;
  mailbox box;
  for (std::int64_t i = 0; i < s.n && given_up_ns < 1e9; ++i) {
    box.reset();
    bool answered = false;
    const double ns = timed([&] { answered = trip(box); });
    if (answered) {
      times.push_back(ns);
    } else {
      given_up_ns += ns;
    }
  }
  return median_sample(std::move(times), 1);
}

}  // namespace bench::round_trip
