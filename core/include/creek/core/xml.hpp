// SPDX-License-Identifier: Apache-2.0
// Text inside XML, such as SVG.
#pragma once

#include <string>
#include <string_view>

#include <creek/core/language.hpp>

namespace creek::detail {

/// Returns the text escaped for the content of an element or for a double-quoted attribute.
inline std::string xml_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace creek::detail
