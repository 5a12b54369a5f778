// SPDX-License-Identifier: Apache-2.0
#include <creek/tasking/sleep.hpp>

#include <algorithm>

#include "limited_wait.hpp"

namespace creek {

namespace {

/// The source of a wait that nothing but its limits ends.
struct never_ready {
  static constexpr const char* text = "the end of a sleep";
  static constexpr const char* text_or_a_stop = "a stop request";
  static constexpr const char* text_for_a_limited_time = "the end of a sleep";

  static bool listen(detail::ready_listener*) noexcept { return true; }
  static bool unlisten(detail::ready_listener*) noexcept { return true; }
  static ext::wait_reason reason(const char* what) noexcept { return what; }
};

}  // namespace

void sleep_for(std::chrono::nanoseconds span) {
  (void)sleep_for(span, std::stop_token());
}

bool sleep_for(std::chrono::nanoseconds span, const std::stop_token& stop) {
  if (stop.stop_requested()) return false;
  if (span.count() <= 0) return true;
  const std::chrono::nanoseconds limit =
      std::min<std::chrono::nanoseconds>(span, ext::longest_wait);
  never_ready source;
  return detail::limited_wait<never_ready>(source).wait(&limit, &stop) == detail::wait_end::timeout;
}

}  // namespace creek
