// SPDX-License-Identifier: Apache-2.0
// How the Boost.Asio peer has another thread call something.
#pragma once
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <future>
#include <thread>

#include "workload.hpp"

namespace bench {

/// A thread that runs an io_context, as long as this lives.
class io_thread {
 public:
  ~io_thread() { work_.reset(); }

  template <class F>
  void post(F&& f) {
    boost::asio::post(context_, std::forward<F>(f));
  }
  /// Posts and waits.
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
