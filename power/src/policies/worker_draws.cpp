// SPDX-License-Identifier: Apache-2.0
#include "worker_draws.hpp"

namespace creek::power::detail {

namespace {

class host_draws final : public draw_model {
 public:
  explicit host_draws(const host_model& model) : model_(model) {}
  units::watts computing(units::hertz clock) const noexcept override {
    return model_.core_computing(clock);
  }
  units::watts polling(units::hertz clock) const noexcept override {
    return model_.core_polling(clock);
  }
  units::watts asleep(units::hertz) const noexcept override { return model_.asleep; }
  units::watts shared() const noexcept override { return model_.shared; }

 private:
  const host_model& model_;
};

}  // namespace

void worker_draws::begin(const power_site& site, const host_model& model) {
  const host_draws of_host(model);
  const draw_model& draws = site.draws != nullptr ? *site.draws : of_host;
  workers_ = site.workers;
  shared_ = draws.shared();
  speeds_.clear();
  computing_.clear();
  asleep_.clear();
  const auto add = [&](units::hertz clock, double speed) {
    speeds_.push_back(speed);
    computing_.push_back(draws.computing(clock));
    asleep_.push_back(draws.asleep(clock));
  };
  const auto clocks = site.clocks->clocks();
  for (const units::hertz each : clocks) add(each, each / clocks.back());
  if (clocks.empty()) add(units::hertz{0}, 1);
}

}  // namespace creek::power::detail
