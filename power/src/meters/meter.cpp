// SPDX-License-Identifier: Apache-2.0
#include <creek/power/meter.hpp>

#include <ctime>
#include <iterator>
#include <string>

#include "energy_counters.hpp"
#include "figure_source.hpp"

namespace creek::power {

namespace {

using detail::sampled_domains;

units::seconds clock_seconds(clockid_t clock) noexcept {
  timespec now{};
  clock_gettime(clock, &now);
  return units::seconds{static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec)};
}

units::seconds wall_now() noexcept {
  return clock_seconds(CLOCK_MONOTONIC);
}
units::seconds cpu_now() noexcept {
  return clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
}

}  // namespace

struct meter::state {
  std::unique_ptr<detail::figure_source> source;
  units::seconds wall, cpu;  ///< at the start of the span

  meter_reading read(sampled_domains which) {
    meter_reading made;
    made.wall = wall_now() - wall;
    if (which == sampled_domains::all || source->needs_cpu_time()) made.cpu = cpu_now() - cpu;
    source->read(which, made);
    return made;
  }
};

meter::meter() : meter(meter_options::from_environment()) {}

meter::meter(const meter_options& options)
    : state_(std::make_unique<state>(state{detail::make_figure_source(options), {}, {}})) {
  restart();
}

meter::~meter() = default;
meter::meter(meter&&) noexcept = default;
meter& meter::operator=(meter&&) noexcept = default;

meter_reading meter::read() {
  return state_->read(sampled_domains::all);
}

energy_figure meter::read_energy() {
  return state_->read(sampled_domains::counted).energy;
}

void meter::restart() {
  state_->source->begin();
  state_->wall = wall_now();
  state_->cpu = cpu_now();
}

std::vector<meter_state> look_for_meters(const meter_options& options) {
  std::vector<meter_source> sources(std::begin(detail::asked_in_order),
                                    std::end(detail::asked_in_order));
  sources.push_back(meter_source::nvml);
  std::vector<meter_state> found;
  for (const meter_source each : sources) {
    const detail::opened_counters opened = detail::open_counters(each, options.sysfs);
    meter_state& made =
        found.emplace_back(meter_state{each, opened.counters != nullptr, opened.why_not});
    if (!made.usable) continue;
    for (const detail::energy_domain& domain : opened.counters->domains()) {
      made.detail += (made.detail.empty() ? "" : ", ") + domain.name;
    }
  }
  return found;
}

}  // namespace creek::power
