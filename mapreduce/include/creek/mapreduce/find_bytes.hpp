// SPDX-License-Identifier: Apache-2.0
// Where a string occurs in a text.
#pragma once

#include <string_view>

#include <creek/core/language.hpp>

namespace creek::mapreduce {

/// The first place in [begin, end) where `pattern`, which is not empty, begins and lies whole, or
/// `end`. Compares the first, the middle and the last byte of the pattern with a vector of places
/// at a time, by code chosen for the CPU at run time, and the rest only where all three agree;
/// where they agree all the time it costs the length of the pattern a place. Reads nothing else;
/// any thread; never throws.
/// Source: the generic algorithm of [Mula 2016], with the middle byte added.
[[nodiscard]] const char* find_bytes(const char* begin, const char* end,
                                     std::string_view pattern) noexcept;

}  // namespace creek::mapreduce
