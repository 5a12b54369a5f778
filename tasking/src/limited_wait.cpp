// SPDX-License-Identifier: Apache-2.0
// Waits for a future that a deadline or a stop request may end.
#include "limited_wait.hpp"

#include <string>

#include <creek/core/error.hpp>

namespace creek::detail {

namespace {

/// A future's state as the source of a limited wait.
struct awaited_future {
  static constexpr const char* text = "a future that is ready";
  static constexpr const char* text_or_a_stop = "a future or a stop request";
  static constexpr const char* text_for_a_limited_time = "a future, for a limited time";

  bool listen(ready_listener* listener) noexcept { return state.listen(listener); }
  bool unlisten(ready_listener* listener) noexcept { return state.unlisten(listener); }
  wait_reason reason(const char* what) const noexcept {
    return reason_to_follow(what, wait_reason::kind::limited_future, &state);
  }

  future_state_base& state;
};

}  // namespace

wait_end future_state_base::wait_at_most(const std::chrono::nanoseconds* limit,
                                         const std::stop_token* stop) {
  if (ready()) return wait_end::ready;
  if (stop != nullptr && stop->stop_requested()) return wait_end::stopped;
  if (limit != nullptr && limit->count() <= 0) return wait_end::timeout;
  awaited_future source{*this};
  const wait_end how = limited_wait<awaited_future>(source).wait(limit, stop);
  if (how == wait_end::ready) sanitizer::acquired(&listeners_);
  return how;
}

void require_clocks(const char* what) {
  const executor* home = current_executor();
  if (home != nullptr && home->traits().has_own_time) {
    throw usage_error(std::string(what) + ": tasks of the backend " + home->traits().backend_name +
                      " run in virtual time, to which no clock belongs; use a span of time "
                      "(wait_for)");
  }
}

}  // namespace creek::detail
