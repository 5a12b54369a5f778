// SPDX-License-Identifier: Apache-2.0
// Inputs whose content is wrong.
#pragma once

#include <string>
#include <string_view>
#include <system_error>

#include <creek/core/language.hpp>

namespace creek::mapreduce {

enum class data_fault {
  malformed = 1,  ///< not what the format says
  truncated,      ///< ends too early
  unsupported,    ///< of the format, but of a kind that is not read
};

[[nodiscard]] std::error_code make_error_code(data_fault fault) noexcept;

/// Throws creek::error with `what`, which names the file and, where there is one, the line.
[[noreturn]] void fail(data_fault fault, const std::string& what);

/// The front of a field for a message: one line, at most 40 bytes of it, those that are not
/// printable ASCII as \xNN.
[[nodiscard]] std::string shown(std::string_view field);

}  // namespace creek::mapreduce

template <>
struct std::is_error_code_enum<creek::mapreduce::data_fault> : std::true_type {};
