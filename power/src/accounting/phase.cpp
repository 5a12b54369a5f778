// SPDX-License-Identifier: Apache-2.0
#include <creek/power/phase.hpp>

#include <algorithm>
#include <ctime>

#include <creek/core/energy.hpp>
#include <creek/core/measuring/clock.hpp>

#include "phase_log.hpp"

namespace creek::power {

namespace detail {

namespace {

units::seconds cpu_time_of_process() noexcept {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return units::seconds{static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec)};
}

}  // namespace

stamp ticks_now() noexcept {
  return static_cast<stamp>(tick_clock::now().count);
}

stamp metered_now() noexcept {
  backend_meter* const meter = backend_meter::current();
  return meter == nullptr ? 0 : static_cast<stamp>(1e12 * meter->now().value);
}

phase_log& phase_log::of_process() {
  static phase_log* const log = new phase_log;  // leaked: phases of static objects may outlive it
  return *log;
}

std::uint64_t phase_log::open(std::string_view name) {
  const std::lock_guard alone(lock_);
  auto known = ids_.find(name);
  if (known == ids_.end()) {
    known = ids_.emplace(name, static_cast<phase_id>(names_.size())).first;
    names_.emplace_back(name);
    cpu_.emplace_back();
  }
  open_.push_back({++opened_, known->second});
  changed_to(known->second);
  return opened_;
}

void phase_log::close(std::uint64_t number) {
  const std::lock_guard alone(lock_);
  const auto it = std::find_if(open_.begin(), open_.end(),
                               [&](const open_phase& each) { return each.number == number; });
  const bool newest = it + 1 == open_.end();
  open_.erase(it);
  if (newest) changed_to(open_.empty() ? 0 : open_.back().phase);
}

/// Charges the CPU time since the last change to the phase that was open meanwhile.
void phase_log::charge_cpu() {
  const units::seconds now = cpu_time_of_process();
  const phase_id phase = log_.empty() ? 0 : log_.back().phase;
  cpu_[phase] += now - cpu_charged_;
  cpu_charged_ = now;
}

void phase_log::changed_to(phase_id phase) {
  charge_cpu();
  log_.push_back({ticks_now(), metered_now(), phase});
  if (log_.size() > most_changes) log_.pop_front();
  changes_.fetch_add(1, std::memory_order_release);
}

std::vector<std::string> phase_log::names() const {
  const std::lock_guard alone(lock_);
  return names_;
}

std::vector<units::seconds> phase_log::cpu_times() {
  const std::lock_guard alone(lock_);
  charge_cpu();
  return cpu_;
}

phase_log::position phase_log::now() const {
  const std::lock_guard alone(lock_);
  return {changes_.load(std::memory_order_relaxed), log_.empty() ? 0 : log_.back().phase};
}

}  // namespace detail

phase::phase(std::string_view name) : number_(detail::phase_log::of_process().open(name)) {}

phase::~phase() {
  detail::phase_log::of_process().close(number_);
}

}  // namespace creek::power
