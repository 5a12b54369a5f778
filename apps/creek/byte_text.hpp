// SPDX-License-Identifier: Apache-2.0
// Text that may hold any bytes, for terminals and for JSON.
#pragma once

#include <string>
#include <string_view>

#include "json/json_value.hpp"

namespace creek::tool {

/// A word or line as a terminal can take it: bytes that are no printable UTF-8 as \xNN, and no more
/// than 200 bytes of it.
[[nodiscard]] std::string printable(std::string_view text);

/// Adds text to a JSON object: as "NAME", and, if it is not UTF-8 and that only a likeness, in hex
/// as "bytes". Of more than 64 KiB that is the beginning, and "length" says how many bytes there
/// are: JSON takes up to twenty times the memory of a text.
void add_text(json_value& to, const char* name, std::string_view text);

/// One line of JSON or several; bytes that are no UTF-8 are replaced.
[[nodiscard]] std::string dump(const json_value& all);

}  // namespace creek::tool
