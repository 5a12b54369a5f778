// SPDX-License-Identifier: Apache-2.0
#include "call_energy.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <limits>
#include <memory>

#include <creek/power/meter.hpp>

namespace creek::lapack {
namespace {

/// Lives as long as the process: a thread may be in a call at its end.
constinit power::meter* meter = nullptr;
constinit bool is_usable = false;
/// The first figure, which names the origin: later ones belong to calls.
constinit power::energy_figure* first_reading = nullptr;
constinit std::atomic<bool> in_use{false};

}  // namespace

void open_meter() {
  auto made = std::make_unique<power::meter>();
  first_reading = new power::energy_figure(made->read_energy());
  is_usable = first_reading->available();
  meter = made.release();
}

bool begin_energy() noexcept {
  if (!is_usable || in_use.exchange(true, std::memory_order_acquire)) return false;
  try {
    meter->restart();
    return true;
  } catch (const std::exception&) {
    in_use.store(false, std::memory_order_release);
    return false;
  }
}

double end_energy() noexcept {
  double joules = std::numeric_limits<double>::quiet_NaN();
  try {
    joules = meter->read_energy().energy.value;
  } catch (const std::exception&) {  // no figure
  }
  in_use.store(false, std::memory_order_release);
  return joules;
}

void forget_energy() noexcept {
  in_use.store(false);
}

bool has_energy() noexcept {
  return is_usable;
}

std::string energy_line() {
  if (meter == nullptr) return "";
  const power::energy_figure& figure = *first_reading;
  if (figure.available()) {
    return fmt::format(
        "  energy: calls on workers, {} by {}{}\n", to_string(figure.origin), figure.source,
        figure.origin == energy_origin::measured ? ", with all that runs meanwhile" : "");
  }
  if (std::getenv("CREEK_METER") == nullptr) return "";
  return fmt::format("  no energy: {}\n", figure.reason);
}

}  // namespace creek::lapack
