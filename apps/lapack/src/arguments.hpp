// SPDX-License-Identifier: Apache-2.0
// Arguments as LAPACK, BLAS and their C interfaces spell them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include <creek/linalg/matrix.hpp>

/// The namespace of what depends on Fortran's INTEGER: a library may have both widths.
#ifdef CREEK_LAPACK_ILP64
#define CREEK_LAPACK_WIDTH ilp64
#else
#define CREEK_LAPACK_WIDTH lp64
#endif

namespace creek::lapack {
inline namespace CREEK_LAPACK_WIDTH {

using linalg::const_view;
using linalg::diagonal;
using linalg::index_t;
using linalg::is_complex;
using linalg::matrix_view;
using linalg::op;
using linalg::real;
using linalg::scalar;
using linalg::side;
using linalg::triangle;

#ifdef CREEK_LAPACK_ILP64
using blas_int = std::int64_t;
#else
using blas_int = std::int32_t;
#endif
/// Fortran passes numbers by reference.
using in_int = const blas_int*;

/// Layout of consecutive elements, with the numbers of CBLAS and LAPACKE.
enum class layout : int { rows = 101, columns = 102 };

inline std::optional<layout> parse_layout(int number) noexcept {
  if (number != 101 && number != 102) return std::nullopt;
  return static_cast<layout>(number);
}

/// Compares a letter as Fortran's LSAME does; returns nullopt if it is neither of the two.
template <class E>
std::optional<E> parse_letter(char letter, E first, E second) noexcept {
  const auto upper =
      static_cast<char>(letter >= 'a' && letter <= 'z' ? letter - 'a' + 'A' : letter);
  if (upper == static_cast<char>(first)) return first;
  if (upper == static_cast<char>(second)) return second;
  return std::nullopt;
}
inline std::optional<triangle> parse_triangle(char letter) noexcept {
  return parse_letter(letter, triangle::lower, triangle::upper);
}
inline std::optional<side> parse_side(char letter) noexcept {
  return parse_letter(letter, side::left, side::right);
}
inline std::optional<diagonal> parse_diagonal(char letter) noexcept {
  return parse_letter(letter, diagonal::stored, diagonal::unit);
}
inline std::optional<op> parse_op(char letter) noexcept {
  const auto plain = parse_letter(letter, op::none, op::transpose);
  return plain ? plain : parse_letter(letter, op::none, op::conjugate_transpose);
}
/// Parses whether Q is taken as it is or as its (conjugate) transpose: 'T' if real, 'C' if complex.
template <scalar T>
std::optional<op> parse_adjoint(char letter) noexcept {
  return parse_letter(letter, op::none, is_complex<T> ? op::conjugate_transpose : op::transpose);
}

/// Returns the letter of a CBLAS number; '?' for a number that means nothing there.
constexpr char letter_of(int number, int first, std::string_view letters) noexcept {
  const int place = number - first;
  return place >= 0 && place < static_cast<int>(letters.size())
             ? letters[static_cast<std::size_t>(place)]
             : '?';
}
constexpr char op_letter(int number) noexcept {
  return letter_of(number, 111, "NTC");
}
constexpr char triangle_letter(int number) noexcept {
  return letter_of(number, 121, "UL");
}
constexpr char diagonal_letter(int number) noexcept {
  return letter_of(number, 131, "NU");
}
constexpr char side_letter(int number) noexcept {
  return letter_of(number, 141, "LR");
}

/// CBLAS takes real scalars by value and complex ones by address.
template <scalar T>
using c_scalar = std::conditional_t<is_complex<T>, const void*, T>;
template <scalar T>
T value_of(c_scalar<T> given) noexcept {
  if constexpr (is_complex<T>) {
    return *static_cast<const T*>(given);
  } else {
    return given;
  }
}

/// Returns whether a leading dimension is enough for rows x cols elements.
constexpr bool holds(blas_int leading, blas_int rows, blas_int cols,
                     layout order = layout::columns) noexcept {
  return leading >= std::max<blas_int>(1, order == layout::columns ? rows : cols);
}

/// Returns the real operations of that many multiplications and additions of T.
template <scalar T>
constexpr double cost(double flops) noexcept {
  return is_complex<T> ? 4 * flops : flops;
}

}  // namespace CREEK_LAPACK_WIDTH
}  // namespace creek::lapack
