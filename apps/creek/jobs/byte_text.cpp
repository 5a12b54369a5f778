// SPDX-License-Identifier: Apache-2.0
#include "byte_text.hpp"

#include <fmt/format.h>

#include "output/energy.hpp"

namespace creek::tool {

using json = json_value;

namespace {

/// Returns the length of the UTF-8 character at the front of `text`, or 0 if there is none.
/// Overlong forms, surrogates and values above U+10FFFF do not count ([Unicode 15], table 3-7).
std::size_t utf8_length(std::string_view text) {
  const auto at = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto tail = [&](std::size_t i) { return (at(i) & 0xC0) == 0x80; };
  const unsigned first = at(0);
  const unsigned second = at(1);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return tail(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool good = first == 0xE0 ? second >= 0xA0 : first != 0xED || second < 0xA0;
    return good && tail(1) && tail(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool good = first == 0xF0 ? second >= 0x90 : first != 0xF4 || second < 0x90;
    return good && tail(1) && tail(2) && tail(3) ? 4 : 0;
  }
  return 0;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t n = utf8_length(text);
    if (n == 0) return false;
    text.remove_prefix(n);
  }
  return true;
}

/// Returns at most `most` bytes from the front of `text`, without cutting a UTF-8 character.
std::string_view front_of(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  for (std::size_t back = 0; back < 4; ++back) {
    if (const std::size_t n = utf8_length(text.substr(most - back)); n != 0) {
      return text.substr(0, n > back ? most - back : most);
    }
  }
  return text.substr(0, most);
}

}  // namespace

std::string printable(std::string_view word) {
  constexpr std::size_t longest = 200;  // bytes shown
  std::string out;
  std::string_view rest = word.substr(0, longest);
  while (!rest.empty()) {
    const std::size_t n = utf8_length(rest);
    const auto first = static_cast<unsigned char>(rest[0]);
    // C1 controls (U+0080 to U+009F) steer terminals as well as C0 controls do.
    const bool control = first < 0x20 || first == 0x7F ||
                         (n == 2 && first == 0xC2 && static_cast<unsigned char>(rest[1]) < 0xA0);
    if (n == 0 || control) {
      out += fmt::format("\\x{:02x}", first);
      rest.remove_prefix(1);
    } else {
      out += rest.substr(0, n);
      rest.remove_prefix(n);
    }
  }
  if (word.size() > longest) out += fmt::format("... ({} bytes)", word.size());
  return out;
}

void add_text(json& to, const char* name, std::string_view text) {
  const std::string_view shown = front_of(text, std::size_t{1} << 16);
  to[name] = std::string(shown);
  if (!is_utf8(shown)) {
    std::string hex;
    for (const char c : shown) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
    to["bytes"] = hex;
  }
  if (shown.size() != text.size()) to["length"] = text.size();
}

std::string dump(const json& all) {
  return with_energy(all).dump(2);
}

}  // namespace creek::tool
