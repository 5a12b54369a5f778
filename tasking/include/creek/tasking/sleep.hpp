// SPDX-License-Identifier: Apache-2.0
// Sleep of a task, without keeping a worker from other tasks.
#pragma once

#include <chrono>
#include <stop_token>

#include <creek/core/language.hpp>

namespace creek {

/// Suspends the calling task for `span`, or a little longer; its worker runs others. A span of 0 or
/// less is over at once. On a backend with virtual time it is a span of that; a foreign thread
/// sleeps itself. Throws error if the system refuses the thread that watches deadlines.
void sleep_for(std::chrono::nanoseconds span);
/// Does the same until `stop` is requested. Returns false if that was first.
[[nodiscard]] bool sleep_for(std::chrono::nanoseconds span, const std::stop_token& stop);

}  // namespace creek
