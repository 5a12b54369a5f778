// SPDX-License-Identifier: Apache-2.0
// A policy that hands everything on to another one and notes how much CPU time workers spend
// without a task, and, if asked to, what the machine does over time.
#pragma once

#include <pthread.h>

#include <atomic>
#include <creek/core/power_policy.hpp>
#include <cstdint>
#include <ctime>
#include <memory>
#include <vector>

namespace creek::tool::compare {

/// Called by a worker that is told of.
class state_listener {
 public:
  /// It finds nothing, or has a task again.
  virtual void changed(unsigned worker, bool in_task) noexcept = 0;
  /// It begins a task.
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
  /// `inner` is not null; `listener` may be, and outlives the workers.
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
  unsigned most_awake() const noexcept override { return inner_->most_awake(); }

  /// CPU seconds of the workers since they began, and those that they have spent without a task,
  /// the idle ones of now included. Any thread, while the workers are there. Each worker's own
  /// clock is read: that of the process lags behind by a tick of every thread that runs.
  double cpu_seconds() const noexcept;
  double idle_cpu_seconds() const noexcept;
  /// Why clocks could not be chosen, or were not granted; empty: nothing is known to be wrong.
  std::string control_failure() const;
  /// The clock of a worker, 0 Hz where it is not known. Between begin() and end().
  units::hertz clock(unsigned worker) const noexcept { return clocks_->clock(worker); }

 private:
  /// Written by its worker; `version` is odd meanwhile, so that readers look again.
  struct alignas(128) watch {
    std::atomic<std::uint32_t> version{0};
    std::atomic<bool> idle{false};
    std::atomic<double> since{0};  ///< on the thread's clock, while idle
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
