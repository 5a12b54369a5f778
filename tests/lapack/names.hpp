// SPDX-License-Identifier: Apache-2.0
// Calls the library under test by name, as programs in C and Fortran do: CREEK_LAPACK_LIBRARY is
// its file, CREEK_LAPACK_ILP64 says which integers it uses.
#pragma once

#include <gtest/gtest.h>

#include <dlfcn.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "linalg/random_matrix.hpp"

namespace creek::lapack::testing {

using namespace linalg::testing;
using linalg::index_t;
using linalg::is_complex;
using linalg::matrix;
using linalg::real;
using linalg::scalar;

#ifdef CREEK_LAPACK_ILP64
using blas_int = std::int64_t;
#else
using blas_int = std::int32_t;
#endif

/// The end of the names of all functions.
#ifndef CREEK_LAPACK_SUFFIX
#define CREEK_LAPACK_SUFFIX ""
#endif

constexpr int row_major = 101;
constexpr int col_major = 102;

template <scalar T>
constexpr char letter = std::is_same_v<T, float>                 ? 's'
                        : std::is_same_v<T, double>              ? 'd'
                        : std::is_same_v<T, std::complex<float>> ? 'c'
                                                                 : 'z';

inline void* symbol(const std::string& name) {
  static void* const library = dlopen(CREEK_LAPACK_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(dlerror());
  void* const found = dlsym(library, (name + CREEK_LAPACK_SUFFIX).c_str());
  if (found == nullptr) throw std::runtime_error(name + " is not exported");
  return found;
}

/// Converts a number to the library's type: every integer becomes a blas_int.
template <class A>
auto converted(A a) {
  if constexpr (std::is_integral_v<A> && !std::is_same_v<A, char>) {
    return static_cast<blas_int>(a);
  } else {
    return a;
  }
}

template <class A>
auto by_address(A& a) {
  if constexpr (std::is_pointer_v<A>) {
    return a;
  } else {
    return const_cast<const A*>(&a);
  }
}

/// Calls a function as Fortran does: numbers by address, pointers as they are.
template <class... A>
void by_fortran(void* called, A... given) {
  auto arguments = std::make_tuple(converted(given)...);
  std::apply(
      [&](auto&... each) {
        using function = void(decltype(by_address(each))...);
        reinterpret_cast<function*>(called)(by_address(each)...);
      },
      arguments);
}
/// Calls NAME_ with the letter of T before it.
template <scalar T, class... A>
void fortran(const std::string& name, A... given) {
  by_fortran(symbol(letter<T> + name + '_'), given...);
}

/// Does the same for routines whose last argument is info, and returns info.
template <scalar T, class... A>
blas_int lapack(const std::string& name, A... given) {
  blas_int info = 77;
  fortran<T>(name, given..., &info);
  return info;
}

/// Calls a routine whose last arguments are a workspace and info: queries the best length, and
/// calls with the minimum that LAPACK allows.
template <scalar T, class... A>
blas_int lapack_with_work(const std::string& name, index_t least, A... given) {
  T best{};
  const blas_int asked = lapack<T>(name, given..., &best, -1);
  if (asked != 0) return asked;
  EXPECT_GE(std::real(best), std::max<index_t>(1, least)) << name;
  std::vector<T> work(static_cast<std::size_t>(std::max<index_t>(1, least)));
  return lapack<T>(name, given..., work.data(), work.size());
}

/// Returns "ormqr" for real, "unmqr" for complex numbers; similarly for gqr.
template <scalar T>
std::string of_q(const char* what) {
  return (is_complex<T> ? "un" : "or") + std::string(what);
}
/// Returns the letter of the (conjugate) transpose for routines of Q.
template <scalar T>
constexpr char adjoint = is_complex<T> ? 'C' : 'T';

/// Calls PREFIX + letter of T + NAME, with numbers by value.
template <scalar T, class Result = blas_int, class... A>
Result c_function(const std::string& prefix, const std::string& name, A... given) {
  using function = Result(decltype(converted(given))...);
  return reinterpret_cast<function*>(symbol(prefix + letter<T> + name))(converted(given)...);
}
template <scalar T, class... A>
blas_int lapacke(const std::string& name, A... given) {
  return c_function<T>("LAPACKE_", name, given...);
}
template <scalar T, class... A>
void cblas(const std::string& name, A... given) {
  c_function<T, void>("cblas_", name, given...);
}

/// Returns a scalar as an argument of CBLAS.
template <scalar T>
auto c_value(const T& x) {
  if constexpr (is_complex<T>) {
    return static_cast<const void*>(&x);
  } else {
    return x;
  }
}

/// Returns the matrix in the other layout: its transpose.
template <scalar T>
matrix<T> turned(const matrix<T>& a) {
  return applied(linalg::op::transpose, a);
}

template <scalar T>
blas_int ld(const matrix<T>& a) {
  return static_cast<blas_int>(a.leading());
}

/// Returns a well conditioned matrix: the diagonal outweighs the rest.
template <scalar T>
matrix<T> random_regular(index_t n, std::mt19937& random) {
  matrix<T> a = random_matrix<T>(n, n, random);
  for (index_t i = 0; i < n; ++i) a(i, i) += static_cast<real<T>>(n) / 4;
  return a;
}

/// Returns A A^H + n for a random A.
template <scalar T>
matrix<T> random_definite(index_t n, std::mt19937& random) {
  const matrix<T> a = random_matrix<T>(n, n, random);
  matrix<T> c = product(a, applied(linalg::op::conjugate_transpose, a));
  for (index_t i = 0; i < n; ++i) c(i, i) = std::real(c(i, i)) + static_cast<real<T>>(n);
  return c;
}

/// Returns the largest rounding error of results of magnitude 1 that are n-fold sums.
template <scalar T>
double tolerance(index_t n) {
  return 200 * eps<T> * static_cast<double>(n + 1);
}

}  // namespace creek::lapack::testing
