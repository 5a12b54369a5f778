// SPDX-License-Identifier: Apache-2.0
// Single producer and consumers with a queue that all share: worker 0 puts in n tasks, one at a
// time; the others take one after the other and run it, until there are no more. Compare with
// `spc`, the same with tasks of a runtime. `creek bench scc-invoke` has it on the simulated chip.
#pragma once
#include <deque>

#include "harness/invoked.hpp"
#include "harness/marks.hpp"

namespace bench::work_queue {

inline constexpr description empty{.name = "work_queue",
                                   .about = "one producer, consumers ask a queue; empty tasks",
                                   .unit = "ns/task",
                                   .full = 200'000,
                                   .quick = 50'000,
                                   .smoke = 500,
                                   .min_workers = 2,
                                   .groups = "invoke"};
inline constexpr description one_us{.name = "work_queue_1us",
                                    .about = "one producer, consumers ask a queue; tasks of 1 us",
                                    .unit = "ns/task",
                                    .full = 200'000,
                                    .quick = 50'000,
                                    .smoke = 200,
                                    .min_workers = 2,
                                    .groups = "invoke"};

constexpr std::int64_t none_yet = -1;
constexpr std::int64_t no_more = -2;

/// Hands out the numbers of `total` tasks in all. Used by one thread at a time.
class queue {
 public:
  explicit queue(std::int64_t total) : left_(total) {}
  void put(std::int64_t task) { waiting_.push_back(task); }
  std::int64_t take() {
    if (left_ == 0) return no_more;
    if (waiting_.empty()) return none_yet;
    --left_;
    const std::int64_t task = waiting_.front();
    waiting_.pop_front();
    return task;
  }

 private:
  std::deque<std::int64_t> waiting_;
  std::int64_t left_;
};

/// Does one worker's part with `put(task)` and `take()`.
template <class Task, class Put, class Take>
void produce_or_consume(const settings& s, unsigned worker, marks& done, const Task& run,
                        const Put& put, const Take& take) {
  if (worker == 0) {
    for (std::int64_t task = 0; task < s.n; ++task) put(task);
    return;
  }
  for (std::int64_t task = take(); task != no_more; task = take()) {
    if (task != none_yet) run(done.slot(task));
  }
}

/// Adds both workloads to this peer's table, to be run by `Peer::measure(settings, task)`.
template <class Peer>
struct both_registered {
  registration with_empty{empty, [](const settings& s) { return Peer::measure(s, empty_task{}); }};
  registration with_1us{one_us,
                        [](const settings& s) { return Peer::measure(s, busy_task{s.grain}); }};
};

}  // namespace bench::work_queue
