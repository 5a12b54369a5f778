// SPDX-License-Identifier: Apache-2.0
// Channels: waiting for items or room, waking, closing. A source of its own, which a program that
// uses no channel is linked without.
#include <algorithm>
#include <mutex>
#include <utility>

#include <creek/core/measuring/clock.hpp>
#include <creek/tasking/detail/channel_base.hpp>
#include <creek/tasking/detail/resume_coroutine.hpp>

#include "limited_wait.hpp"

namespace creek::detail {

bool channel_waiters::listen(ready_listener* listener) noexcept {
  for (std::size_t i = 0; i < count_; ++i) {
    first_[i].listener = listener;
    first_[i].channel->add(first_[i], again_);
  }
  // Either a change of a channel is seen now, or whoever makes it sees the waiter.
  heavy_fence();
  for (std::size_t i = 0; i < count_; ++i) {
    if (!first_[i].channel->is_ready(first_[i].side)) continue;
    unlisten(listener);
    return false;
  }
  return true;
}

bool channel_waiters::unlisten(ready_listener*) noexcept {
  bool all_were_listed = true;
  for (std::size_t i = 0; i < count_; ++i) {
    if (!first_[i].channel->remove(first_[i])) all_were_listed = false;
  }
  return all_were_listed;
}

void channel_base::add(channel_waiter& waiter, bool in_front) noexcept {
  const std::lock_guard hold(lock_);
  list& all = lists_[static_cast<int>(waiter.side)];
  channel_waiter* const before = in_front ? nullptr : all.last;
  channel_waiter* const after = in_front ? all.first : nullptr;
  waiter.previous = before;
  waiter.next = after;
  (before != nullptr ? before->next : all.first) = &waiter;
  (after != nullptr ? after->previous : all.last) = &waiter;
  waiter.is = channel_waiter::state::listed;
  auto& length = waiting_[static_cast<int>(waiter.side)];
  length.store(length.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

/// Under the lock.
void channel_base::unlink(channel_waiter& waiter) noexcept {
  list& all = lists_[static_cast<int>(waiter.side)];
  (waiter.previous != nullptr ? waiter.previous->next : all.first) = waiter.next;
  (waiter.next != nullptr ? waiter.next->previous : all.last) = waiter.previous;
  auto& length = waiting_[static_cast<int>(waiter.side)];
  length.store(length.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
}

/// Returns false if the waiter was notified.
bool channel_base::remove(channel_waiter& waiter) noexcept {
  const std::lock_guard hold(lock_);
  if (waiter.is != channel_waiter::state::listed) return false;
  unlink(waiter);
  waiter.is = channel_waiter::state::idle;
  return true;
}

void channel_base::wake(channel_side side, std::size_t count) noexcept {
  for (; count != 0; --count) {
    strand* released = nullptr;
    channel_suspension* suspended = nullptr;
    {
      const std::lock_guard hold(lock_);
      channel_waiter* const waiter = lists_[static_cast<int>(side)].first;
      if (waiter == nullptr) return;
      unlink(*waiter);
      waiter->is = channel_waiter::state::notified;
      if (waiter->listener != nullptr) {
        // Under the lock: a waiter that finds itself notified may leave its frame.
        released = waiter->listener->notify(waiter->listener);
      } else if (waiter->suspension->notify()) {
        suspended = waiter->suspension;
      }
    }
    if (released != nullptr) released->home->resume(released);
    if (suspended != nullptr) suspended->go_on();
  }
}

void channel_base::pass_on(channel_side side) noexcept {
  if (is_ready(side)) wake(side, 1);
}

bool channel_base::mark_closed(std::exception_ptr reason) noexcept {
  tell_others();
  const std::lock_guard hold(lock_);
  if (closed_.load(std::memory_order_relaxed)) return false;
  reason_ = std::move(reason);
  sanitizer::releases(&closed_);
  closed_.store(true, std::memory_order_release);
  return true;
}

/// Called once it is closed. A waiter that comes later takes the lock later, and sees that.
void channel_base::wake_all() noexcept {
  wake(channel_side::items, static_cast<std::size_t>(-1));
  wake(channel_side::room, static_cast<std::size_t>(-1));
}

/// Room as the consumer publishes it: an exact look would slow the consumer down.
bool channel_base::is_ready_soon(channel_side side) const noexcept {
  if (side == channel_side::items) return is_ready(side);
  const word published = process_memory::load(place_.published);
  const word used = (process_memory::load(place_.written) - published) / spsc_place::step;
  return used < capacity_ || closed_.load(std::memory_order_relaxed);
}

void channel_base::let_earlier_strands_go_first() {
  if (executor* home = current_executor(); home != nullptr && home->bookkeeping() != nullptr)
    home->bookkeeping()->about_to_publish();
}

channel_wait::channel_wait(channel_waiter* first, std::size_t count, const channel_limits& limits)
    : first_(first), count_(count), limits_(limits) {
  if (limits.span != nullptr) begun_ = deadline_clock::now();
}

channel_wait::~channel_wait() {
  for (std::size_t i = 0; i < count_; ++i) {
    if (first_[i].is == channel_waiter::state::notified) first_[i].channel->pass_on(first_[i].side);
  }
}

bool channel_wait::any_is_notified() const noexcept {
  return std::any_of(first_, first_ + count_, [](const channel_waiter& each) {
    return each.is == channel_waiter::state::notified;
  });
}

bool channel_wait::any_is_ready_soon() const noexcept {
  return std::any_of(first_, first_ + count_, [](const channel_waiter& each) {
    return each.channel->is_ready_soon(each.side);
  });
}

channel_status channel_wait::for_a_change() {
  const executor* const home = current_executor();
  std::chrono::nanoseconds left{};
  if (limits_.span != nullptr) {
    left = *limits_.span;
    // In a time that no clock shows, a waiter that was woken for nothing starts anew.
    if (home == nullptr || !home->traits().has_own_time) left -= deadline_clock::now() - begun_;
    if (left.count() <= 0) return channel_status::timeout;
  }
  if (limits_.stop != nullptr && limits_.stop->stop_requested()) return channel_status::stopped;
  if (!std::exchange(has_spun_, true)) {
    tell_others();
    // About the cost of a suspension and its end for both sides, or of a thread's sleep; not where
    // nobody else can run meanwhile.
    const std::chrono::nanoseconds patience{home == nullptr ? 20'000 : 4'000};
    if ((home == nullptr || (home->traits().worker_count > 1 && !home->traits().runs_repeat)) &&
        creek::spin_until([&] { return any_is_ready_soon(); }, patience)) {
      return channel_status::done;
    }
  }
  channel_waiters source(first_, count_, any_is_notified());
  limited_wait<channel_waiters> wait(source);
  const wait_end ended = wait.wait(limits_.span != nullptr ? &left : nullptr, limits_.stop);
  // After a notification of one channel the waiter is still on the lists of the others, whose
  // notifiers use `wait` until it is taken off.
  if (count_ > 1) source.unlisten(nullptr);
  if (ended == wait_end::ready) return channel_status::done;
  return ended == wait_end::timeout ? channel_status::timeout : channel_status::stopped;
}

channel_suspension::channel_suspension(channel_base& channel, channel_side side,
                                       const char* task) noexcept {
  submitted_task::run = [](submitted_task* self) noexcept {
    auto* const me = static_cast<channel_suspension*>(self);
    sanitizer::acquired(&me->phase_);
    if (!me->try_again() && me->stays()) return;
    static constexpr task_type type{nullptr, "coroutine at a channel"};
    resume_as_task(me->coroutine_, type);
  };
  submitted_task::name = task;
  waiter_.channel = &channel;
  waiter_.side = side;
  waiter_.suspension = this;
}

/// A coroutine may be destroyed while it waits, if nothing has woken it.
channel_suspension::~channel_suspension() {
  if (phase_.load(std::memory_order_relaxed) == phase::suspended) waiter_.channel->remove(waiter_);
}

bool channel_suspension::await_suspend(std::coroutine_handle<> coroutine) noexcept {
  coroutine_ = coroutine;
  home_ = current_executor();
  return stays();
}

/// Has the coroutine wait, or makes its operation after all; returns whether it waits: then it may
/// have been continued already.
bool channel_suspension::stays() noexcept {
  for (;;) {
    phase_.store(phase::running, std::memory_order_relaxed);
    waiter_.channel->add(waiter_, was_notified_);
    // Either a change of the channel is seen now, or whoever makes it sees the waiter.
    heavy_fence();
    if (!waiter_.channel->is_ready(waiter_.side)) {
      sanitizer::releases(&phase_);
      if (phase_.exchange(phase::suspended, std::memory_order_acq_rel) == phase::running)
        return true;
    } else {
      waiter_.channel->remove(waiter_);
    }
    if (try_again()) return false;
  }
}

/// Returns false if the coroutine has to wait.
bool channel_suspension::try_again() noexcept {
  phase_.store(phase::running, std::memory_order_relaxed);
  try {
    status_ = attempt();
  } catch (...) {
    failure_ = std::current_exception();
  }
  const bool is_notified = waiter_.is == channel_waiter::state::notified;
  was_notified_ |= is_notified;
  if (status_ == channel_status::not_ready && !failure_) return false;
  waiter_.is = channel_waiter::state::idle;
  if (failure_ && is_notified) waiter_.channel->pass_on(waiter_.side);
  return true;
}

bool channel_suspension::notify() noexcept {
  sanitizer::releases(&phase_);
  return phase_.exchange(phase::notified, std::memory_order_acq_rel) == phase::suspended;
}

void channel_suspension::go_on() noexcept {
  sanitizer::acquired(&phase_);
  home_ != nullptr ? home_->submit(this) : submitted_task::run(this);
}

}  // namespace creek::detail
