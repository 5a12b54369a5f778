// SPDX-License-Identifier: Apache-2.0
// Receivers that note or call, and operations that own themselves.
#pragma once

#include <exception>
#include <stop_token>
#include <utility>

#include <creek/tasking/sender.hpp>

#include "setups.hpp"

namespace conformance {

namespace execution = creek::execution;

/// Records how an operation completed.
struct outcome {
  int values = 0;
  int errors = 0;
  int stops = 0;
  int worker = -1;  ///< on which it completed
  int value = 0;
  int number = -1;  ///< of the failure
  creek::promise<void> promise;
  creek::future<void> done = promise.get_future();

  void wait() const { done.wait(); }
};

struct receiver {
  using receiver_concept = execution::receiver_tag;
  struct environment {
    std::stop_token stop;
    std::stop_token query(execution::get_stop_token_t) const noexcept { return stop; }
  };
  void finish() noexcept {
    to->worker = creek::this_worker();
    to->promise.set_value();
  }
  void set_value() noexcept {
    ++to->values;
    finish();
  }
  void set_value(int value) noexcept {
    to->value = value;
    set_value();
  }
  void set_error(std::exception_ptr why) noexcept {
    ++to->errors;
    to->number = failure_of([&] { std::rethrow_exception(std::move(why)); });
    finish();
  }
  void set_stopped() noexcept {
    ++to->stops;
    finish();
  }
  environment get_env() const noexcept { return {stop}; }

  outcome* to;
  std::stop_token stop = {};
};

/// A receiver that calls `function`, whatever comes. Has no environment.
template <class F>
struct calling {
  using receiver_concept = execution::receiver_tag;
  void set_value() noexcept { function(); }
  void set_error(const std::exception_ptr&) noexcept { function(); }
  void set_stopped() noexcept { function(); }

  F function;
};

/// Starts an operation on the heap, which is destroyed in its completion, before function() is
/// called.
template <class From, class F>
void start_detached(From&& from, F function) {
  struct itself {
    virtual ~itself() = default;
  };
  struct run_and_delete {
    itself* self;
    F function;
    void operator()() {
      F last = std::move(function);
      delete self;
      last();
    }
  };
  using operation = decltype(std::declval<From>().connect(std::declval<calling<run_and_delete>>()));
  struct owner final : itself {
    owner(From&& sender, F f)
        : running(
              std::forward<From>(sender).connect(calling<run_and_delete>{{this, std::move(f)}})) {}
    operation running;
  };
  auto* made = new owner(std::forward<From>(from), std::move(function));
  made->running.start();
}

}  // namespace conformance
