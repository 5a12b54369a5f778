// SPDX-License-Identifier: Apache-2.0
// Polling at the lowest clock: idle workers search without pause, as with `polling`, but at the
// lowest clock once they really wait; before a task they wish the highest. The savings are between
// those of polling and blocking, without the cost of wake-ups.
#include "clock_wishes.hpp"
#include "named_policy.hpp"
#include "policy_makers.hpp"
#include "waiting_workers.hpp"

namespace creek::power::detail {

namespace {

class frequency final : public named_policy {
 public:
  frequency() noexcept : named_policy("frequency") {}

  idle_plan worker_idle(unsigned worker) noexcept override {
    if (!waiting_.waits(worker)) return waiting_workers::first_look;
    wishes_.wish_lowest(worker);
    return {idle_policy::poll};
  }
  void task_about_to_run(unsigned worker, const task_profile&) noexcept override {
    waiting_.works(worker);
    wishes_.wish_highest(worker);
  }

 private:
  void start(const power_site& site) override {
    wishes_.begin(site, name());
    waiting_.begin(site.workers);
  }

  clock_wishes wishes_;
  waiting_workers waiting_;
};

}  // namespace

std::shared_ptr<power_policy> make_frequency(const policy_options&) {
  return std::make_shared<frequency>();
}

}  // namespace creek::power::detail
