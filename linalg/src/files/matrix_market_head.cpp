// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <span>

#include "line_fields.hpp"
#include "matrix_market.hpp"

namespace creek::linalg::market {
namespace {

using fault = matrix_file_fault;

constexpr std::array<std::string_view, 2> layouts{"array", "coordinate"};
constexpr std::array<std::string_view, 4> fields{"real", "integer", "complex", "pattern"};
constexpr std::array<std::string_view, 4> symmetries{"general", "symmetric", "skew-symmetric",
                                                     "hermitian"};

/// Returns the position of a word in a list, ignoring case.
template <class Enum>
Enum choice(const detail::byte_source& in, std::string_view word,
            std::span<const std::string_view> names) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::ranges::equal(word, names[i], {}, lower)) return static_cast<Enum>(i);
  }
  std::string allowed;
  for (const std::string_view name : names) allowed += fmt::format(" {}", name);
  in.fail_in_line(fault::malformed, fmt::format("{} is none of:{}", detail::quoted(word), allowed));
}

void read_banner(detail::byte_source& in, head& what) {
  detail::line_fields line(in, in.line().value_or(""));
  constexpr std::array<std::string_view, 1> matrix{"matrix"};
  line.word();  // skips the magic, which the caller has checked
  choice<int>(in, line.word(), matrix);
  what.layout = choice<layout>(in, line.word(), layouts);
  what.field = choice<field>(in, line.word(), fields);
  what.symmetry = choice<symmetry>(in, line.word(), symmetries);
  line.end();
  const bool pattern = what.field == field::pattern;
  if (pattern && what.layout == layout::array) {
    in.fail_in_line(fault::malformed, "an array cannot be a pattern");
  }
  if (pattern && what.symmetry != symmetry::general && what.symmetry != symmetry::symmetric) {
    in.fail_in_line(fault::malformed, "a pattern is general or symmetric");
  }
}

index_t dimension(const detail::byte_source& in, std::uint64_t value) {
  if (value > static_cast<std::uint64_t>(std::numeric_limits<index_t>::max())) {
    in.fail_in_line(fault::malformed, "a dimension that cannot be addressed");
  }
  return static_cast<index_t>(value);
}

/// Returns the number of listed elements of an array; saturates.
std::uint64_t listed(const head& what) noexcept {
  const auto rows = static_cast<std::uint64_t>(what.rows);
  // A triangle has rows * (rows + 1) / 2 or rows * (rows - 1) / 2: halve the even factor.
  std::uint64_t a = rows;
  std::uint64_t b = static_cast<std::uint64_t>(what.cols);
  if (what.symmetry != symmetry::general) {
    b = what.symmetry == symmetry::skew_symmetric ? rows - (rows > 0) : rows + 1;
    (a % 2 == 0 ? a : b) /= 2;
  }
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? ~std::uint64_t{0} : product;
}

}  // namespace

head read_head(detail::byte_source& in) {
  head what;
  read_banner(in, what);
  for (;;) {
    const auto text = in.line();
    if (!text) in.fail(fault::truncated, "ends before the line with its size");
    detail::line_fields line(in, *text);
    if (line.empty() || text->starts_with('%')) continue;
    what.rows = dimension(in, line.count());
    what.cols = dimension(in, line.count());
    if (what.layout == layout::coordinate) what.entries = line.count();
    line.end();
    break;
  }
  if (what.symmetry != symmetry::general && what.rows != what.cols) {
    in.fail_in_line(fault::malformed,
                    fmt::format("{} x {}, but {} matrices are square", what.rows, what.cols,
                                symmetries[static_cast<int>(what.symmetry)]));
  }
  if (what.layout == layout::array) what.entries = listed(what);
  return what;
}

std::uint64_t least_bytes(const head& what) noexcept {
  std::uint64_t line = what.layout == layout::coordinate ? 4 : 0;  // shortest indices, "1 1 "
  if (what.field != field::pattern) line += what.field == field::complex ? 4 : 2;
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(line, what.entries, &bytes)) return ~std::uint64_t{0};
  return bytes - (bytes > 0);
}

matrix_file_info info_of(const head& what) {
  return {.format = matrix_format::matrix_market,
          .type = what.field == field::complex ? element_type::z : element_type::d,
          .rows = what.rows,
          .cols = what.cols,
          .entries = what.entries,
          .description = fmt::format(
              "Matrix Market, {} {} {}", layouts[static_cast<int>(what.layout)],
              fields[static_cast<int>(what.field)], symmetries[static_cast<int>(what.symmetry)])};
}

}  // namespace creek::linalg::market
