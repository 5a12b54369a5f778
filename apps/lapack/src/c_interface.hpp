// SPDX-License-Identifier: Apache-2.0
// Steps that every LAPACKE function adds to a LAPACK routine: layouts, NaN checks, argument
// positions shifted by one, and codes for memory that ran out.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <tuple>

#include "errors.hpp"
#include "row_major.hpp"

namespace creek::lapack {
inline namespace CREEK_LAPACK_WIDTH {

constexpr blas_int no_memory_for_work = -1010;
constexpr blas_int no_memory_to_transpose = -1011;

/// Description of a LAPACKE call. `routine` is its name, "LAPACKE_dgetrf", without the "_work" of
/// the lower of its two forms, which does not look for NaN.
struct c_call {
  const char* routine;
  const void* caller;  ///< an address in the code that called it
  int given_layout;
  bool upper_form;
  bool only_length = false;  ///< workspace query: the matrices may be absent

  /// Returns the name of the LAPACK routine, "dgetrf".
  const char* inner() const noexcept { return routine + sizeof("LAPACKE_") - 1; }
  entry inner_entry() const noexcept { return {inner(), caller}; }
  blas_int refuse(blas_int info, bool by_upper_form = false) const {
    const std::string name = routine + std::string(by_upper_form ? "" : "_work");
    report_c_interface({name.c_str(), caller}, info);
    return info;
  }
};

/// Returns whether to look for NaN: LAPACKE_get_nancheck() decides if LAPACKE is loaded; else yes,
/// unless the environment variable LAPACKE_NANCHECK is 0.
bool nan_check_wanted() noexcept;

/// Number of arguments that come before those of the routine itself.
constexpr blas_int counted(blas_int info) noexcept {
  return info < 0 ? info - 1 : info;
}

namespace detail {

template <scalar T, class F, class... Operands>
blas_int in_columns(const c_call& how, F f, const Operands&... operands) {
  return counted(reported(how.inner_entry(), f(operands...)));
}

template <scalar T, class F, class... Operands>
blas_int in_rows(const c_call& how, F f, const Operands&... operands) {
  for (const operand<T>& each : {operands...}) {
    if (each.leading < each.cols) return how.refuse(-(each.position + 1));
  }
  if (how.only_length) return in_columns<T>(how, f, with_enough_leading(operands)...);
  std::optional<std::array<column_major<T>, sizeof...(operands)>> copies;
  try {
    copies.emplace(std::array{column_major<T>(operands)...});
  } catch (const std::bad_alloc&) {
    return how.refuse(no_memory_to_transpose);
  }
  const auto call = [&](const auto&... each) { return in_columns<T>(how, f, each.turned()...); };
  const blas_int info = std::apply(call, *copies);
  for (const column_major<T>& each : *copies) each.write_back();
  return info;
}

}  // namespace detail

/// Calls f(operands...) with all operands column-major; f returns info as the LAPACK routine.
template <scalar T, class F, class... Operands>
blas_int c_interface(const c_call& how, F f, const operand<T>& first,
                     const Operands&... others) noexcept {
  return shielded(how.inner(), [&]() -> blas_int {
    const auto order = parse_layout(how.given_layout);
    if (!order) return how.refuse(-1, how.upper_form);
    if (how.upper_form && nan_check_wanted()) {
      for (const operand<T>& each : {first, others...}) {
        if (has_nan(each, *order)) return -each.position;
      }
    }
    try {
      return *order == layout::columns ? detail::in_columns<T>(how, f, first, others...)
                                       : detail::in_rows<T>(how, f, first, others...);
    } catch (const std::bad_alloc&) {
      return how.refuse(no_memory_for_work);
    }
  });
}

}  // namespace CREEK_LAPACK_WIDTH
}  // namespace creek::lapack
