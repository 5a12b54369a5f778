// SPDX-License-Identifier: Apache-2.0
// Text that may hold any bytes, made fit for terminals and for JSON.
#pragma once

#include <string>
#include <string_view>

#include "json/json_value.hpp"

namespace creek::tool {

/// Returns a word or line in a form fit for a terminal: at most 200 bytes of it, with bytes that
/// are not printable UTF-8 as \xNN.
[[nodiscard]] std::string printable(std::string_view text);

/// Adds text to a JSON object as "NAME". If it is not UTF-8, that is only a likeness, and its hex
/// is added as "bytes". A text above 64 KiB is cut, and "length" holds its number of bytes: JSON
/// takes up to twenty times the memory of a text.
void add_text(json_value& to, const char* name, std::string_view text);

/// Returns one or several lines of JSON, in which bytes that are not UTF-8 are replaced.
[[nodiscard]] std::string dump(const json_value& all);

}  // namespace creek::tool
