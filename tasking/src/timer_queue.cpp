// SPDX-License-Identifier: Apache-2.0
// The deadlines, and the thread that waits for them.
#include "timer_queue.hpp"

#include <pthread.h>
#include <signal.h>

#include <new>
#include <system_error>
#include <thread>

#include <creek/core/error.hpp>

#include "per_process.hpp"

namespace creek::ext {

namespace {

using queue_of_process = detail::per_process<timer_queue>;

/// Ends the thread at the end of the process, or when dlclose() takes its code away.
struct thread_ender {
  ~thread_ender() {
    if (timer_queue* const queue = queue_of_process::if_made()) queue->end_if_idle();
  }
} ender;

}  // namespace

timer_queue& timer_queue::of_process() {
  timer_queue* const queue = queue_of_process::get();
  if (queue == nullptr) throw std::bad_alloc();
  return *queue;
}

timer_queue::entry::entry(wait_limit& limit) : queue_(of_process()), limit_(limit) {
  queue_.add(*this);
}

timer_queue::entry::~entry() {
  queue_.remove(*this);
}

void timer_queue::add(entry& added) {
  const auto deadline = deadline_clock::now() + added.limit_.span;
  {
    const std::lock_guard lock(mutex_);
    if (!thread_.joinable()) start();
    added.place_ = entries_.emplace(deadline, &added);
    mark_if_blocked();
    if (deadline >= sleeps_until_) return;
    sleeps_until_ = deadline;
    changes_.fetch_add(1, std::memory_order_relaxed);
  }
  futex_wake(changes_, 1);
}

/// The thread is left to sleep: it looks again at the deadline that it knows.
void timer_queue::remove(entry& removed) noexcept {
  const std::lock_guard lock(mutex_);
  if (removed.place_ != entries_.end()) entries_.erase(removed.place_);
  mark_if_blocked();
}

/// Says whether the thread sleeps until somebody adds a timer, whatever deadline it last knew.
/// Called under the lock.
void timer_queue::mark_if_blocked() noexcept {
  if (!sleeps_ || !entries_.empty()) {
    blocks_.reset();
  } else if (!blocks_) {
    blocks_.emplace();
  }
}

/// Starts the thread, which leaves all signals to others. Called under the lock.
void timer_queue::start() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this, generation = generation_] { run(generation); });
  } catch (const std::system_error& failure) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw error(failure.code(), "cannot start the thread that ends waits when their time is over");
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void timer_queue::end_if_idle() noexcept {
  std::thread ended;
  {
    const std::lock_guard lock(mutex_);
    if (!entries_.empty() || !thread_.joinable()) return;
    ++generation_;
    ended = std::move(thread_);
    sleeps_until_ = deadline_clock::time_point::min();
    changes_.fetch_add(1, std::memory_order_relaxed);
  }
  futex_wake_all(changes_);
  ended.join();
}

void timer_queue::run(unsigned generation) noexcept {
  pthread_setname_np(pthread_self(), "creek/timer");
  for (;;) {
    while (strand* expired = expire_next()) expired->home->resume(expired);
    std::uint32_t seen = 0;
    deadline_clock::time_point until;
    {
      const std::lock_guard lock(mutex_);
      if (generation != generation_) return;
      until = sleeps_until_ = entries_.empty() ? never : entries_.begin()->first;
      seen = changes_.load(std::memory_order_relaxed);
      sleeps_ = true;
      mark_if_blocked();
    }
    if (until == never) {
      futex_wait(changes_, seen);
    } else {
      (void)futex_wait_until(changes_, seen, until);
    }
    const std::lock_guard lock(mutex_);
    sleeps_ = false;
    mark_if_blocked();
  }
}

/// Returns the next strand to resume because its time is over, or nullptr if there is none.
strand* timer_queue::expire_next() noexcept {
  const std::lock_guard lock(mutex_);
  const auto now = deadline_clock::now();
  while (!entries_.empty() && entries_.begin()->first <= now) {
    entry& over = *entries_.begin()->second;
    entries_.erase(entries_.begin());
    over.place_ = entries_.end();
    wait_limit& limit = over.limit_;
    // A strand that this returns stays suspended, and with it its frame; any other may go on.
    if (strand* expired = limit.expire(&limit)) return expired;
  }
  return nullptr;
}

void executor::suspend_until(publish_fn publish, void* argument, const wait_reason& why,
                             wait_limit& limit) {
  const outside_wait counted(*this);
  const timer_queue::entry timer(limit);
  suspend(publish, argument, why);
}

}  // namespace creek::ext
