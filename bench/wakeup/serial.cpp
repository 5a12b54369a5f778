// SPDX-License-Identifier: Apache-2.0
// Baseline written by hand: a thread that sleeps on a condition variable.
#include <condition_variable>
#include <functional>
#include <mutex>

#include "config.hpp"

namespace bench::wakeup {
namespace {

/// A thread that runs one task at a time.
class helper {
 public:
  helper() : thread_([this](const std::stop_token& stop) { serve(stop); }) {}

  void run(std::function<void()> task) {
    std::unique_lock lock(mutex_);
    task_ = std::move(task);
    given_.notify_one();
    done_.wait(lock, [this] { return task_ == nullptr; });
  }

 private:
  void serve(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (given_.wait(lock, stop, [this] { return task_ != nullptr; })) {
      task_();
      task_ = nullptr;
      done_.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable_any given_, done_;
  std::function<void()> task_;
  std::jthread thread_;
};

sample measure(const settings& s) {
  helper h;
  return run(s, [&](auto started) { h.run(started); });
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::wakeup
