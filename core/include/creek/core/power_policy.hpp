// SPDX-License-Identifier: Apache-2.0
// A power policy decides how workers wait and at which clock they run. The scheduler tells it of
// three events (worker idle, task about to run, tasks made ready), and it acts through the clocks
// of the machine that it runs on. Backends and schedulers know these interfaces only; the policies
// are in creek/power.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <creek/core/units.hpp>

namespace creek {

/// Behaviour of a worker without work.
enum class idle_policy : std::uint8_t {
  poll,     ///< search without pause; lowest latency, burns the core
  backoff,  ///< search ever more rarely, yielding the core in between; never sleeps in the
            ///< kernel
  block,    ///< search for about the price of a wake-up, then sleep in the kernel
};

/// The clocks of the machine that workers run on. Workers of one domain share a clock: it is the
/// highest that any of them wishes.
class clock_control {
 public:
  virtual ~clock_control() = default;
  /// Returns the clocks that can be had, lowest first. Empty: no control, and why_not() says why.
  [[nodiscard]] virtual std::span<const units::hertz> clocks() const noexcept = 0;
  [[nodiscard]] virtual std::string why_not() const { return {}; }
  /// Returns the number of the worker's clock domain, from 0.
  [[nodiscard]] virtual int domain(unsigned worker) const noexcept = 0;
  /// Asks for clocks()[step] for the worker, or for the highest if step is beyond. Called on that
  /// worker; does not wait for the change and never throws: `failed` reports failures.
  virtual void wish(unsigned worker, std::size_t step) noexcept = 0;
  /// Returns the clock of the worker's domain, as far as known; 0 Hz: unknown. Any thread.
  [[nodiscard]] virtual units::hertz clock(unsigned worker) const noexcept = 0;
  /// Drops all wishes once the workers have ended, while no wish is made: they do not count for
  /// later workers, and the clocks become what they were before the first wish.
  virtual void forget_wishes() noexcept {}
  /// Returns why wishes have not been granted since the control was made; empty: all were.
  [[nodiscard]] virtual std::string failed() const { return {}; }
};

/// A clock control that has no clocks to choose from.
class no_clock_control final : public clock_control {
 public:
  explicit no_clock_control(std::string why) : why_(std::move(why)) {}
  std::span<const units::hertz> clocks() const noexcept override { return {}; }
  std::string why_not() const override { return why_; }
  int domain(unsigned worker) const noexcept override { return static_cast<int>(worker); }
  void wish(unsigned, std::size_t) noexcept override {}
  units::hertz clock(unsigned) const noexcept override { return {}; }

 private:
  std::string why_;
};

/// A task that is about to run, as far as its scheduler knows it.
struct task_profile {
  const char* name = nullptr;   ///< name of its kind, kept by address; null: a task of tasking;
                                ///< "messages": calls by other workers (remote.hpp)
  std::uint64_t number = 0;     ///< position in its task graph: in the order of add(), from 0
  const void* graph = nullptr;  ///< its graph; null: none
  double flops = 0;             ///< as its maker stated; 0: unknown
  int priority = 0;
};

/// Plan for how a worker waits for work.
struct idle_plan {
  idle_policy how = idle_policy::block;
  /// Time to search before it waits as `how` says, and for `poll`, before the policy is asked
  /// again; negative: as long as the backend thinks right.
  std::chrono::nanoseconds search{-1};
};

/// A model of the power that workers draw. A clock of 0 Hz means the one that cannot be changed.
class draw_model {
 public:
  virtual ~draw_model() = default;
  /// Return the power of one worker in a task, of one that searches, and of one that sleeps.
  [[nodiscard]] virtual units::watts computing(units::hertz clock) const noexcept = 0;
  [[nodiscard]] virtual units::watts polling(units::hertz clock) const noexcept = 0;
  [[nodiscard]] virtual units::watts asleep(units::hertz clock) const noexcept = 0;
  /// Returns the power of all that workers share, whatever they do.
  [[nodiscard]] virtual units::watts shared() const noexcept = 0;
};

/// The machine that a policy acts on.
struct power_site {
  unsigned workers = 0;
  clock_control* clocks = nullptr;  ///< never null; outlives the policy's end()
  /// The backend's model of its machine. Null if it has none: policies then use models of their
  /// own. Outlives the policy's end().
  const draw_model* draws = nullptr;
};

/// A policy, made by the user or by creek::power::make_policy(), and given to one runtime at a time
/// by scheduler_options::policy. Events come from all workers at once, each from its own.
class power_policy {
 public:
  virtual ~power_policy() = default;
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  /// Called before the workers start. Throws usage_error if the policy cannot work there.
  virtual void begin(const power_site& site) = 0;
  /// Called after the workers have ended, or never if begin() threw.
  virtual void end() noexcept {}

  /// Called when a worker looked everywhere once in vain, or is one more than max_awake(),
  /// and then sleeps whatever the policy says. Called again when it was woken in vain and, while it
  /// polls, whenever `search` has passed: a policy that first says `poll` learns who really waits.
  virtual idle_plan worker_idle(unsigned worker) noexcept = 0;
  /// Called when a worker begins a task or resumes one that waited: tasks that were stolen,
  /// submitted or resumed, each task of a graph, and messages that it begins to handle; branches
  /// that their own maker runs are part of its task.
  virtual void task_about_to_run(unsigned /*worker*/, const task_profile& /*task*/) noexcept {}
  /// Called when a worker made `count` tasks of a graph, or one task of tasking while others sleep,
  /// ready. Returns how many more workers should begin to run ready tasks, at most `count`.
  /// Whatever it returns, no task is left behind: at least one worker works on a graph while tasks
  /// are ready; with tasking, an awake worker looks everywhere before it sleeps, so 0 leaves the
  /// task to the awake workers, its maker among them, and if none is awake, one is woken all the
  /// same. Tasks that wait for each other by other means than creek's need as many workers awake as
  /// there are such tasks: a policy for such programs answers `count`.
  virtual unsigned tasks_ready(unsigned /*worker*/, unsigned count) noexcept { return count; }
  /// Returns how many workers may be awake at once; one always may. Must be cheap, so return a
  /// variable: it is called whenever a worker without work of its own is about to take another's
  /// and when one would be woken. If more are awake than this, those that run out of work of their
  /// own sleep, though tasks are ready; none is taken from the task that it is in. While some are
  /// kept asleep like this, making a task costs its maker a locked instruction and tasks_ready().
  virtual unsigned max_awake() const noexcept { return ~0U; }
};

}  // namespace creek
