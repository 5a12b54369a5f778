// SPDX-License-Identifier: Apache-2.0
// A policy that forwards everything to another one and notes how much CPU time workers spend
// without a task, and, on request, what the machine does over time.
#pragma once

#include <pthread.h>

#include <atomic>
#include <creek/core/power_policy.hpp>
#include <cstdint>
#include <ctime>
#include <memory>
#include <vector>

namespace creek::tool::compare {

/// Listener to the states of workers; the worker concerned calls it.
class state_listener {
 public:
  /// Called when the worker finds no task, or has a task again.
  virtual void changed(unsigned worker, bool in_task) noexcept = 0;
  /// Called when the worker begins a task.
  virtual void task(unsigned worker) noexcept = 0;

 protected:
  ~state_listener() = default;
};

/// Idle CPU time begins when a worker has looked everywhere and found nothing and ends with its
/// next task, whatever it does meanwhile: searching costs CPU time, sleeping does not. It is read
/// from the worker thread's own clock at these two events only, about 0.3 us each: none of it in
/// tasks.
class watched_policy final : public power_policy {
 public:
  /// Watches `inner`, which is not null. `listener` may be null, and outlives the workers.
  watched_policy(std::shared_ptr<power_policy> inner, state_listener* listener)
      : inner_(std::move(inner)), listener_(listener) {}

  std::string_view name() const noexcept override { return inner_->name(); }
  void begin(const power_site& site) override;
  void end() noexcept override;
  idle_plan worker_idle(unsigned worker) noexcept override;
  void task_about_to_run(unsigned worker, const task_profile& task) noexcept override;
  unsigned tasks_ready(unsigned worker, unsigned count) noexcept override {
    return inner_->tasks_ready(worker, count);
  }
  unsigned max_awake() const noexcept override { return inner_->max_awake(); }

  /// Return the CPU seconds of the workers since they began, and those spent without a task,
  /// current idle time included. Any thread, while workers exist. Read each worker's own clock:
  /// that of the process lags behind by a tick of every running thread.
  double cpu_seconds() const noexcept;
  double idle_cpu_seconds() const noexcept;
  /// Returns why clocks could not be chosen or were not granted; empty: no problem is known.
  std::string control_failure() const;
  /// Returns the clock of a worker, 0 Hz if unknown. Call it between begin() and end().
  units::hertz clock(unsigned worker) const noexcept { return clocks_->clock(worker); }

 private:
  /// State written by its worker; `version` is odd while it changes, so that readers retry.
  struct alignas(128) watch {
    std::atomic<std::uint32_t> version{0};
    std::atomic<bool> idle{false};
    std::atomic<double> since{0};  ///< time on the thread's clock, while idle
    std::atomic<double> spent{0};
    std::atomic<clockid_t> clock{0};  ///< clock of the worker's thread
    std::atomic<bool> known{false};   ///< `clock` is known; set by the first event
  };

  void change(unsigned worker, bool to_idle) noexcept;
  void learn_clock(watch& mine) noexcept;
  static double idle_so_far(const watch& of) noexcept;

  std::shared_ptr<power_policy> inner_;
  state_listener* listener_;
  std::unique_ptr<watch[]> watches_;
  unsigned workers_ = 0;
  clock_control* clocks_ = nullptr;
};

}  // namespace creek::tool::compare
