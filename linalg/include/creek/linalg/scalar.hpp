// SPDX-License-Identifier: Apache-2.0
// The element types of matrices. This is the only list of them: the routines are instantiated, and
// the LAPACK interface is exported, for the types named here.
#pragma once

#include <complex>
#include <concepts>

#include <creek/core/language.hpp>

// Calls DO(letter, type) for each element type, with the letter that LAPACK's names have for it.
#define CREEK_FOR_EACH_REAL(DO) DO(s, float) DO(d, double)
#define CREEK_FOR_EACH_COMPLEX(DO) DO(c, std::complex<float>) DO(z, std::complex<double>)
#define CREEK_FOR_EACH_SCALAR(DO) CREEK_FOR_EACH_REAL(DO) CREEK_FOR_EACH_COMPLEX(DO)

namespace creek::linalg {

namespace detail {
template <class T>
struct real_of {
  using type = T;
};
template <class T>
struct real_of<std::complex<T>> {
  using type = T;
};
}  // namespace detail

/// The element types: float, double, and complex numbers of both.
#define CREEK_OR_SAME_AS(letter, type) || std::same_as<T, type>
template <class T>
concept scalar = false CREEK_FOR_EACH_SCALAR(CREEK_OR_SAME_AS);
#undef CREEK_OR_SAME_AS

/// Type of the magnitude of a T.
template <scalar T>
using real = typename detail::real_of<T>::type;

template <scalar T>
inline constexpr bool is_complex = !std::same_as<T, real<T>>;

}  // namespace creek::linalg
