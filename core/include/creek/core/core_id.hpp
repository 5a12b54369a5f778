// SPDX-License-Identifier: Apache-2.0
// The number of a core, as a type of its own: it is neither an index into something else nor a
// count.
#pragma once

#include <compare>
#include <cstddef>

#include <creek/core/language.hpp>

namespace creek {

/// A core of the memory a program runs on: 0 .. cores() - 1. On host threads "core" is a place in a
/// `host::memory_space`, not a processor number.
struct core_id {
  int value = 0;

  constexpr explicit core_id(int number = 0) noexcept : value{number} {}
  [[nodiscard]] constexpr std::size_t index() const noexcept {
    return static_cast<std::size_t>(value);
  }
  friend constexpr auto operator<=>(core_id, core_id) = default;
};

}  // namespace creek
