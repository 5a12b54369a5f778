// SPDX-License-Identifier: Apache-2.0
// Keeps the modelled draw of the workers below a cap: of all pairs of a number of workers and a
// clock that fit, it chooses the fastest. The other workers sleep, whatever is ready.
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "clock_wishes.hpp"
#include "named_policy.hpp"
#include "policy_makers.hpp"
#include "worker_draws.hpp"

namespace creek::power::detail {

namespace {

class power_cap final : public named_policy {
 public:
  power_cap(units::watts cap, const host_model& model) noexcept
      : named_policy("power_cap"), cap_(cap), model_(model) {}

  idle_plan worker_idle(unsigned worker) noexcept override {
    // Searching draws no more than computing, so it keeps the same clock.
    wishes_.wish(worker, chosen_.step);
    return {idle_policy::block};
  }
  void task_about_to_run(unsigned worker, const task_profile&) noexcept override {
    wishes_.wish(worker, chosen_.step);
  }
  unsigned max_awake() const noexcept override { return chosen_.active; }

 private:
  void start(const power_site& site) override {
    worker_draws draws;
    draws.begin(site, model_);
    if (draws.idle() >= cap_) {
      throw usage_error(fmt::format(
          "power_cap: {:.4g} W is not above the {:.4g} W that {} idle workers draw; raise the cap",
          cap_.value, draws.idle().value, draws.workers()));
    }
    const std::optional<operating_point> best = most_under(cap_, draws);
    if (!best) {
      throw usage_error(
          fmt::format("power_cap: {:.4g} W is less than the {:.4g} W that one worker "
                      "of {} draws at the lowest clock; raise the cap",
                      cap_.value, draws.draw({1, 0}).value, draws.workers()));
    }
    chosen_ = *best;
    wishes_.begin(site, name());
  }

  static std::optional<operating_point> most_under(units::watts cap, const worker_draws& draws) {
    std::optional<operating_point> best;
    double most = 0;
    for (unsigned active = 1; active <= draws.workers(); ++active) {
      for (std::size_t step = 0; step < draws.steps(); ++step) {
        const operating_point at{active, step};
        const double work = active * draws.speed(step);
        if (draws.draw(at) > cap || work < most) continue;
        if (best && work == most && draws.draw(at) >= draws.draw(*best)) continue;
        best = at;
        most = work;
      }
    }
    return best;
  }

  const units::watts cap_;
  const host_model model_;
  operating_point chosen_;
  clock_wishes wishes_;
};

}  // namespace

std::shared_ptr<power_policy> make_power_cap(const policy_options& options) {
  if (!std::isfinite(options.watts) || options.watts <= 0) {
    throw usage_error("power_cap: say how many watts the workers may draw (a number above 0)");
  }
  options.model.validate();
  return std::make_shared<power_cap>(units::watts{options.watts}, options.model);
}

}  // namespace creek::power::detail
