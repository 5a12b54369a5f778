// SPDX-License-Identifier: Apache-2.0
#include <creek/core/decimal.hpp>

namespace creek::detail {

std::string digits_of(std::uint64_t magnitude, bool is_negative) {
  char text[21];  // the sign and 20 digits
  char* first = text + sizeof text;
  do {
    *--first = static_cast<char>('0' + magnitude % 10);
    magnitude /= 10;
  } while (magnitude != 0);
  if (is_negative) *--first = '-';
  return std::string(first, text + sizeof text);
}

}  // namespace creek::detail
