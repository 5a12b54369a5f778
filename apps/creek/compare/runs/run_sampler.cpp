// SPDX-License-Identifier: Apache-2.0
#include "run_sampler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace creek::tool::compare {
namespace {

/// Interval of energy samples. Real counters change about every ms (RAPL); faster shows steps.
constexpr std::chrono::microseconds energy_every{1000};

}  // namespace

run_sampler::run_sampler(trace::session& session, unsigned workers)
    : session_(session),
      counters_(session.add_track("machine")),
      in_task_(workers),
      clocks_(workers) {}

void run_sampler::start(power::meter& meter, const watched_policy& watch) {
  const std::lock_guard lock(mutex_);
  meter_ = &meter;
  watch_ = &watch;
  began_ = last_ = clock::now();
  energy_.push_back({0, 0});
}

void run_sampler::stop() noexcept {
  const std::lock_guard lock(mutex_);
  if (meter_ != nullptr) note_energy(true);
  meter_ = nullptr;
  watch_ = nullptr;
}

void run_sampler::changed(unsigned worker, bool in_task) noexcept {
  const std::lock_guard lock(mutex_);
  in_task_[worker] = in_task;
  if (watch_ == nullptr) return;
  trace::counter(&counters_, "workers in tasks", std::ranges::count(in_task_, true));
  note_clock(worker);
  note_energy(false);
}

void run_sampler::task(unsigned worker) noexcept {
  const std::lock_guard lock(mutex_);
  in_task_[worker] = true;
  if (watch_ == nullptr) return;
  note_clock(worker);
  note_energy(false);
}

void run_sampler::note_clock(unsigned worker) {
  const double now = watch_->clock(worker).value;
  if (now == clocks_[worker]) return;  // also if the clock is not known
  clocks_[worker] = now;
  trace::counter(&counters_, session_.intern(fmt::format("clock of worker {}, kHz", worker)),
                 std::llround(now / 1e3));
}

void run_sampler::note_energy(bool at_the_end) {
  const clock::time_point now = clock::now();
  if (!at_the_end && now - last_ < energy_every) return;
  const power::energy_figure so_far = meter_->read_energy();
  if (!so_far.available()) return;
  const double seconds = std::chrono::duration<double>(now - began_).count();
  const energy_point before = energy_.back();
  energy_.push_back({seconds, so_far.energy.value});
  last_ = now;
  if (seconds <= before.seconds) return;
  const double watts = (so_far.energy.value - before.joules) / (seconds - before.seconds);
  trace::counter(&counters_,
                 session_.intern(fmt::format("power ({}), mW", to_string(so_far.origin))),
                 std::llround(1e3 * watts));
}

}  // namespace creek::tool::compare
