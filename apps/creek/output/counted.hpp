// SPDX-License-Identifier: Apache-2.0
// Numbers with their nouns.
#pragma once

#include <fmt/format.h>

#include <string>

namespace creek::tool {

/// Returns "1 file", "2 files".
template <class Number>
std::string counted(Number count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace creek::tool
