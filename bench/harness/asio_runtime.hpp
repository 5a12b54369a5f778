// SPDX-License-Identifier: Apache-2.0
// Makes another thread of the Boost.Asio peer call something.
#pragma once
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <future>
#include <thread>

#include "workload.hpp"

namespace bench {

/// A thread that runs an io_context while the object exists.
class io_thread {
 public:
  ~io_thread() { work_.reset(); }

  template <class F>
  void post(F&& f) {
    boost::asio::post(context_, std::forward<F>(f));
  }
  /// Posts `f` to the thread and waits for it.
  template <class F>
  void call(F&& f) {
    std::packaged_task<void()> task(std::forward<F>(f));
    auto done = task.get_future();
    boost::asio::post(context_, std::move(task));
    done.get();
  }

 private:
  boost::asio::io_context context_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      context_.get_executor()};
  std::jthread thread_{[this] { context_.run(); }};
};

}  // namespace bench
