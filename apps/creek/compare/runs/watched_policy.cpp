// SPDX-License-Identifier: Apache-2.0
#include "watched_policy.hpp"

#include <string>

namespace creek::tool::compare {
namespace {

double seconds_on(clockid_t clock) noexcept {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

clockid_t clock_of_this_thread() noexcept {
  clockid_t clock = CLOCK_THREAD_CPUTIME_ID;
  pthread_getcpuclockid(pthread_self(), &clock);
  return clock;
}

}  // namespace

void watched_policy::begin(const power_site& site) {
  watches_ = std::make_unique<watch[]>(site.workers);
  inner_->begin(site);
  workers_ = site.workers;
  clocks_ = site.clocks;
}

void watched_policy::end() noexcept {
  inner_->end();
  clocks_ = nullptr;
}

// A reader that sees an even, unchanged version around its loads has seen one state: a reader that
// loads a value stored in between also sees the odd version before it. This is a sequence lock
// [Boehm 2012] without fences, since ThreadSanitizer does not support those.
void watched_policy::change(unsigned worker, bool to_idle) noexcept {
  watch& mine = watches_[worker];
  const double now = seconds_on(CLOCK_THREAD_CPUTIME_ID);
  const auto version = mine.version.load(std::memory_order_relaxed);
  mine.version.store(version + 1, std::memory_order_relaxed);
  if (to_idle) {
    mine.since.store(now, std::memory_order_release);
  } else {
    const double since = mine.since.load(std::memory_order_relaxed);
    mine.spent.store(mine.spent.load(std::memory_order_relaxed) + now - since,
                     std::memory_order_release);
  }
  mine.idle.store(to_idle, std::memory_order_release);
  mine.version.store(version + 2, std::memory_order_release);
  if (listener_ != nullptr) listener_->changed(worker, !to_idle);
}

void watched_policy::learn_clock(watch& mine) noexcept {
  if (mine.known.load(std::memory_order_relaxed)) [[likely]] {
    return;
  }
  mine.clock.store(clock_of_this_thread(), std::memory_order_relaxed);
  mine.known.store(true, std::memory_order_release);
}

idle_plan watched_policy::worker_idle(unsigned worker) noexcept {
  learn_clock(watches_[worker]);
  const bool was_idle = watches_[worker].idle.load(std::memory_order_relaxed);
  if (!was_idle) change(worker, true);
  return inner_->worker_idle(worker);
}

void watched_policy::task_about_to_run(unsigned worker, const task_profile& task) noexcept {
  learn_clock(watches_[worker]);
  const bool was_idle = watches_[worker].idle.load(std::memory_order_relaxed);
  if (was_idle) change(worker, false);
  if (listener_ != nullptr) listener_->task(worker);
  inner_->task_about_to_run(worker, task);
}

double watched_policy::idle_so_far(const watch& of) noexcept {
  while (true) {
    const auto version = of.version.load(std::memory_order_acquire);
    const bool idle = of.idle.load(std::memory_order_acquire);
    double spent = of.spent.load(std::memory_order_acquire);
    // A thread that has ended has no clock; the version has changed then, too.
    if (idle) {
      spent += seconds_on(of.clock.load(std::memory_order_relaxed)) -
               of.since.load(std::memory_order_acquire);
    }
    if (version % 2 == 0 && of.version.load(std::memory_order_relaxed) == version) return spent;
  }
}

double watched_policy::cpu_seconds() const noexcept {
  double all = 0;
  for (unsigned i = 0; i < workers_; ++i) {
    const watch& of = watches_[i];
    if (!of.known.load(std::memory_order_acquire)) continue;
    all += seconds_on(of.clock.load(std::memory_order_relaxed));
  }
  return all;
}

double watched_policy::idle_cpu_seconds() const noexcept {
  double all = 0;
  for (unsigned i = 0; i < workers_; ++i) all += idle_so_far(watches_[i]);
  return all;
}

std::string watched_policy::control_failure() const {
  if (clocks_ == nullptr) return {};
  return clocks_->clocks().empty() ? clocks_->why_not() : clocks_->failed();
}

}  // namespace creek::tool::compare
