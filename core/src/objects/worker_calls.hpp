// SPDX-License-Identifier: Apache-2.0
// The calls that the workers of this rank run.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <creek/core/objects/deferred_call.hpp>
#include <creek/core/threads/counted_ptr.hpp>

#include "completed_calls.hpp"
#include "worker_call.hpp"

namespace creek::detail {

/// Used by the thread of the object space.
class worker_calls {
 public:
  /// Throws usage_error if there are workers already.
  void set_workers(std::unique_ptr<rank_workers> workers);
  [[nodiscard]] int worker_count() const noexcept;
  /// Makes the port of a new object on worker `number` - 1. Throws usage_error if there is none.
  [[nodiscard]] std::unique_ptr<call_port> open(int rank, std::uint64_t number);

  [[nodiscard]] const counted_ptr<completed_calls>& completed() const noexcept {
    return completed_;
  }
  void post(std::unique_ptr<worker_call> call);
  /// Number of calls that were posted and not taken.
  [[nodiscard]] std::size_t under_way() const noexcept { return under_way_; }
  /// Takes a call that a worker has given back, or null.
  [[nodiscard]] std::unique_ptr<worker_call> take() noexcept;
  /// Waits until there is one, at most `time`. Returns whether there is one.
  bool wait_for(std::chrono::nanoseconds time) { return completed_->wait_for(time); }

 private:
  std::unique_ptr<rank_workers> workers_;
  counted_ptr<completed_calls> completed_ = counted_ptr<completed_calls>::make();
  std::size_t under_way_ = 0;
};

}  // namespace creek::detail
