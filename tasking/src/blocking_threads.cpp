// SPDX-License-Identifier: Apache-2.0
// The threads on which calls may block: started when calls wait, ended when they were idle.
#include "blocking_threads.hpp"

#include <pthread.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <utility>

#include "per_process.hpp"

namespace creek::detail {

namespace {

constexpr std::size_t max_threads = 512;
constexpr std::chrono::seconds max_idle{10};

using pool_of_process = per_process<blocking_threads>;

/// Ends the idle threads with the process.
struct threads_ender {
  ~threads_ender() {
    if (blocking_threads* const pool = pool_of_process::if_made()) pool->end();
  }
} ender;

struct departing_call {
  blocking_threads& threads;
  blocking_call& call;
};

bool publish_call(void* argument, strand* self) {
  const departing_call departing = *static_cast<departing_call*>(argument);
  departing.call.waiter = self;
  if (departing.threads.submit(departing.call)) return true;
  departing.call.waiter = nullptr;
  return false;
}

/// In a place of its own, since compilers take the address of errno for that of a whole function,
/// while a strand may continue on another thread.
[[gnu::noinline]] void set_errno(int value) noexcept {
  errno = value;
}

}  // namespace

void run_where_it_may_block(blocking_call& call) {
  executor* const home = current_executor();
  const bool keeps_a_worker = home != nullptr && !home->traits().has_own_time;
  if (blocking_threads* const pool = keeps_a_worker ? pool_of_process::get() : nullptr) {
    const executor::outside_wait counted(*home);
    departing_call departing{*pool, call};
    home->suspend(publish_call, &departing, "a call that blocks, on another thread");
    if (call.waiter != nullptr) return set_errno(call.error);
  }
  call.run(&call);
}

/// Ends a child of fork() that has returned from the call in which it was made: the task that
/// waits, and all else that belongs to the thread, is the parent's.
void blocking_threads::end_if_in_child() const noexcept {
  if (pool_of_process::if_made() == this) return;
  std::fputs(
      "creek: the child of a fork() in a call of blocking() returned from the call; leave it "
      "by exec or _exit\n",
      stderr);
  std::abort();
}

bool blocking_threads::submit(blocking_call& call) noexcept {
  const std::lock_guard lock(mutex_);
  if (idle_ <= queued_ && running_.size() < max_threads) {
    try {
      start();
    } catch (const std::exception&) {  // no memory, or the system's limit of threads
      if (running_.empty()) return false;
    }
  }
  call.next = nullptr;
  (oldest_ == nullptr ? oldest_ : newest_->next) = &call;
  newest_ = &call;
  ++queued_;
  changed_.notify_one();
  return true;
}

/// Called under the lock.
void blocking_threads::start() {
  running_.emplace_front();
  const auto self = running_.begin();
  try {
    *self = std::thread([this, self] { run(self); });
  } catch (...) {
    running_.erase(self);
    throw;
  }
}

void blocking_threads::run(threads::iterator self) noexcept {
  pthread_setname_np(pthread_self(), "creek/blocking");
  std::unique_lock lock(mutex_);
  while (blocking_call* call = next_call(lock)) {
    ++calling_;
    if (ended_) changed_.notify_all();
    lock.unlock();
    strand* const waiter = call->waiter;
    errno = 0;
    call->run(call);
    call->error = errno;
    end_if_in_child();
    lock.lock();
    --calling_;
    lock.unlock();
    waiter->home->resume(waiter);  // afterwards the call is gone, and perhaps its runtime
    lock.lock();
  }
  // Each thread that ends is joined by the next one, or by end().
  std::thread before = std::exchange(last_ended_, std::move(*self));
  running_.erase(self);
  changed_.notify_all();
  if (joined_) last_ended_.detach();
  lock.unlock();
  if (before.joinable()) before.join();
}

/// Waits for a call and takes it; returns null if the thread is to end.
blocking_call* blocking_threads::next_call(std::unique_lock<std::mutex>& lock) {
  const auto has_news = [this] { return oldest_ != nullptr || ended_; };
  if (!has_news()) {
    ++idle_;
    const blocked_thread_mark idle;
    changed_.wait_for(lock, max_idle, has_news);
    --idle_;
  }
  blocking_call* const first = oldest_;
  if (first == nullptr) return nullptr;
  oldest_ = first->next;
  --queued_;
  return first;
}

void blocking_threads::end() noexcept {
  std::unique_lock lock(mutex_);
  ended_ = true;
  changed_.notify_all();
  // A thread inside a call may stay there for ever: it ends with the process.
  changed_.wait(lock, [this] { return running_.size() == calling_; });
  joined_ = true;
  std::thread last = std::move(last_ended_);
  lock.unlock();
  if (last.joinable()) last.join();
}

}  // namespace creek::detail
