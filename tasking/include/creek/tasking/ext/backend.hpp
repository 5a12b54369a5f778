// SPDX-License-Identifier: Apache-2.0
// Base classes of a backend: an executor that a runtime owns.
#pragma once

#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <creek/core/measuring/counters.hpp>
#include <creek/tasking/ext/executor.hpp>
#include <creek/tasking/ext/stall_watch.hpp>
#include <creek/tasking/ext/task_stack.hpp>
#include <creek/tasking/options.hpp>
#include <creek/tasking/waiting.hpp>

namespace creek::trace {
class session;
struct options;
}  // namespace creek::trace

namespace creek::ext {

/// An executor, with all that a runtime needs to own it.
class backend : public task_stack_home {
 public:
  /// Warns of misspelt variables of the environment.
  backend();
  ~backend() override;
  /// Finishes all tasks that were started, then ends the workers. Called once, before the
  /// destructor. Returns the error if a file of records could not be written, or null.
  virtual std::exception_ptr shut_down() noexcept = 0;
  virtual counter_values counters() const = 0;
  /// Returns the suspended tasks, as far as the backend keeps account of them; a snapshot, any
  /// thread.
  virtual std::vector<waiting_task> waiting() const { return {}; }
  virtual const scheduler_options& options() const noexcept = 0;
  /// Records events until the backend is shut down and writes them to `file` then. Throws
  /// creek::error if `file` cannot be opened.
  virtual void trace_to(const std::string& file) = 0;

 protected:
  /// Sets the watchdog for long calls; may be null. Call before the workers start.
  void find_stalls_by(std::unique_ptr<stall_watch> watch) {
    stalls_ = std::move(watch);
    set_stalls(stalls_.get());
  }
  /// Opens the file of trace_to() and returns the session to record in.
  trace::session& open_trace(const std::string& file, trace::options chosen);
  /// Writes that session, if there is one; for shut_down(), which returns the same.
  std::exception_ptr write_trace() noexcept;

 private:
  struct trace_output;
  std::unique_ptr<stall_watch> stalls_;
  std::unique_ptr<trace_output> trace_;  ///< null: no trace
};

/// A backend whose strands have no task stack: every task is submitted.
class backend_without_task_stacks : public backend {
 public:
  void work_available() noexcept final {}
  announced_pushes announced() const noexcept final { return announced_pushes::none; }
  bool offer(task_stack&, task_slot*) noexcept final { return false; }
  bool take_back(task_stack&, task_slot*) noexcept final { return true; }
  void run_surplus(task_stack&) noexcept final {}
};

/// Makes a backend by name. Throws usage_error for an unknown name, and for a backend whose
/// component is not linked (see creek::backends()); the message says which component to add.
std::unique_ptr<backend> make_backend(std::string_view name, const scheduler_options& options);

}  // namespace creek::ext
