// SPDX-License-Identifier: Apache-2.0
// The error of a function that reads text for a fault in it.
#pragma once

#include <creek/core/error.hpp>
#include <creek/core/io/data_fault.hpp>
#include <string>
#include <utility>

namespace creek::mapreduce {

/// Thrown by functions that read the text of a split, and by jobs that do. text_files and text_view
/// replace it by a creek::error that names the file and the line of the fault.
class malformed_text : public error {
 public:
  /// `at`: position of the fault in the split's text.
  malformed_text(const char* at, std::string reason)
      : error(make_error_code(data_fault::malformed), reason),
        at_(at),
        reason_(std::move(reason)) {}

  [[nodiscard]] const char* at() const noexcept { return at_; }
  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }

 private:
  const char* at_;
  std::string reason_;
};

}  // namespace creek::mapreduce
