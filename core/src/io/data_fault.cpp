// SPDX-License-Identifier: Apache-2.0
#include <creek/core/io/data_fault.hpp>

#include <fmt/format.h>

#include <creek/core/error.hpp>

namespace creek {

std::error_code make_error_code(data_fault fault) noexcept {
  static const fault_category category("creek input data",
                                       {"malformed data", "truncated data", "not supported"});
  return {static_cast<int>(fault), category};
}

void fail(data_fault fault, const std::string& what) {
  throw error(make_error_code(fault), what);
}

std::string shown(std::string_view field) {
  constexpr std::size_t most = 40;
  std::string text;
  for (const char c : field.substr(0, most)) {
    const auto byte = static_cast<unsigned char>(c);
    text += byte < 0x20 || byte >= 0x7f ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
  }
  return field.size() > most ? text + "..." : text;
}

}  // namespace creek
