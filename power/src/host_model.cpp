// SPDX-License-Identifier: Apache-2.0
#include <creek/power/host_model.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include <creek/core/error.hpp>

namespace creek::power {

namespace {

void require_draw(const char* name, units::watts draw) {
  if (std::isfinite(draw.value) && draw.value >= 0) return;
  throw usage_error("host model: " + std::string(name) + " must be watts, 0 or more, not " +
                    std::to_string(draw.value));
}

void require_share(const char* name, double share) {
  if (share >= 0 && share <= 1) return;
  throw usage_error("host model: " + std::string(name) + " must be a share from 0 to 1, not " +
                    std::to_string(share));
}

/// Converts a draw at the nominal clock to the draw at `clock`.
units::watts at_clock(const host_model& model, units::watts nominal, units::hertz clock) noexcept {
  if (!(clock.value > 0)) return nominal;
  const double speed = clock / model.nominal;
  const double voltage = model.lowest_voltage + (1 - model.lowest_voltage) * speed;
  return (model.leakage + (1 - model.leakage) * speed * voltage * voltage) * nominal;
}

}  // namespace

void host_model::validate() const {
  if (!(std::isfinite(nominal.value) && nominal.value > 0)) {
    throw usage_error("host model: nominal must be a clock above 0 Hz");
  }
  require_draw("computing", computing);
  require_draw("polling", polling);
  require_draw("asleep", asleep);
  require_draw("shared", shared);
  require_share("leakage", leakage);
  require_share("lowest_voltage", lowest_voltage);
}

units::watts host_model::core_computing(units::hertz clock) const noexcept {
  return at_clock(*this, computing, clock);
}

units::watts host_model::core_polling(units::hertz clock) const noexcept {
  return at_clock(*this, polling, clock);
}

units::joules host_model::energy(const core_activity& what) const noexcept {
  const units::seconds awake = what.computing + what.polling;
  const units::seconds slept{
      std::max(0.0, static_cast<double>(what.cores) * what.wall.value - awake.value)};
  return what.wall * shared + what.computing * core_computing(what.clock) +
         what.polling * core_polling(what.clock) + slept * asleep;
}

}  // namespace creek::power
