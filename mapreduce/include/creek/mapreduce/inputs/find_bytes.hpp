// SPDX-License-Identifier: Apache-2.0
// Search for a string in a text, and for the number of a byte.
#pragma once

#include <cstdint>
#include <string_view>

#include <creek/core/language.hpp>

namespace creek::mapreduce {

/// Returns the first position in [begin, end) at which the nonempty `pattern` occurs completely, or
/// `end`. Compares the pattern's first, middle and last byte with a vector of positions at a time,
/// by code chosen for the CPU at run time, and the rest only if all three match; if they match
/// everywhere, it costs the pattern's length per position. Reads nothing outside the range; any
/// thread; never throws.
/// Source: the generic algorithm of [Mula 2016], with the middle byte added.
[[nodiscard]] const char* find_bytes(const char* begin, const char* end,
                                     std::string_view pattern) noexcept;

/// Returns the number of bytes of the text that equal `byte`, without a charge of work. By code
/// chosen for the CPU at run time; any thread; never throws.
[[nodiscard]] std::uint64_t count_byte(std::string_view text, char byte) noexcept;

}  // namespace creek::mapreduce
