// SPDX-License-Identifier: Apache-2.0
// Baseline written by hand: a pool of std::thread around a queue under a lock.
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "config.hpp"

namespace bench::runtime_life {
namespace {

/// Threads that run what is in the queue until the pool ends.
class thread_pool {
 public:
  explicit thread_pool(unsigned workers) {
    for (unsigned i = 0; i < workers; ++i) threads_.emplace_back([this] { serve(); });
  }
  ~thread_pool() {
    {
      const std::scoped_lock lock(mutex_);
      ends_ = true;
    }
    given_.notify_all();
    for (std::thread& each : threads_) each.join();
  }
  thread_pool(const thread_pool&) = delete;
  thread_pool& operator=(const thread_pool&) = delete;

  /// Returns when a thread has run `task`.
  void run(const std::function<void()>& task) {
    bool is_done = false;
    std::unique_lock lock(mutex_);
    tasks_.emplace_back([&] {
      task();
      const std::scoped_lock ended(mutex_);
      is_done = true;
      done_.notify_all();
    });
    given_.notify_one();
    done_.wait(lock, [&] { return is_done; });
  }

 private:
  void serve() {
    for (;;) {
      std::unique_lock lock(mutex_);
      given_.wait(lock, [this] { return ends_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      const std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
    }
  }

  std::mutex mutex_;
  std::condition_variable given_, done_;
  std::deque<std::function<void()>> tasks_;
  bool ends_ = false;
  std::vector<std::thread> threads_;
};

sample measure(const settings& s) {
  return run(s, [&](auto task) { thread_pool(s.workers).run(task); });
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::runtime_life
