// SPDX-License-Identifier: Apache-2.0
// The cores as flows of control of one host thread, each on a stack of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include <creek/core/core_id.hpp>
#include <creek/core/threads/stack_switch.hpp>

namespace creek::scc_backend {

/// One core runs, on one of its stacks; all others are off theirs. Switching takes no virtual time.
class core_fibers {
 public:
  /// Maps the stacks at once; throws creek::error if the system refuses them. A core begins with
  /// `main`, which does not return.
  core_fibers(int cores, std::size_t stack_bytes, std::function<void()> main);
  ~core_fibers();
  core_fibers(const core_fibers&) = delete;
  core_fibers& operator=(const core_fibers&) = delete;

  int running() const noexcept { return running_; }
  /// Begins with a core on the calling thread; returns when a core leaves.
  void enter(int core);
  /// Continues the thread where enter() was called; a core that leaves never goes on.
  void leave() noexcept { switch_stacks(stack(), native_); }
  /// Continues another core where it was.
  void switch_to(int core);

  // --- Several stacks on one core, for schedulers of tasks ---------------------------------------
  /// Returns the stack that the running core is on.
  switch_context& stack() noexcept { return *fibers_[running_].on; }
  /// Continues the running core on another of its stacks; returns when it comes back to this one.
  void continue_on(switch_context& other) noexcept;

  /// Saves a core's thread-local variables, and restores them when it continues after others.
  class thread_state {
   public:
    virtual void* save() noexcept = 0;
    virtual void restore(void* saved) noexcept = 0;

   protected:
    ~thread_state() = default;
  };
  /// Sets the state that is kept, or null: then cores keep nothing there. Call before the run.
  void keep_thread_state(thread_state* kept) noexcept { thread_state_ = kept; }
  /// Returns the number of switches between cores so far, the simulator's own cost.
  std::uint64_t switches() const noexcept { return switches_; }

 private:
  struct fiber : switch_context {
    core_fibers* home = nullptr;
    switch_context* on = nullptr;  ///< the stack it is on, or was when others took over
  };
  void unmap() noexcept;

  std::size_t stack_bytes_;
  std::unique_ptr<fiber[]> fibers_;
  int count_ = 0;  ///< fibers that have their stack
  int running_ = 0;
  std::uint64_t switches_ = 0;
  std::function<void()> main_;
  switch_context native_;
  thread_state* thread_state_ = nullptr;
};

}  // namespace creek::scc_backend
