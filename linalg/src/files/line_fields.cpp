// SPDX-License-Identifier: Apache-2.0
#include "line_fields.hpp"

#include <fmt/format.h>

#include <locale>
#include <sstream>

namespace creek::linalg::detail {

void line_fields::wrong(const char* what) const {
  const auto fault = matrix_file_fault::malformed;
  if (empty()) in_->fail_in_line(fault, "a number is missing");
  in_->fail_in_line(fault, fmt::format("{} {}", quoted(next()), what));
}

/// std::from_chars does not say whether a number is too small or too large; a stream does.
double line_fields::out_of_range(std::string_view text) const {
  std::istringstream stream{std::string(text)};
  stream.imbue(std::locale::classic());
  double value = 0;
  if (!(stream >> value)) wrong("is too large for a double");
  return value;
}

}  // namespace creek::linalg::detail
