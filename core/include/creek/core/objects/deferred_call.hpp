// SPDX-License-Identifier: Apache-2.0
// Calls of other ranks that a worker of the called rank runs, and what gives a rank such workers.
#pragma once

#include <compare>
#include <exception>
#include <memory>

#include <creek/core/language.hpp>

namespace creek {

/// A worker of the runtime of a rank.
struct worker_address {
  int rank = 0;
  int worker = 0;
  friend auto operator<=>(const worker_address&, const worker_address&) = default;
};

/// A call that the thread of an object space has received and another thread runs. Used by one
/// thread at a time.
class deferred_call {
 public:
  deferred_call() = default;
  deferred_call(const deferred_call&) = delete;
  deferred_call& operator=(const deferred_call&) = delete;

  /// Runs the call, at most once, and keeps its result or exception as the answer.
  virtual void run() noexcept = 0;
  /// Makes an exception the answer: instead of run(), or after it.
  virtual void fail(std::exception_ptr why) noexcept = 0;

  /// Gives the call back to the thread of the object space, which answers it. The memory of its
  /// arguments is used until then.
  struct give_back {
    void operator()(deferred_call* call) const noexcept { call->end(); }
  };

 protected:
  virtual ~deferred_call() = default;

 private:
  virtual void end() noexcept = 0;
};
using deferred_call_ptr = std::unique_ptr<deferred_call, deferred_call::give_back>;

/// Runs the calls of one object on its worker: one at a time, in the order in which they are
/// posted.
class call_port {
 public:
  call_port() = default;
  call_port(const call_port&) = delete;
  call_port& operator=(const call_port&) = delete;
  /// Called when no call is left.
  virtual ~call_port() = default;
  /// Has the worker run a call; does not wait for the worker. If the worker has ended, the call
  /// fails.
  virtual void post(deferred_call_ptr call) noexcept = 0;
};

/// The workers of a rank. Used by the thread of the object space.
class rank_workers {
 public:
  rank_workers() = default;
  rank_workers(const rank_workers&) = delete;
  rank_workers& operator=(const rank_workers&) = delete;
  virtual ~rank_workers() = default;
  [[nodiscard]] virtual int count() const noexcept = 0;
  /// Makes the port of a new object on worker 0 .. count() - 1; does not wait for the worker.
  /// Throws usage_error if the workers have ended.
  [[nodiscard]] virtual std::unique_ptr<call_port> open(int worker) = 0;
};

}  // namespace creek
