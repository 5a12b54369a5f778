// SPDX-License-Identifier: Apache-2.0
// The lock-free host deque: a direct task stack cut at `split`. A strand writes the tasks that it
// makes in place, newest on top; above the split only the strand works, with plain loads and
// stores; below it thieves take the oldest by one compare-and-swap. The protocol, its states and
// why nothing is lost: README.md of this module, "The split deque". Sources: the direct task stack
// of Wool [Faxen 2010]; the split deque of [Dinan 2009] and of Lace [van Dijk 2014].
// Different here: one stack per strand instead of one per worker, so that a
// strand may move to another worker; one compare serves "full" and "a thief asks"; a thief that
// gets no answer moves the split itself behind an asymmetric fence.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include <creek/core/measuring/clock.hpp>
#include <creek/core/threads/asymmetric_fence.hpp>
#include <creek/core/threads/prefetch.hpp>
#include <creek/core/threads/spin_lock.hpp>
#include <creek/tasking/ext/task_slot.hpp>
#include <creek/tasking/steal_result.hpp>

namespace creek::ext {

class task_stack;
struct activation;

/// Suspends the calling strand of `home` behind the messages for its worker and others that are
/// ready.
void wait_behind_others(executor& home);

/// Task stack of the strand that runs on this thread; null outside the host backend. A strand's
/// stack never changes, so a function may keep the pointer across any wait. The model must not
/// compute the variable's address, which would be stale after a move to another thread:
/// initial-exec reads it with one instruction.
extern thread_local constinit task_stack* current_stack __attribute__((tls_model("initial-exec")));

/// True if what others did may have happened before what this thread does next. A transport of
/// messages that keeps that order takes it back.
extern thread_local constinit bool follows_others __attribute__((tls_model("initial-exec")));
/// Called whenever the calling strand may have learnt something from another one.
inline void follow_others() noexcept {
  follows_others = true;
}

/// True while the worker on this thread keeps posts back, to merge others with them.
extern thread_local constinit bool keeps_posts_back __attribute__((tls_model("initial-exec")));
/// Sends them.
void send_kept_back() noexcept;
/// Called by a strand whose next store may tell others what it has done.
inline void tell_others() noexcept {
  if (keeps_posts_back) [[unlikely]]
    send_kept_back();
}

/// Which pushes have to call task_stack_home::work_available().
enum class announced_pushes : std::uint8_t {
  none,    ///< no worker sleeps
  oldest,  ///< those of a strand's oldest private task: a thief that takes it sees the others
  all,     ///< a power policy is asked about each task
};

/// Interface of an executor whose strands own task stacks. Only slow paths call it.
class task_stack_home : public executor {
 public:
  /// Called when a task became visible, or was pushed and has to be announced: wakes a worker if
  /// need be.
  virtual void work_available() noexcept = 0;
  /// Not `none` while some worker sleeps.
  virtual announced_pushes announced() const noexcept = 0;
  /// Offers the newest slot to thieves, for task stacks set up with `external`, which use other
  /// deques than the split one. Returns false if there is no room: the slot stays with the strand.
  virtual bool offer(task_stack& stack, task_slot* slot) noexcept = 0;
  /// Takes the slot back; returns false if a thief has it.
  virtual bool take_back(task_stack& stack, task_slot* slot) noexcept = 0;
  /// Runs some of the newest spawned tasks of the calling strand, whose stack is full, on another
  /// stack: a task that waits there does not keep its maker from going on. Returns when there is
  /// room, or at once if it can make none.
  virtual void run_surplus(task_stack& full) noexcept = 0;
  /// Returns whether messages wait for the worker of the calling strand, which runs no message
  /// itself. Looked at by a strand that was asked for something.
  virtual bool has_messages() noexcept { return false; }
};

/// Slots that thieves may take, as indexes: from `tail`, the oldest, up to `split`. Both lie in one
/// word, so that a thief moves the tail only if the split is where it was read.
/// Invariant: tail <= split, and only the holder of the stack's lock moves the split.
class shared_part {
 public:
  struct bounds {
    std::uint32_t tail = 0;
    std::uint32_t split = 0;
    bool empty() const noexcept { return tail >= split; }
  };

  bounds now(std::memory_order order = std::memory_order_relaxed) const noexcept {
    return bounds_of(word_.load(order));
  }
  /// Takes the oldest of `slots` by one compare-and-swap; any thread.
  [[nodiscard]] steal_result take_oldest(task_slot* slots, task_slot*& task) noexcept;
  /// Moves the split up; thieves may only move the tail meanwhile. Its release publishes the tasks
  /// below to the thieves' acquiring compare-and-swap.
  void raise_split(std::uint32_t from, std::uint32_t split) noexcept {
    word_.fetch_add(std::uint64_t{split - from} << 32, std::memory_order_release);
  }
  /// Moves the split to or below `index`: half-way to the tail, or if `least`, no further than need
  /// be. Returns false if a thief has the slot.
  [[nodiscard]] bool lower_split(std::uint32_t index, bool least) noexcept;
  /// Begins anew at `index`: all tasks below are stolen, and nothing is shared.
  void reset(std::uint32_t index) noexcept {
    word_.store(word_of({index, index}), std::memory_order_release);
  }
  void prefetch_to_write() const noexcept { creek::prefetch_to_write(&word_); }

 private:
  static constexpr std::uint64_t word_of(bounds of) noexcept {
    return (std::uint64_t{of.split} << 32) | of.tail;
  }
  static constexpr bounds bounds_of(std::uint64_t word) noexcept {
    return {static_cast<std::uint32_t>(word), static_cast<std::uint32_t>(word >> 32)};
  }

  std::atomic<std::uint64_t> word_{0};
};

/// A task stack as other threads see it: the thief's view. The words lie here, for both sides read
/// and write some of them; README.md has who writes which. Memory is type-stable: thieves may look
/// at a recycled stack.
class stealable_stack {
 public:
  /// Takes the oldest shared task and stores it in `task`, which otherwise keeps its value.
  /// Lock-free, one CAS; it synchronises with the release that shared the task. Returns `lost` if
  /// the victim or another thief changed the shared part meanwhile.
  [[nodiscard]] steal_result steal(task_slot*& task) noexcept {
    return shared_.take_oldest(first_, task);
  }
  /// Tells the owner that a thief wants work; the owner answers at its next push or join.
  void ask() noexcept;
  /// Shares half of the private tasks without the owner's help, by a heavy fence. For an owner that
  /// computes for long without touching its stack. Returns true if something was shared.
  bool force_share() noexcept;
  /// Makes the owner's next push call the scheduler; pairs with heavy_fence() by the caller. A
  /// stack that is not armed afterwards has work.
  void arm() noexcept;
  bool is_armed() const noexcept;
  /// Returns the number of tasks, shared or private. Exact only behind a heavy fence.
  std::uint32_t count_work() const noexcept;
  bool has_work() const noexcept { return count_work() != 0; }

  /// Returns the strand that owns the stack.
  strand* self() const noexcept { return self_; }
  task_slot* slots() const noexcept { return first_; }

 protected:
  std::uint32_t index(const task_slot* slot) const noexcept {
    return static_cast<std::uint32_t>(slot - first_);
  }
  // The owner's, under the lock.
  void answer(std::uint32_t top) noexcept;
  bool is_announced() const noexcept { return home_->announced() != announced_pushes::none; }
  bool reclaim(std::uint32_t index) noexcept;
  void begin_anew(std::uint32_t index) noexcept;

  // The strand's own line; thieves write only `limit` and `floor`, to ask for work.
  std::atomic<task_slot*> top_;    ///< first free slot
  std::atomic<task_slot*> limit_;  ///< a push beyond this takes the slow path
  std::atomic<task_slot*> floor_;  ///< a join below this takes the slow path; normally the split
  // Written at set-up alone: thieves read this line for each steal.
  alignas(64) task_slot* first_;
  task_slot* last_;  ///< one spare slot stands here, for the task that does not fit
  task_stack_home* home_;
  strand* self_;
  bool external_;  ///< tasks are offered through task_stack_home::offer
  // Kept off the line that thieves poll. The strand writes all of it when it answers.
  alignas(128) std::atomic<std::uint32_t> asked_;  ///< a thief has asked and waits for an answer
  spin_lock mover_;   ///< held to move the split; thieves: only by force
  ticks shared_at_;   ///< when the strand last shared a task; only the strand
  ticks yielded_at_;  ///< when it last yielded to messages; only the strand
  // The line that thieves poll.
  alignas(128) shared_part shared_;

 private:
  std::uint32_t top_for_thieves() const noexcept;
  task_slot* floor_over(std::uint32_t split, bool guarded) const noexcept {
    return first_ + split + (guarded ? 1 : 0);
  }
};

/// The scope of the task that runs on a strand; the strand's own while none does. Only the strand
/// changes it; a signal handler may read it.
class running_scope {
 public:
  void set_up(task_slot* base) noexcept {
    idle_ = {};
    idle_.base = base;
    current_.store(&idle_, std::memory_order_relaxed);
  }
  task_scope& current() const noexcept { return *current_.load(std::memory_order_relaxed); }
  /// Makes `inner` the current scope and returns the one that it replaces, for leave().
  task_scope* enter(task_scope& inner) noexcept {
    task_scope* outer = &current();
    current_.store(&inner, std::memory_order_relaxed);
    return outer;
  }
  void leave(task_scope* outer) noexcept { current_.store(outer, std::memory_order_relaxed); }
  /// Hands the context of what was spawned while no task ran, by a destructor say, to the caller.
  task_context* take_idle_context() noexcept { return std::exchange(idle_.context, nullptr); }

 private:
  /// Atomic: plain stores around a task without side effects would be optimised away.
  std::atomic<task_scope*> current_;
  task_scope idle_;
};

/// Contexts of ended tasks, for the next ones; only the strand.
class context_cache {
 public:
  context_cache() noexcept = default;
  context_cache(const context_cache&) = delete;
  context_cache& operator=(const context_cache&) = delete;
  ~context_cache() { clear(); }
  /// Returns a recycled context, or null if there is none.
  task_context* take() noexcept;
  void put(task_context* unused) noexcept;
  void clear() noexcept;

 private:
  task_context* newest_ = nullptr;
};

/// The state of a strand besides its tasks.
struct strand_record {
  running_scope running;
  context_cache contexts;
  std::atomic<std::uint64_t> inline_runs{0};  ///< tasks that ran at once for want of room
  /// Stack whose owner waits while this strand runs its tasks for it (run_surplus()), or null.
  const task_stack* acts_for = nullptr;
  // For reports; others read them while the strand is suspended.
  const void* stolen = nullptr;  ///< task_slot of a fork, or task_context, that a thief works for
  const activation* call = nullptr;  ///< the innermost invocation that runs here

  /// Adds one to `inline_runs`, which only the strand writes.
  void count_inline_run() noexcept {
    inline_runs.store(inline_runs.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
};

enum class [[nodiscard]] join_result : std::uint8_t{run_inline, done};

/// The tasks of one strand: the owner's view. Only the strand calls what it adds to the thief's.
class task_stack : public stealable_stack {
 public:
  /// Sets an idle stack up over `capacity` + 1 slots at `slots`. With `external`, tasks are offered
  /// to other deques, through `home`.
  void set_up(task_slot* slots, std::uint32_t capacity, task_stack_home* home, strand* self,
              bool external) noexcept;

  /// Returns the slot that the next push has to use.
  task_slot* next_slot() const noexcept { return top_.load(std::memory_order_relaxed); }
  /// Returns the slot that the next push of a spawned task has to use, after it has made room if
  /// there was none. Null if there is none to be made.
  [[gnu::always_inline]] task_slot* slot_to_spawn() noexcept {
    task_slot* slot = next_slot();
    if (slot == last_) [[unlikely]]
      slot = make_room();
    return slot;
  }
  /// Makes `slot`, the next one, a task: no fence, no read-modify-write. The release store of the
  /// top pairs with a thief's acquire load in force_share(); the load of the limit after it with
  /// the heavy fence of a worker that goes to sleep.
  /// Returns false if there is no room: it has run a spawned task then; the caller runs a fork.
  [[gnu::always_inline]] bool push(task_slot* slot, const task_type* type,
                                   std::uintptr_t owner) noexcept {
    slot->owner = owner;
    slot->state.store(reinterpret_cast<std::uintptr_t>(type), std::memory_order_relaxed);
    top_.store(slot + 1, std::memory_order_release);
    creek::light_fence();
    if (slot + 1 > limit_.load(std::memory_order_relaxed)) [[unlikely]] {
      return pushed_slow(slot);
    }
    return true;
  }
  /// Takes the fork at `slot` back, which must be the strand's newest open one.
  [[gnu::always_inline]] join_result join(task_slot* slot) noexcept {
    // Above the slot may be spawned tasks that were not waited for.
    const task_slot* top = next_slot();
    if (reinterpret_cast<std::uintptr_t>(top) - reinterpret_cast<std::uintptr_t>(slot) <=
        sizeof(task_slot)) [[likely]] {
      if (pop(slot)) [[likely]]
        return join_result::run_inline;
    }
    return join_slow(slot);
  }
  /// Runs the newest task of the strand if it lies at or above `bottom` and may_run_here(). Returns
  /// false if not: nothing is left, or an open fork or a task of another context is on top.
  [[gnu::always_inline]] bool run_newest(task_slot* bottom,
                                         const task_context* awaited = nullptr) noexcept {
    task_slot* slot = next_slot() - 1;
    if (slot < bottom || !may_run_here(*slot, awaited)) return false;
    if (pop(slot)) [[likely]] {
      run_popped(slot, current_stack);
      return true;
    }
    return run_newest_slow(slot, bottom, awaited);
  }

  /// Makes the next push share, although no thief has asked.
  void share_next() noexcept;
  /// Shares everything; called before a strand with unstarted tasks is suspended.
  void share_all() noexcept;
  /// Makes the next push call the scheduler or not, as announced() says.
  void refresh_armed() noexcept;
  /// Returns true if an idle worker wants work. Two loads.
  bool is_wanted() const noexcept {
    return !external_ && limit_.load(std::memory_order_relaxed) != last_;
  }

  task_stack_home* home() const noexcept { return home_; }
  task_scope& scope() const noexcept { return record_.running.current(); }
  strand_record& record() noexcept { return record_; }
  const strand_record& record() const noexcept { return record_; }
  const task_stack* acts_for() const noexcept { return record_.acts_for; }
  /// Returns whether the words agree with each other, as they do between the strand's calls.
  [[nodiscard]] bool verify() noexcept;

 private:
  [[gnu::always_inline]] bool pop(task_slot* slot) noexcept {
    top_.store(slot, std::memory_order_release);
    creek::light_fence();
    return slot >= floor_.load(std::memory_order_relaxed);
  }
  /// Returns whether messages wait for the worker of the strand, if that runs its own tasks, and
  /// not in a child of fork().
  bool has_messages() const noexcept {
    return current_stack == this && !external_ && home_->has_messages();
  }
  void mind_messages(const task_slot& pushed) noexcept;
  void let_messages_go_first() noexcept;
  bool yield_to_messages() noexcept;
  bool pushed_slow(task_slot* slot) noexcept;
  join_result join_slow(task_slot* slot) noexcept;
  join_result join_buried(task_slot* slot) noexcept;
  bool run_newest_slow(task_slot* slot, task_slot* bottom, const task_context* awaited) noexcept;
  bool take_back(task_slot* slot) noexcept;
  void drop_stolen(task_slot* bottom) noexcept;
  task_slot* make_room() noexcept;
  void drop_if_all_stolen() noexcept;
  void wait_for_thief(task_slot* slot, task_slot* top) noexcept;

  alignas(128) strand_record record_;
};

}  // namespace creek::ext
