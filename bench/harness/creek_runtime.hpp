// SPDX-License-Identifier: Apache-2.0
// Enters the runtime of the creek peer.
#pragma once
#include <creek/tasking.hpp>

#include "workload.hpp"

namespace bench {

/// Returns a runtime with the scheduler, deque and idle policy set.
creek::runtime new_runtime(const settings& s);
/// Returns the runtime that this process keeps, with the scheduler, deque and idle policy set.
creek::runtime& kept_runtime(const settings& s);

/// Runs `f` on a worker of the kept runtime.
template <class F>
void inside(const settings& s, F&& f) {
  kept_runtime(s).run(f);
}

/// Calls `body(worker)` on every worker, by invocations from the caller's, and returns the ns until
/// all are done. Only call it inside the runtime.
template <class Body>
double time_workers(const settings& s, const Body& body) {
  return timed([&] {
    std::vector<creek::future<void>> done;
    for (unsigned w = 0; w < s.workers; ++w) {
      done.push_back(creek::async_on(creek::core_id{static_cast<int>(w)}, [&body, w] { body(w); }));
    }
    (void)creek::when_all(std::move(done)).get();  // rethrows an exception when all have ended
  });
}

/// Runs both closures in parallel.
inline constexpr auto fork = [](const auto& f, const auto& g) { creek::fork_join(f, g); };

}  // namespace bench
