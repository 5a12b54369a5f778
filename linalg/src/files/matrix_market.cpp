// SPDX-License-Identifier: Apache-2.0
// Reads and writes the entries of a Matrix Market file.
#include "matrix_market.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <complex>

#include "line_fields.hpp"

namespace creek::linalg::market {
namespace {

using fault = matrix_file_fault;

template <scalar T>
T conjugate(T value) noexcept {
  if constexpr (is_complex<T>) {
    return std::conj(value);
  } else {
    return value;
  }
}

/// Reads the lines after the head, one entry each, and stores entries and mirror images.
template <scalar T>
class entry_reader {
 public:
  entry_reader(detail::byte_source& in, const head& what, matrix_view<T> to)
      : in_(in), what_(what), to_(to) {}

  void array() {
    const bool whole = what_.symmetry == symmetry::general;
    const index_t skipped = what_.symmetry == symmetry::skew_symmetric ? 1 : 0;
    for (index_t j = 0; j < to_.cols(); ++j) {
      for (index_t i = whole ? 0 : j + skipped; i < to_.rows(); ++i) {
        detail::line_fields line = next();
        to_(i, j) = value(line);
        line.end();
        if (!whole) mirror(i, j, to_(i, j));
      }
    }
  }

  void coordinate() {
    for (std::uint64_t k = 0; k < what_.entries; ++k) {
      detail::line_fields line = next();
      const index_t i = position(line, "row", to_.rows());
      const index_t j = position(line, "column", to_.cols());
      const T entry = value(line);
      line.end();
      to_(i, j) += entry;
      if (what_.symmetry == symmetry::general) continue;
      if (i < j) {
        malformed(
            fmt::format("({}, {}) is above the diagonal, where a symmetric file lists "
                        "nothing; list the lower triangle, or declare it general",
                        i + 1, j + 1));
      }
      mirror(i, j, entry);
    }
  }

  /// Throws if anything but blank lines follows.
  void finish() {
    while (const auto text = in_.line()) {
      if (!detail::line_fields(in_, *text).empty()) {
        malformed(fmt::format("more than the {} entries that the head promises", what_.entries));
      }
    }
  }

 private:
  [[noreturn]] void malformed(const std::string& what) const {
    in_.fail_in_line(fault::malformed, what);
  }

  detail::line_fields next() {
    while (const auto text = in_.line()) {
      const detail::line_fields line(in_, *text);
      if (!line.empty()) {
        ++read_;
        return line;
      }
    }
    in_.fail(fault::truncated, fmt::format("ends after {} of {} entries", read_, what_.entries));
  }

  index_t position(detail::line_fields& line, const char* kind, index_t size) const {
    const std::uint64_t at = line.count();
    if (at < 1 || at > static_cast<std::uint64_t>(size)) {
      malformed(fmt::format("{} {} of a matrix with {} (they are counted from 1)", kind, at, size));
    }
    return static_cast<index_t>(at - 1);
  }

  T value(detail::line_fields& line) const {
    using R = real<T>;
    switch (what_.field) {
      case field::pattern:
        return T(1);
      case field::integer:
        return T(line.whole_number<R>());
      case field::real:
        return T(line.number<R>());
      case field::complex:
        break;
    }
    const R re = line.number<R>();
    const R im = line.number<R>();
    if constexpr (is_complex<T>) {
      return T(re, im);
    } else {
      if (im != R(0)) {
        in_.fail_in_line(fault::not_real, "an imaginary part; read it as complex");
      }
      return re;
    }
  }

  void mirror(index_t i, index_t j, T entry) const {
    if (i != j) {
      const bool skew = what_.symmetry == symmetry::skew_symmetric;
      const bool hermitian = what_.symmetry == symmetry::hermitian;
      to_(j, i) += skew ? -entry : hermitian ? conjugate(entry) : entry;
      return;
    }
    if (what_.symmetry == symmetry::skew_symmetric && entry != T(0)) {
      malformed("the diagonal of a skew-symmetric matrix is zero");
    }
    if (what_.symmetry == symmetry::hermitian && std::imag(entry) != 0) {
      malformed("the diagonal of a hermitian matrix is real");
    }
  }

  detail::byte_source& in_;
  const head& what_;
  matrix_view<T> to_;
  std::uint64_t read_ = 0;
};

template <class Real>
void append_number(std::string& text, Real value) {
  std::array<char, 64> digits;  // the longest is 24: -1.7976931348623157e+308
  const auto [end, why] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  text.append(digits.data(), end);
}

}  // namespace

template <scalar T>
void read_entries(detail::byte_source& in, const head& what, matrix_view<T> to) {
  entry_reader<T> reader(in, what, to);
  if (what.layout == layout::array) {
    reader.array();
  } else {
    reader.coordinate();
  }
  reader.finish();
}

template <scalar T>
void write(const writer& out, const_view<T> a) {
  constexpr std::size_t portion = 32 << 10;
  std::string text = fmt::format("{} matrix array {} general\n{} {}\n", magic,
                                 is_complex<T> ? "complex" : "real", a.rows(), a.cols());
  for (index_t j = 0; j < a.cols(); ++j) {
    for (index_t i = 0; i < a.rows(); ++i) {
      append_number(text, std::real(a(i, j)));
      if constexpr (is_complex<T>) {
        text += ' ';
        append_number(text, std::imag(a(i, j)));
      }
      text += '\n';
      if (text.size() < portion) continue;
      out(text);
      text.clear();
    }
  }
  out(text);
}

#define CREEK_INSTANTIATE(letter, T)                                             \
  template void read_entries(detail::byte_source&, const head&, matrix_view<T>); \
  template void write(const writer&, const_view<T>);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg::market
