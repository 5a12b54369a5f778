// SPDX-License-Identifier: Apache-2.0
// The threads on which calls may block: started when calls wait, ended when they were idle.
#include "blocking_threads.hpp"

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <utility>

namespace creek::detail {

namespace {

constexpr std::size_t max_threads = 512;
constexpr std::chrono::seconds max_idle{10};

constinit std::atomic<blocking_threads*> threads_of_process{nullptr};
constinit blocking_threads* threads_of_parent = nullptr;  ///< in a child of fork()

/// Ends idle threads at the end of the process, or when dlclose() takes their code away.
struct threads_ender {
  ~threads_ender() {
    if (blocking_threads* all = threads_of_process.load(std::memory_order_acquire)) all->end();
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

/// Leaves all signals to the other threads, from its constructor to its destructor.
class signals_blocked {
 public:
  signals_blocked() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~signals_blocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  signals_blocked(const signals_blocked&) = delete;
  signals_blocked& operator=(const signals_blocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

void run_where_it_may_block(blocking_call& call) {
  executor* const home = current_executor();
  if (home != nullptr && !home->traits().has_own_time) {
    const executor::outside_wait counted(*home);
    departing_call departing{blocking_threads::of_process(), call};
    home->suspend(publish_call, &departing, "a call that blocks, on another thread");
    if (call.waiter != nullptr) return;
  }
  call.run(&call);
}

blocking_threads& blocking_threads::of_process() {
  [[maybe_unused]] static const int registered = pthread_atfork(nullptr, nullptr, [] {
    if (auto* left = threads_of_process.exchange(nullptr, std::memory_order_relaxed))
      threads_of_parent = left;
  });
  blocking_threads* all = threads_of_process.load(std::memory_order_acquire);
  if (all != nullptr) return *all;
  auto made = std::make_unique<blocking_threads>();
  made->of_parent_ = threads_of_parent;
  if (threads_of_process.compare_exchange_strong(all, made.get(), std::memory_order_acq_rel))
    return *made.release();
  return *all;
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
  call.behind = nullptr;
  (oldest_ == nullptr ? oldest_ : newest_->behind) = &call;
  newest_ = &call;
  ++queued_;
  changed_.notify_one();
  return true;
}

/// Called under the lock.
void blocking_threads::start() {
  for (std::thread& each : left_) each.join();
  left_.clear();
  running_.emplace_front();
  const auto self = running_.begin();
  const signals_blocked here;  // the thread inherits it
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
    call->run(call);
    lock.lock();
    --calling_;
    lock.unlock();
    waiter->home->resume(waiter);  // afterwards the call is gone, and perhaps its runtime
    lock.lock();
  }
  left_.splice(left_.end(), running_, self);
  changed_.notify_all();
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
  blocking_call* const taken = oldest_;
  if (taken == nullptr) return nullptr;
  oldest_ = taken->behind;
  --queued_;
  return taken;
}

void blocking_threads::end() noexcept {
  std::unique_lock lock(mutex_);
  ended_ = true;
  changed_.notify_all();
  // A thread inside a call may stay there for ever: it ends with the process.
  changed_.wait(lock, [this] { return running_.size() == calling_; });
  threads left = std::move(left_);
  lock.unlock();
  for (std::thread& each : left) each.join();
}

}  // namespace creek::detail
