// SPDX-License-Identifier: Apache-2.0
// Calls without end, for tests of what a worker does beside them.
#pragma once

#include <atomic>
#include <cstdint>

#include <creek/tasking.hpp>

namespace creek::support {

/// Keeps a worker in messages: each call of an object there posts the next one, until the calls are
/// stopped or there were `limit`. Lives in a task.
class endless_calls {
 public:
  endless_calls(core_id worker, std::int64_t limit)
      : limit_(limit), object_(make_on<std::int64_t>(worker, 0)) {
    post_next();
  }
  /// Waits for the last call.
  ~endless_calls() {
    stops_ = true;
    ended_.get_future().get();
  }
  endless_calls(const endless_calls&) = delete;
  endless_calls& operator=(const endless_calls&) = delete;

  /// Returns true if the limit is reached: what should have stopped the calls cannot come.
  bool gave_up() const noexcept { return gave_up_; }

 private:
  void post_next() {
    object_.post([this](std::int64_t& calls) {
      if (++calls == limit_) gave_up_ = true;
      if (stops_ || gave_up_) {
        ended_.set_value();
      } else {
        post_next();
      }
    });
  }

  const std::int64_t limit_;
  std::atomic<bool> stops_{false}, gave_up_{false};
  promise<void> ended_;
  remote<std::int64_t> object_;
};

}  // namespace creek::support
