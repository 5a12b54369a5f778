// SPDX-License-Identifier: Apache-2.0
// Errors in the contents of inputs.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <creek/core/language.hpp>

namespace creek {

/// Category of the codes 1, 2, ... of an enumeration of faults, with a message for each.
class fault_category final : public std::error_category {
 public:
  fault_category(const char* name, std::initializer_list<const char*> messages)
      : name_(name), messages_(messages) {}
  const char* name() const noexcept override { return name_; }
  std::string message(int fault) const override {
    const auto at = static_cast<std::size_t>(fault) - 1;
    return at < messages_.size() ? messages_[at] : "unknown fault";
  }

 private:
  const char* name_;
  std::vector<const char*> messages_;
};

enum class data_fault {
  malformed = 1,  ///< violates its format
  truncated,      ///< ends too early
  unsupported,    ///< valid, but of a variant that is not supported
};

[[nodiscard]] std::error_code make_error_code(data_fault fault) noexcept;

/// Throws creek::error with `what`, which names the file and, if there is one, the line.
[[noreturn]] void fail(data_fault fault, const std::string& what);

/// Returns the start of a field for a message: one line, at most 40 bytes of the field, bytes that
/// are not printable ASCII as \xNN.
[[nodiscard]] std::string shown(std::string_view field);

}  // namespace creek

template <>
struct std::is_error_code_enum<creek::data_fault> : std::true_type {};
