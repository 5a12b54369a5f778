// SPDX-License-Identifier: Apache-2.0
// Outcome of an attempt to steal, whatever the deque.
#pragma once

#include <cstdint>

#include <creek/core/language.hpp>

namespace creek {

enum class [[nodiscard]] steal_result : std::uint8_t{
    taken,  ///< the oldest task is the caller's
    empty,  ///< there was none
    lost,   ///< another thief was faster or holds the lock: try elsewhere
};

}  // namespace creek
