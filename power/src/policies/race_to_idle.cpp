// SPDX-License-Identifier: Apache-2.0
// Work is done at the highest clock, then workers sleep as deeply as possible, after a short
// search. Wake-ups are batched: short tasks are left to one worker until they are worth waking
// another one, so that sleepers sleep longer.
#include <algorithm>
#include <chrono>
#include <vector>

#include "clock_wishes.hpp"
#include "named_policy.hpp"
#include "policy_makers.hpp"
#include "policy_time.hpp"

namespace creek::power::detail {

namespace {

using namespace std::chrono_literals;

/// Approximate time from a wake-up to the woken worker's first task, and its cost for the waker:
/// workers that are awake finish less work than this sooner.
constexpr std::chrono::nanoseconds price_of_waking = 20us;
constexpr std::chrono::nanoseconds search_before_sleep = 5us;

class race_to_idle final : public named_policy {
 public:
  race_to_idle() noexcept : named_policy("race_to_idle") {}

  idle_plan worker_idle(unsigned worker) noexcept override {
    workers_[worker].end_task();
    return {idle_policy::block, search_before_sleep};
  }

  void task_about_to_run(unsigned worker, const task_profile& task) noexcept override {
    wishes_.wish_highest(worker);
    mine& own = workers_[worker];
    own.end_task();
    own.in_graph = task.graph != nullptr;
    if (own.in_graph) own.began = policy_time();
  }

  unsigned tasks_ready(unsigned worker, unsigned count) noexcept override {
    mine& own = workers_[worker];
    // The length of tasks outside of graphs is unknown; strands spawned by a graph should start.
    if (!own.in_graph) return count;
    if (count == 1 && own.hired > 0) {
      --own.hired;
      return 1;
    }
    own.hired = worth_waking(std::max(own.usual, policy_time() - own.began), count);
    return own.hired;
  }

 private:
  /// State of one worker; read and written on that worker only.
  struct alignas(64) mine {
    bool in_graph = false;
    unsigned hired = 0;                 ///< from the last answer, not begun yet
    std::chrono::nanoseconds began{};   ///< start of the worker's current task
    std::chrono::nanoseconds usual{0};  ///< mean length of its tasks, weighted to recent ones

    void end_task() noexcept {
      if (in_graph) usual += (policy_time() - began - usual) / 4;
      in_graph = false;
    }
  };

  /// Returns the number of workers that would have work for as long as a wake-up takes.
  static unsigned worth_waking(std::chrono::nanoseconds usual, unsigned count) noexcept {
    const auto workers = usual.count() * static_cast<std::int64_t>(count) / price_of_waking.count();
    return static_cast<unsigned>(std::clamp<std::int64_t>(workers, 0, count));
  }

  void start(const power_site& site) override {
    wishes_.begin(site, name());
    workers_.assign(site.workers, {});
  }

  clock_wishes wishes_;
  std::vector<mine> workers_;
};

}  // namespace

std::shared_ptr<power_policy> make_race_to_idle(const policy_options&) {
  return std::make_shared<race_to_idle>();
}

}  // namespace creek::power::detail
