// SPDX-License-Identifier: Apache-2.0
// Names of sources, and options of meters from the environment.
#include <array>
#include <cstdlib>
#include <string>
#include <utility>

#include <creek/core/error.hpp>
#include <creek/power/meter.hpp>

#include "sysfs.hpp"

namespace creek::power {

namespace {

constexpr std::array<std::pair<std::string_view, meter_source>, 6> source_names{{
    {"auto", meter_source::automatic},
    {"rapl", meter_source::rapl},
    {"perf", meter_source::perf},
    {"nvml", meter_source::nvml},
    {"model", meter_source::model},
    {"none", meter_source::none},
}};

}  // namespace

std::string_view to_string(meter_source source) noexcept {
  for (const auto& [name, value] : source_names) {
    if (value == source) return name;
  }
  return "?";
}

meter_source parse_meter_source(std::string_view name) {
  std::string valid;
  for (const auto& [each, value] : source_names) {
    if (each == name) return value;
    valid += (valid.empty() ? "" : ", ") + std::string(each);
  }
  throw usage_error("unknown meter '" + std::string(name) + "'; valid: " + valid);
}

meter_options meter_options::from_environment() {
  meter_options options;
  options.sysfs = sysfs::root();
  const char* const asked = std::getenv("CREEK_METER");
  if (asked == nullptr || *asked == '\0') return options;
  try {
    options.source = parse_meter_source(asked);
  } catch (const usage_error& unknown) {
    throw usage_error(std::string("CREEK_METER: ") + unknown.what());
  }
  return options;
}

}  // namespace creek::power
