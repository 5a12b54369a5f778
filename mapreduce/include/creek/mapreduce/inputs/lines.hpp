// SPDX-License-Identifier: Apache-2.0
// Lines of a text.
#pragma once

#include <algorithm>
#include <creek/core/charge.hpp>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace creek::mapreduce {

/// Returns whether a byte ends a line.
[[nodiscard]] constexpr bool is_line_end(char c) noexcept {
  return c == '\n';
}

/// Calls `f(std::string_view line)` for every line of `text` in order, without its \n (a \r before
/// it is part of the line). A last line without line end is a line too: cut inputs at lines
/// (text_units::lines).
template <class F>
void for_each_line(std::string_view text, F&& f) {
  charge(work::byte_scanned, static_cast<std::int64_t>(text.size()));
  while (!text.empty()) {
    const std::size_t size = std::min(text.find('\n'), text.size());
    f(text.substr(0, size));
    text.remove_prefix(std::min(size + 1, text.size()));
  }
}

}  // namespace creek::mapreduce
