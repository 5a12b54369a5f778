// SPDX-License-Identifier: Apache-2.0
#include "json_text.hpp"

#include <fmt/format.h>

#include <utility>

namespace creek::detail {

namespace {

/// The bytes that may follow the first one of a character.
struct utf8_form {
  std::size_t bytes;        ///< length of the whole character; 0: no character begins so
  unsigned char low, high;  ///< limits of the second byte; those of later ones are 0x80 and 0xBF
};

utf8_form form_of(unsigned char first) noexcept {
  if (first < 0x80) return {1, 0, 0};
  if (first < 0xC2 || first > 0xF4) return {0, 0, 0};
  if (first < 0xE0) return {2, 0x80, 0xBF};
  if (first == 0xE0) return {3, 0xA0, 0xBF};
  if (first == 0xED) return {3, 0x80, 0x9F};
  if (first < 0xF0) return {3, 0x80, 0xBF};
  if (first == 0xF0) return {4, 0x90, 0xBF};
  if (first == 0xF4) return {4, 0x80, 0x8F};
  return {4, 0x80, 0xBF};
}

/// Returns how many bytes from the start of `text` belong together, and whether they are a
/// character.
std::pair<std::size_t, bool> next_character(std::string_view text) noexcept {
  const utf8_form form = form_of(static_cast<unsigned char>(text[0]));
  if (form.bytes == 0) return {1, false};
  unsigned char low = form.low, high = form.high;
  for (std::size_t i = 1; i < form.bytes; ++i) {
    if (i == text.size()) return {i, false};
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < low || byte > high) return {i, false};
    low = 0x80;
    high = 0xBF;
  }
  return {form.bytes, true};
}

void append_escaped(std::string& out, char c) {
  constexpr std::string_view plain = "\"\\\b\f\n\r\t", letters = "\"\\bfnrt";
  if (const std::size_t at = plain.find(c); at != plain.npos) {
    out += '\\';
    out += letters[at];
  } else if (static_cast<unsigned char>(c) < 0x20) {
    out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
  } else {
    out += c;
  }
}

}  // namespace

std::string json_string(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const auto [bytes, is_character] = next_character(text);
    if (!is_character) {
      out += "\xEF\xBF\xBD";
    } else if (bytes == 1) {
      append_escaped(out, text[0]);
    } else {
      out += text.substr(0, bytes);
    }
    text.remove_prefix(bytes);
  }
  return out + '"';
}

}  // namespace creek::detail
