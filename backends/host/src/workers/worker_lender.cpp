// SPDX-License-Identifier: Apache-2.0
// Lends a worker's place and takes it back.
#include "worker_lender.hpp"

#include <signal.h>

#include <array>
#include <cstddef>
#include <new>
#include <utility>

#include <creek/core/measuring/clock.hpp>
#include <creek/core/threads/futex.hpp>
#include <creek/core/threads/sanitizer.hpp>

namespace creek::host_backend {

namespace {

/// Time in which a worker that has just run out of work is counted as idle.
constexpr std::chrono::nanoseconds time_to_settle{1000};

/// Returns the thread's own stack for signals, or null if a stack was set by others.
std::byte* unless_there_is_one(std::byte* stack) noexcept {
  stack_t there{};
  sigaltstack(nullptr, &there);
  return (there.ss_flags & SS_DISABLE) != 0 ? stack : nullptr;
}

/// State of a thread that leaves its own stack, made at its first loan.
struct borrowing_thread {
  borrowing_thread() noexcept {
    adopt_thread_stack(native);
    native.is_thread = true;
  }
  std::array<std::byte, signal_stack_bytes> signal_stack;
  overflow_guard guard{unless_there_is_one(signal_stack.data())};
  fiber native;
  bool is_away = false;  ///< it has left its stack
};

/// Trivial, for they are read after the thread's other variables are gone; and small, for a library
/// that is loaded later gets little room for such variables.
thread_local constinit borrowing_thread* this_thread = nullptr;
thread_local constinit bool this_thread_ends = false;

struct end_of_thread {
  ~end_of_thread() {
    this_thread_ends = true;
    // A task that runs here may have called exit(): then the stack is not left behind yet.
    if (this_thread != nullptr && !this_thread->is_away) delete std::exchange(this_thread, nullptr);
  }
  void begin() const noexcept {}
};

/// Returns the calling thread's state, or null if it ends or there is no memory.
borrowing_thread* borrower() noexcept {
  if (this_thread != nullptr || this_thread_ends) return this_thread;
  thread_local const end_of_thread at_end;
  at_end.begin();
  this_thread = new (std::nothrow) borrowing_thread;
  return this_thread;
}

}  // namespace

loan::loan(worker& place, fiber& thread, ext::submitted_task& first) noexcept
    : lent(place), native(thread), task(&first) {
  what = host_strand::kind::loan;
}

void loan::end(waker& waking) noexcept {
  worker& place = lent;
  sanitizer::releases(&news);
  // The loan may be gone after this: waking a stale address is harmless.
  if (news.exchange(ended, std::memory_order_acq_rel) == awaited) futex_wake(news, 1);
  waking.call(place);
}

void loan::wait() noexcept {
  std::uint32_t seen = under_way;
  if (!has_ended() && news.compare_exchange_strong(seen, awaited, std::memory_order_acq_rel)) {
    while (!has_ended()) futex_wait(news, awaited);
  }
  sanitizer::acquired(&news);
}

worker_lender::worker_lender(worker_set& workers, ready_work& work, message_service& messages,
                             shutdown& ending, fiber_switch& switching) noexcept
    : workers_(workers),
      work_(work),
      idle_(work.waking().state()),
      messages_(messages),
      shutdown_(ending),
      switch_(switching),
      lends_(work.waking().governor().policy() == nullptr && !workers.options().pin) {}

/// Returns whether the `idle` workers, which sleep or search, are all there are, and nothing waits.
bool worker_lender::is_quiet(std::uint32_t idle) const noexcept {
  return idle == workers_.consumers() && work_.outside() == 0 && !messages_.in_use() &&
         !shutdown_.any_suspended() && !shutdown_.requested();
}

/// Takes the place of some worker whose thread sleeps out of the sleepers; null if there is none.
worker* worker_lender::take_place() noexcept {
  for (worker& each : workers_) {
    if (each.serves_only || !each.place.borrow()) continue;
    if (idle_.begin_visit()) return &each;
    each.place.leave();
    break;
  }
  return nullptr;
}

/// Returns whether a place may be vacant, as far as can be seen at once.
bool worker_lender::may_lend() const noexcept {
  return lends_ && work_.outside() == 0 && !messages_.in_use();
}

/// Returns a worker whose place is the caller's, and counts the caller's task, if nothing goes on.
worker* worker_lender::borrow() noexcept {
  if (idle_.sleepers() == 0) return nullptr;
  const auto quiet = [&] { return is_quiet(idle_.idle()); };
  if (!spin_until(quiet, time_to_settle) || !work_.begin_alone()) return nullptr;
  worker* const place = left_no_futures() ? take_place() : nullptr;
  if (place == nullptr) work_.submitted_ended();
  return place;
}

/// Returns whether no task of a future is left of earlier calls: none is when all workers sleep.
bool worker_lender::left_no_futures() noexcept {
  if (!work_.has_futures()) return true;
  if (idle_.sleepers() != workers_.consumers()) return false;
  work_.forget_futures();
  return true;
}

bool worker_lender::run_here(ext::submitted_task& task, ext::strand*& ended) {
  const visit here(workers_.guests(), true);
  if (!may_lend()) return false;
  borrowing_thread* const thread = borrower();
  if (thread == nullptr || thread->is_away) return false;
  worker* const place = borrow();
  if (place == nullptr) {
    work_.waking().ask_for_place();
    return false;
  }
  loan borrowed(*place, thread->native, task);
  ended = &borrowed;
  fiber* const first = switch_.idle_fiber(*place);
  if (first == nullptr) {
    give_back(borrowed);
    work_.submitted_ended();
    return false;
  }
  borrowed.home = first->home;
  thread->is_away = true;
  begin_absence(thread->native);
  visit_worker(borrowed, *first);
  end_absence(thread->native);
  thread->is_away = false;
  give_back(borrowed);
  borrowed.wait();
  return true;
}

/// Acts as the worker, on `first` and the fibers after it, until the loan ends.
void worker_lender::visit_worker(loan& borrowed, fiber& first) {
  worker& place = borrowed.lent;
  shutdown_.sleep_ended();
  place.asleep.store(false, std::memory_order_relaxed);
  if (recorder* const records = place.recording()) {
    records->end_slice();
    records->becomes(recorder::idle::searching);
  }
  ext::follow_others();
  borrowed.native.on = &place;
  place.borrowed = &borrowed;
  fiber* const left = std::exchange(place.current, &borrowed.native);
  switch_.switch_to(place, first, departure::kind::none);
  place.current = left;
  // A worker whose thread has not begun has left no fiber.
  place.active.store(left->is_thread ? nullptr : &left->tasks, std::memory_order_release);
  place.borrowed = nullptr;
  if (recorder* const records = place.recording()) {
    records->becomes(recorder::idle::sleeping);
    records->begin_slice("idle");
  }
}

/// Leaves the place to sleep on if nothing goes on, without the fence of a sleeper: no worker has
/// tasks then, and one that gets some sees the sleeper as it ends its search. Otherwise the
/// worker's thread goes on.
void worker_lender::give_back(loan& borrowed) noexcept {
  worker& place = borrowed.lent;
  const auto quiet = [&] { return is_quiet(idle_.idle() + 1); };
  // Tasks that nobody waited for may be left on a fiber that is ready here.
  const bool has_work = borrowed.kept || !place.ready.empty();
  if (!borrowed.has_ended() || has_work || !spin_until(quiet, time_to_settle)) {
    place.kept = borrowed.kept;
    place.place.give_up();
    idle_.call(place.index);
    return;
  }
  place.asleep.store(true, std::memory_order_relaxed);
  const std::uint32_t others = idle_.end_visit(place.place);
  if (!is_quiet(others + 1)) idle_.wake_one_anyway();
}

}  // namespace creek::host_backend
