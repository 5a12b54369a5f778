// SPDX-License-Identifier: Apache-2.0
// Strings of JSON documents.
#pragma once

#include <string>
#include <string_view>

namespace creek::detail {

/// Returns the text in quotes, escaped as JSON demands. The text need not be UTF-8, but a document
/// has to be: each longest start of a character that does not go on as UTF-8 becomes one U+FFFD (as
/// the Unicode Standard recommends: [Unicode 15], section 3.9).
std::string json_string(std::string_view text);

}  // namespace creek::detail
