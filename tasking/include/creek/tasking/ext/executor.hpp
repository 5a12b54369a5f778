// SPDX-License-Identifier: Apache-2.0
// Interface of a scheduler to all code that waits: a strand can be suspended and resumed.
// Futures, task groups, taskwait and run() are written against this file alone, so they work on
// every backend and from threads that belong to none.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include <creek/core/power_policy.hpp>
#include <creek/tasking/priority.hpp>

namespace creek::detail {
struct task_local_node;
}  // namespace creek::detail

namespace creek::ext {

class executor;
class message_port;
class stall_watch;
struct task_context;
struct root_scope;
struct activation;
struct task_slot;
struct task_type;

/// A suspended flow of control: a fiber of the host backend, a suspend point of oneTBB, or a plain
/// thread blocked in the kernel. The holder of the pointer resumes it exactly once.
struct strand {
  executor* home = nullptr;
};

/// Called when the strand is safely off its stack. Returns true if the strand will be resumed,
/// false if the wait is already over. After returning true the strand may be running again.
using publish_fn = bool (*)(void* argument, strand* self);

/// Reason of a wait, for reports.
struct wait_reason {
  enum class kind : std::uint8_t {
    other,
    future,          ///< `subject` is its future_state_base
    limited_future,  ///< the same, for a wait that something else may end as well
    children,        ///< `subject` is the task_context that counts them
    branch,          ///< `subject` is the task_slot of the fork
    answer,          ///< `subject` is the reply
  };

  // Implicit: a text is all that most waits have to say.
  constexpr wait_reason(const char* text) noexcept : what(text) {}  // NOLINT
  constexpr wait_reason(const char* text, kind awaited, const void* thing) noexcept
      : what(text), of(awaited), subject(thing) {}

  const char* what;  ///< names what it waits for; a text that lives for ever
  kind of = kind::other;
  const void* subject = nullptr;  ///< lives until the wait ends
};

/// Returns a reason for a wait that can be part of a cycle, for a future or an answer. Reports look
/// for cycles once this was called: a program without such waits is not linked with that.
wait_reason reason_to_follow(const char* text, wait_reason::kind awaited,
                             const void* thing) noexcept;

/// The limit of a wait in time; lies in the waiter's frame. See executor::suspend_until().
struct wait_limit {
  std::chrono::nanoseconds span{};  ///< at most longest_wait
  /// Called at most once, when the time is over. Ends the wait unless something else has; returns
  /// the strand if it is suspended and the caller has to resume it. `self` may be gone after that.
  strand* (*expire)(wait_limit* self) noexcept = nullptr;
};

/// Longer waits would leave the range of the clock.
inline constexpr std::chrono::hours longest_wait{24 * 365 * 100};

/// One unit for a scheduler to run; the closure lies behind it.
struct submitted_task {
  void (*run)(submitted_task* self) noexcept = nullptr;
  submitted_task* queued_behind = nullptr;
  /// Set for tasks that a foreign thread may wait for. A backend that finds itself deadlocked calls
  /// it instead of `run`, and for tasks that have begun, as they can never end.
  void (*give_up)(submitted_task* self, std::exception_ptr why) noexcept = nullptr;
  const char* name = nullptr;  ///< as task_type::name, or null
  priority level = priority::normal;
};

/// Memory for the result of a task, on a backend that has to make room for it. Destroyed with the
/// result, by any thread, perhaps after the backend.
class result_place {
 public:
  virtual ~result_place() = default;
  /// Called when the result is written and its flag set; on a strand of the backend.
  virtual void stored() noexcept = 0;
  /// Called when a thread that wants the result reads the flag; on a strand of the backend.
  virtual void looked_at() noexcept = 0;
};

/// State of one running task; lies in the frame that runs it.
struct task_scope {
  task_context* context = nullptr;  ///< made at the first spawn; counts direct children
  root_scope* root = nullptr;       ///< null: to be made in `root_memory`, with the first context
  void* root_memory = nullptr;      ///< null where no task runs
  detail::task_local_node* locals = nullptr;  ///< task-local values, made at first use
  task_slot* base = nullptr;         ///< top of the strand's task stack when the task began
  const task_type* type = nullptr;   ///< for messages
  const activation* call = nullptr;  ///< the invocation that this is, if it is one
  bool is_root = false;              ///< run() started this task
};

/// Position of a worker on the backend's mesh.
struct mesh_place {
  int column = 0, row = 0;
};

/// Properties of a backend that hold as long as its workers run.
struct executor_traits {
  const char* backend_name = "";
  unsigned worker_count = 1;
  /// Equal programs have equal runs: then nothing may depend on random numbers.
  bool runs_repeat = false;
  /// A message that was sent (happens-before) before another to the same worker arrives before it,
  /// whichever workers sent them.
  bool messages_are_causal = true;
  /// Deadlines are points of a time of its own, to which no clock of the process belongs.
  bool has_own_time = false;
  /// An invocation runs on its worker's own stack where its message arrives, and its strand stays
  /// on that worker. Otherwise each is submitted as a task.
  bool runs_invocations_in_place = true;
  /// A worker reads what another wrote as threads do: no message is needed to tell it.
  bool shares_memory = true;
  /// Place of each worker; empty for a backend without a mesh.
  std::vector<mesh_place> mesh{};
};

/// Memory for the bookkeeping of tasks, on a backend where it is scarce. All are called on strands
/// of the backend that have no task stack.
class task_bookkeeping {
 public:
  /// Called before a child is counted. Returns false if there is no memory for the counter: the
  /// caller then runs the child at once and does not count it.
  virtual bool reserve_child(task_context& context) noexcept = 0;
  /// Called before a child that was counted is taken off the count.
  virtual void child_ended(task_context& context) noexcept = 0;
  /// Makes room for the result of a task. Returns nullptr if there is none: the caller then runs
  /// the task at once.
  virtual std::unique_ptr<result_place> reserve_result() noexcept = 0;
  /// Called before a result becomes visible to others: strands that are to see the state before it
  /// go first.
  virtual void about_to_publish() noexcept = 0;

 protected:
  ~task_bookkeeping() = default;
};

/// Set once the process has had a backend that orders its strands by a time of their own: those
/// that are about to change shared state call task_bookkeeping::about_to_publish().
inline std::atomic<bool> any_backend_orders_strands{false};

/// Interface of a backend: runs tasks, suspends and resumes strands. One object per runtime.
class executor {
 public:
  virtual ~executor() = default;

  /// Runs both thunks, the second perhaps on another worker, and returns when both have ended.
  /// Called on a strand of this executor that has no task stack of its own. A thunk that does not
  /// run in the caller's task is given a scope of its own, by which it notices (foreign_branch).
  virtual void fork(void (*left)(void*) noexcept, void* left_argument,
                    void (*right)(void*) noexcept, void* right_argument) = 0;
  /// Makes `task` ready. Any thread.
  virtual void submit(submitted_task* task) = 0;
  /// Suspends the calling strand, which must be one of this executor; see publish_fn. `why`
  /// is for reports.
  virtual void suspend(publish_fn publish, void* argument, const wait_reason& why) = 0;
  /// Like suspend(), but calls limit.expire if the span passes before the strand continues; never
  /// after the return. The default measures on deadline_clock, by a thread that the process starts
  /// for this; throws error if it cannot.
  virtual void suspend_until(publish_fn publish, void* argument, const wait_reason& why,
                             wait_limit& limit);
  /// Makes a suspended strand of this executor ready. Any thread.
  virtual void resume(strand* suspended) = 0;
  /// Runs `task` on the calling thread, which belongs to no executor, as one of the workers, and
  /// returns true when it has ended: when the strand in `ended`, which is set before, was resumed.
  /// Returns false if no worker's place can be lent: the caller then submits the task and waits.
  virtual bool run_here(submitted_task& /*task*/, strand*& /*ended*/) { return false; }
  /// Returns the index of the calling worker of this executor, -1 for other threads.
  virtual int worker_index() const noexcept = 0;
  /// Returns true in a child of fork(): the workers do not exist there.
  virtual bool lost_in_fork() const noexcept = 0;

  const executor_traits& traits() const noexcept { return traits_; }
  /// Returns the messages to the workers, for objects that live on one.
  message_port& messages() const noexcept { return *messages_; }
  /// Returns the memory for bookkeeping, or nullptr if the heap serves.
  task_bookkeeping* bookkeeping() const noexcept { return bookkeeping_; }
  /// Returns the watchdog for long-running calls, or nullptr if disabled.
  stall_watch* stalls() const noexcept { return stalls_; }
  /// Returns the policy that is notified of what workers do, or nullptr if there is none.
  power_policy* policy() const noexcept { return policy_; }
  /// Returns whether a strand waits for an event from outside the runtime: see outside_wait.
  bool any_waits_outside() const noexcept {
    return waiting_outside_.load(std::memory_order_relaxed) != 0;
  }
  /// Counts a strand, which is to be suspended, among those that wait for an event from outside the
  /// runtime that is sure to come: a deadline, or the end of a blocking call. While there are some,
  /// a runtime in which nothing runs does not hang.
  class outside_wait {
   public:
    explicit outside_wait(executor& home) noexcept : waiting_(home.waiting_outside_) {
      waiting_.fetch_add(1, std::memory_order_relaxed);
    }
    ~outside_wait() { waiting_.fetch_sub(1, std::memory_order_relaxed); }
    outside_wait(const outside_wait&) = delete;
    outside_wait& operator=(const outside_wait&) = delete;

   private:
    std::atomic<unsigned>& waiting_;
  };

 protected:
  // Called by the backend before its workers start.
  void set_traits(executor_traits traits) noexcept { traits_ = std::move(traits); }
  void set_messages(message_port& messages) noexcept { messages_ = &messages; }
  void set_bookkeeping(task_bookkeeping& bookkeeping) noexcept {
    bookkeeping_ = &bookkeeping;
    any_backend_orders_strands.store(true, std::memory_order_relaxed);
  }
  void set_stalls(stall_watch* stalls) noexcept { stalls_ = stalls; }
  void set_policy(power_policy* policy) noexcept { policy_ = policy; }

 private:
  executor_traits traits_;
  message_port* messages_ = nullptr;  ///< null for plain threads only, which get no messages
  task_bookkeeping* bookkeeping_ = nullptr;
  stall_watch* stalls_ = nullptr;
  power_policy* policy_ = nullptr;
  std::atomic<unsigned> waiting_outside_{0};
};

/// Returns the executor whose strand is running here, or nullptr on foreign threads.
executor* current_executor() noexcept;
/// Sets the running executor and scope. Called by backends other than host around every task.
void set_foreign_scope(executor* home, task_scope* scope) noexcept;
/// Makes `scope` the running task's; returns the previous one. For strands without a task stack.
task_scope* exchange_foreign_scope(task_scope* scope) noexcept;
/// Returns the scope of the running task; null on foreign threads.
task_scope* current_scope() noexcept;
/// Runs a branch of a fork elsewhere than in its maker's task: only the branch itself can know when
/// the tasks it spawned are done, so it waits for them. Returns the first exception of those tasks.
std::exception_ptr run_branch_as_task(void (*branch)(void*) noexcept, void* argument);
/// Suspends whatever runs here: a strand of a runtime, or the thread itself. Arguments: as
/// executor::suspend().
void suspend_here(publish_fn publish, void* argument, const wait_reason& why);
/// Does the same for a limited time. Arguments: as executor::suspend_until().
void suspend_here_until(publish_fn publish, void* argument, const wait_reason& why,
                        wait_limit& limit);
/// Returns the number of threads of this process that wait for a runtime, or for something that
/// none is sure to bring: suspended by suspend_here() outside of any runtime, or ending one.
unsigned blocked_threads() noexcept;
/// Counts the calling thread among the blocked ones.
class blocked_thread_mark {
 public:
  blocked_thread_mark() noexcept;
  ~blocked_thread_mark();
  blocked_thread_mark(const blocked_thread_mark&) = delete;
  blocked_thread_mark& operator=(const blocked_thread_mark&) = delete;
};
/// Returns current_executor(), or throws usage_error saying that `what` needs a runtime.
executor& require_executor(const char* what);

}  // namespace creek::ext

namespace creek::detail {
using namespace ext;
}  // namespace creek::detail
