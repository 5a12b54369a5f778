// SPDX-License-Identifier: Apache-2.0
#include "clock_domain.hpp"

#include <pthread.h>
#include <time.h>

#include <algorithm>

namespace creek::power {

namespace {

bool has_cpu(const clock_setting& setting, int cpu) noexcept {
  const std::vector<int>& cpus = setting.policy().cpus;
  return std::find(cpus.begin(), cpus.end(), cpu) != cpus.end();
}

std::uintptr_t this_thread() noexcept {
  return static_cast<std::uintptr_t>(pthread_self());
}

}  // namespace

void clock_domain::add_workers(std::size_t count, const std::vector<units::hertz>& steps) {
  clocks_.clear();
  for (const auto& setting : settings_) {
    std::vector<std::uint64_t>& own = clocks_.emplace_back();
    for (const units::hertz step : steps) {
      own.push_back(setting->policy().nearest(static_cast<std::uint64_t>(step.value / 1e3 + 0.5)));
    }
  }
  wishes_ = std::vector<std::atomic<std::uint32_t>>(count);
  forget_wishes();
}

void clock_domain::forget_wishes() noexcept {
  for (auto& each : wishes_) each.store(no_step, std::memory_order_relaxed);
}

std::uint32_t clock_domain::highest_wish() const noexcept {
  std::uint32_t highest = 0;
  for (const auto& each : wishes_) {
    const std::uint32_t wish = each.load(std::memory_order_relaxed);
    if (wish != no_step) highest = std::max(highest, wish);
  }
  return highest;
}

void clock_domain::wish(std::size_t place, std::uint32_t step) noexcept {
  wishes_[place].store(step, std::memory_order_relaxed);
  // Publishes the wish to the serving thread, whose exchange below reads this count.
  if (requests_.fetch_add(1, std::memory_order_acq_rel) == 0) serve();
}

void clock_domain::serve() noexcept {
  std::uint32_t seen = requests_.load(std::memory_order_acquire);
  do {
    apply(highest_wish());
  } while (!requests_.compare_exchange_strong(seen, 0, std::memory_order_acq_rel));
}

void clock_domain::apply(std::uint32_t step) noexcept {
  writer_.store(this_thread(), std::memory_order_seq_cst);
  const std::uint32_t undone = gate_.undone.load(std::memory_order_seq_cst);
  if ((step != applied_ || undone != applied_undone_) &&
      !gate_.closed.load(std::memory_order_seq_cst) && gate_.may_change()) {
    applied_ = step;
    applied_undone_ = undone;
    set_all(step);
    // A signal handler has undone the settings during our writes, or given up waiting for them.
    if (gate_.undone.load(std::memory_order_seq_cst) != undone) {
      for (const auto& each : settings_) each->put_back_again();
      clock_.store(0, std::memory_order_relaxed);
    }
  }
  writer_.store(0, std::memory_order_release);
}

void clock_domain::set_all(std::uint32_t step) noexcept {
  std::uint64_t same = clocks_.front()[step];
  for (std::size_t i = 0; i < settings_.size(); ++i) {
    const std::uint64_t clock = clocks_[i][step];
    // If the cores differ, the domain's clock is unknown.
    if (!settings_[i]->set(clock) || clock != same) same = 0;
  }
  step_.store(step, std::memory_order_relaxed);
  clock_.store(same, std::memory_order_relaxed);
  changes_.fetch_add(1, std::memory_order_release);
}

void clock_domain::check(int cpu) noexcept {
  const std::uint32_t change = changes();
  const std::uint32_t step = step_.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < settings_.size() && step != no_step; ++i) {
    if (!has_cpu(*settings_[i], cpu)) continue;
    const std::uint64_t effective = settings_[i]->checks().effective();
    if (effective == 0 || changes() != change) return;
    if (settings_[i]->checks().add(clocks_[i][step], effective) && settings_.size() == 1) {
      clock_.store(effective, std::memory_order_relaxed);
    }
  }
}

void clock_domain::undo(int& patience) noexcept {
  const auto busy = [&] {
    const std::uintptr_t writer = writer_.load(std::memory_order_seq_cst);
    return writer != 0 && writer != this_thread();  // own thread, interrupted: it will notice
  };
  for (; busy() && patience > 0; --patience) {
    const timespec moment{.tv_sec = 0, .tv_nsec = 50'000};
    nanosleep(&moment, nullptr);
  }
  for (const auto& each : settings_) each->put_back();
  clock_.store(0, std::memory_order_relaxed);
  changes_.fetch_add(1, std::memory_order_release);
}

std::string clock_domain::failure() const {
  for (const auto& each : settings_) {
    if (std::string failure = each->failure(); !failure.empty()) return failure;
  }
  return {};
}

std::string clock_domain::left_behind() const {
  for (const auto& each : settings_) {
    if (std::string left = each->left_behind(); !left.empty()) return left;
  }
  return {};
}

bool clock_domain::holds(int cpu) const noexcept {
  return std::any_of(settings_.begin(), settings_.end(),
                     [&](const auto& each) { return has_cpu(*each, cpu); });
}

}  // namespace creek::power
