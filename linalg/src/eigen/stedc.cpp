// SPDX-License-Identifier: Apache-2.0
// LAPACK's routines for symmetric tridiagonal matrices.
#include <creek/linalg/eigen.hpp>

#include <algorithm>
#include <vector>

#include "blas3/workers.hpp"
#include "checks.hpp"
#include "divide_and_conquer.hpp"
#include "kernels/product.hpp"
#include "scaling.hpp"

namespace creek::linalg {

using namespace detail;

template <class R>
index_t sterf(std::span<R> d, std::span<R> e) {
  const auto n = static_cast<index_t>(d.size());
  require(static_cast<index_t>(e.size()) >= n - 1, "sterf", "e must have n - 1 elements");
  if (n == 0) return 0;
  return solve_scaled(tridiagonal<R>{n, d.data(), e.data()},
                      [](const tridiagonal<R>& t) { return root_free_ql(t); });
}

namespace detail {
namespace {

/// Z becomes Z times the vectors, by QL.
template <scalar T>
index_t solve_small(const tridiagonal<real<T>>& given, matrix_view<T> Z) {
  using R = real<T>;
  return solve_scaled(given, [&](const tridiagonal<R>& t) {
    R scratch[2 * small_eigen];
    const index_t info = implicit_ql(t, columns_of(Z), scratch);
    if (info == 0) sort_pairs(t.d, Z);
    return info;
  });
}

}  // namespace
}  // namespace detail

template <scalar T>
index_t stedc(std::span<real<T>> d, std::span<real<T>> e, matrix_view<T> Z, bool from_identity) {
  using R = real<T>;
  const auto n = static_cast<index_t>(d.size());
  require(static_cast<index_t>(e.size()) >= n - 1, "stedc", "e must have n - 1 elements");
  require(Z.cols() == n && (!from_identity || Z.rows() == n), "stedc",
          "Z must have a column per eigenvalue");
  if (n == 0) return 0;
  const tridiagonal<R> given{n, d.data(), e.data()};
  if (n <= small_eigen) {
    if (from_identity) set_identity(Z);
    return solve_small(given, Z);
  }
  divide_and_conquer<R> solver(n);
  const index_t info =
      solve_scaled(given, [&](const tridiagonal<R>& t) { return solver.find_sorted(t); });
  if (info != 0) return info;
  solver.find_vectors(0, n);
  const auto vectors = solver.vectors();
  const auto copy_to = [&](matrix_view<T> to) {
    for (index_t k = 0; k < n; ++k) {
      std::copy_n(vectors.column(solver.column_of(k)), n, to.column(k));
    }
  };
  if (from_identity) {
    copy_to(Z);
    return 0;
  }
  const matrix<T> before{const_view<T>(Z)};
  matrix<T> factor(n, n);
  copy_to(factor.view());
  gemm(op::none, op::none, T{1}, before.view(), factor.view(), T{}, Z);
  return 0;
}

#define CREEK_INSTANTIATE(letter, T) \
  template index_t stedc<T>(std::span<real<T>>, std::span<real<T>>, matrix_view<T>, bool);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE
#define CREEK_INSTANTIATE(letter, R) template index_t sterf<R>(std::span<R>, std::span<R>);
CREEK_FOR_EACH_REAL(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg
