// SPDX-License-Identifier: Apache-2.0
// Time that a power policy has a waiting core search, in virtual time.
#pragma once

#include <algorithm>
#include <chrono>

#include <creek/scc/virtual_time.hpp>

namespace creek::scc_backend {

/// Returns `search`, which is not negative, or 1000 s if that is less: longer spans, such as
/// std::chrono::nanoseconds::max(), could not be added to a point in virtual time, and no core
/// waits that long.
inline virtual_time search_span(std::chrono::nanoseconds search) noexcept {
  constexpr std::chrono::nanoseconds longest = std::chrono::seconds{1000};
  return {std::min(search, longest).count() * 1'000'000};
}

}  // namespace creek::scc_backend
