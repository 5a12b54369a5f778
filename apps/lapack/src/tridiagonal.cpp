// SPDX-License-Identifier: Apache-2.0
// sytrd, orgtr and ormtr, for complex numbers hetrd, ungtr and unmtr; stedc, steqr and sterf.
#include <creek/linalg/eigen.hpp>

#include <cmath>
#include <span>

#include "eigen_space.hpp"
#include "exports.hpp"
#include "workers.hpp"

namespace creek::lapack {
namespace {

/// Sterf has no layout.
constexpr int layout_number = static_cast<int>(layout::columns);

template <class T>
std::span<T> span_of(T* data, blas_int n) {
  return {data, static_cast<std::size_t>(std::max<blas_int>(0, n))};
}

template <scalar T>
blas_int hetrd(char uplo, blas_int n, T* a, blas_int lda, real<T>* d, real<T>* e, T* tau,
               const workspace<T>& space) {
  const auto stored = parse_triangle(uplo);
  if (!stored) return -1;
  if (n < 0) return -2;
  if (!holds(lda, n, n)) return -4;
  if (!space.holds(1)) return -9;
  if (space.tell_length(lapack_reduction_block * n, 1) || n == 0) return 0;
  on_workers(cost<T>(eigen_flops(linalg::eigen_job::values, n)), [&] {
    linalg::hetrd(*stored, matrix_view<T>(a, n, n, lda), span_of(d, n), span_of(e, n - 1),
                  span_of(tau, n - 1));
  });
  return 0;
}

template <scalar T>
blas_int orgtr(char uplo, blas_int n, T* a, blas_int lda, const T* tau, const workspace<T>& space) {
  const auto stored = parse_triangle(uplo);
  if (!stored) return -1;
  if (n < 0) return -2;
  if (!holds(lda, n, n)) return -4;
  const index_t least = std::max<index_t>(1, index_t{n} - 1);
  if (!space.holds(least)) return -7;
  const double best = lapack_reduction_block * static_cast<double>(least);
  if (space.tell_length(best, least) || n == 0) return 0;
  on_workers(cost<T>(4.0 / 3 * n * n * n),
             [&] { linalg::orgtr(*stored, matrix_view<T>(a, n, n, lda), span_of(tau, n - 1)); });
  return 0;
}

template <scalar T>
blas_int ormtr(char where, char uplo, char trans, blas_int m, blas_int n, const T* a, blas_int lda,
               const T* tau, T* c, blas_int ldc, const workspace<T>& space) {
  const auto on = parse_side(where);
  const auto stored = parse_triangle(uplo);
  const auto how = parse_adjoint<T>(trans);
  if (!on) return -1;
  if (!stored) return -2;
  if (!how) return -3;
  if (m < 0) return -4;
  if (n < 0) return -5;
  const blas_int order = *on == side::left ? m : n, width = *on == side::left ? n : m;
  if (!holds(lda, order, order)) return -7;
  if (!holds(ldc, m, n)) return -10;
  const index_t least = std::max<index_t>(1, width);
  if (!space.holds(least)) return -12;
  const bool nothing = m == 0 || n == 0 || order == 1;
  const double best = lapack_reduction_block * static_cast<double>(least);
  if (space.tell_length(best, least) || nothing) return 0;
  on_workers(cost<T>(2.0 * order * order * width), [&] {
    linalg::ormtr(*on, *stored, *how, const_view<T>(a, order, order, lda), span_of(tau, order - 1),
                  matrix_view<T>(c, m, n, ldc));
  });
  return 0;
}

/// The vectors that stedc and steqr compute: none, those of T, or those of the matrix whose
/// reduction Z holds.
enum class of_tridiagonal : char { none = 'N', identity = 'I', given = 'V' };

std::optional<of_tridiagonal> parse_tridiagonal_vectors(char letter) noexcept {
  const auto some = parse_letter(letter, of_tridiagonal::identity, of_tridiagonal::given);
  return some ? some : parse_letter(letter, of_tridiagonal::none, of_tridiagonal::none);
}

template <scalar T>
blas_int check_tridiagonal(char compz, blas_int n, blas_int ldz) {
  const auto vectors = parse_tridiagonal_vectors(compz);
  if (!vectors) return -1;
  if (n < 0) return -2;
  return ldz < 1 || (*vectors != of_tridiagonal::none && ldz < n) ? -6 : 0;
}

template <scalar T>
blas_int solve_tridiagonal(of_tridiagonal vectors, blas_int n, real<T>* d, real<T>* e, T* z,
                           blas_int ldz) {
  if (n == 0) return 0;
  if (vectors == of_tridiagonal::none) {
    return static_cast<blas_int>(linalg::sterf(span_of(d, n), span_of(e, n - 1)));
  }
  const bool from_identity = vectors == of_tridiagonal::identity;
  const double products = (4.0 / 3 + (from_identity ? 0 : 2)) * n * n * n;
  const index_t info = on_workers(from_identity ? products : cost<T>(products), [&] {
    return linalg::stedc<T>(span_of(d, n), span_of(e, n - 1), matrix_view<T>(z, n, n, ldz),
                            from_identity);
  });
  return static_cast<blas_int>(info);
}

/// Lengths of stedc, which LAPACK derives from the depth of its recursion.
template <scalar T>
space_lengths stedc_lengths(of_tridiagonal vectors, double n) {
  constexpr double undivided = 25;
  space_lengths need{1, 1, 1, 1};
  if (n <= 1 || vectors == of_tridiagonal::none) return need;
  const bool given = vectors == of_tridiagonal::given;
  double& reals_needed = is_complex<T> ? need.rwork : need.work;
  if (n <= undivided) {
    reals_needed = 2 * (n - 1);
  } else {
    const double depth = std::ceil(std::log2(n));
    reals_needed = given           ? 1 + 3 * n + 2 * n * depth + 4 * n * n
                   : is_complex<T> ? 1 + 4 * n + 2 * n * n
                                   : 1 + 4 * n + n * n;
    need.iwork = given ? 6 + 6 * n + 5 * n * depth : 3 + 5 * n;
    if (is_complex<T> && given) need.work = n * n;
  }
  need.best_work = need.work;
  return need;
}

template <scalar T>
blas_int stedc(char compz, blas_int n, real<T>* d, real<T>* e, T* z, blas_int ldz,
               const eigen_space<T>& space) {
  if (const blas_int bad = check_tridiagonal<T>(compz, n, ldz)) return bad;
  const of_tridiagonal vectors = *parse_tridiagonal_vectors(compz);
  const space_lengths need = stedc_lengths<T>(vectors, n);
  if (const blas_int bad = space.check(need, 8)) return bad;
  if (space.tell(need)) return 0;
  if (n == 1 && vectors != of_tridiagonal::none) *z = T{1};  // LAPACK's, also of a given matrix
  return solve_tridiagonal(vectors, n, d, e, z, ldz);
}

template <scalar T>
blas_int steqr(char compz, blas_int n, real<T>* d, real<T>* e, T* z, blas_int ldz) {
  if (const blas_int bad = check_tridiagonal<T>(compz, n, ldz)) return bad;
  return solve_tridiagonal(*parse_tridiagonal_vectors(compz), n, d, e, z, ldz);
}

template <class R>
blas_int sterf(blas_int n, R* d, R* e) {
  return n < 0 ? -1 : solve_tridiagonal<R>(of_tridiagonal::none, n, d, e, nullptr, 1);
}

template <scalar T>
blas_int c_hetrd(const c_call& how, char uplo, blas_int n, T* a, blas_int lda, real<T>* d,
                 real<T>* e, T* tau, const workspace<T>& space) {
  return c_interface(
      how, [&](const operand<T>& A) { return hetrd(uplo, n, A.data, A.leading, d, e, tau, space); },
      operand<T>{a, n, n, lda, 4, region::of_triangle(uplo)});
}

template <scalar T>
blas_int c_orgtr(const c_call& how, char uplo, blas_int n, T* a, blas_int lda, const T* tau,
                 const workspace<T>& space) {
  return c_interface(
      how,
      [&](const operand<T>& A, const operand<T>& t) {
        return orgtr<T>(uplo, n, A.data, A.leading, t.data, space);
      },
      operand<T>{a, n, n, lda, 4}, read_only_vector(how.given_layout, tau, n - 1, 6));
}

template <scalar T>
blas_int c_ormtr(const c_call& how, char where, char uplo, char trans, blas_int m, blas_int n,
                 const T* a, blas_int lda, const T* tau, T* c, blas_int ldc,
                 const workspace<T>& space) {
  const blas_int order = parse_side(where) == side::left ? m : n;
  return c_interface(
      how,
      [&](const operand<T>& A, const operand<T>& C, const operand<T>& t) {
        return ormtr<T>(where, uplo, trans, m, n, A.data, A.leading, t.data, C.data, C.leading,
                        space);
      },
      read_only(a, order, order, lda, 7, region::of_triangle(uplo)), operand<T>{c, m, n, ldc, 10},
      read_only_vector(how.given_layout, tau, order - 1, 9));
}

/// Returns 0, or LAPACKE's code for a NaN in d or e.
template <class R>
blas_int check_nan(const c_call& how, blas_int n, const R* d, const R* e, blas_int before) {
  if (!how.upper_form || !nan_check_wanted()) return 0;
  const auto is_odd = [](R x) { return std::isnan(x); };
  if (std::any_of(d, d + std::max<blas_int>(0, n), is_odd)) return -(before + 1);
  return std::any_of(e, e + std::max<blas_int>(0, n - 1), is_odd) ? -(before + 2) : 0;
}

/// Calls f(Z), where Z is not touched without vectors and only written if those of T are wanted.
template <scalar T, class F>
blas_int c_tridiagonal(const c_call& how, char compz, blas_int n, const real<T>* d,
                       const real<T>* e, T* z, blas_int ldz, F f) {
  if (!parse_layout(how.given_layout)) return how.refuse(-1, how.upper_form);
  if (const blas_int bad = check_nan(how, n, d, e, 3)) return bad;
  const auto vectors = parse_tridiagonal_vectors(compz);
  const bool some = vectors.has_value() && *vectors != of_tridiagonal::none;
  operand<T> Z{z, some ? n : 0, some ? n : 0, ldz, 6};
  if (vectors != of_tridiagonal::given) {
    Z.part = {false, false, false};
    Z.result = region{};
  }
  return c_interface(
      how, [&](const operand<T>& columns) { return f(columns.data, columns.leading); }, Z);
}

template <scalar T>
blas_int c_stedc(const c_call& how, char compz, blas_int n, real<T>* d, real<T>* e, T* z,
                 blas_int ldz, const eigen_space<T>& space) {
  return c_tridiagonal<T>(how, compz, n, d, e, z, ldz, [&](T* columns, blas_int leading) {
    return stedc<T>(compz, n, d, e, columns, leading, space);
  });
}

template <scalar T>
blas_int c_steqr(const c_call& how, char compz, blas_int n, real<T>* d, real<T>* e, T* z,
                 blas_int ldz) {
  return c_tridiagonal<T>(how, compz, n, d, e, z, ldz, [&](T* columns, blas_int leading) {
    return steqr<T>(compz, n, d, e, columns, leading);
  });
}

template <class R>
blas_int c_sterf(const c_call& how, blas_int n, R* d, R* e) {
  if (const blas_int bad = check_nan(how, n, d, e, 1)) return bad;
  const blas_int info = sterf(n, d, e);
  if (info < 0) report_argument(how.inner_entry(), static_cast<int>(-info));
  return info;
}

}  // namespace
}  // namespace creek::lapack

using namespace creek::lapack;

#define CREEK_DEFINE(TRD, GROUP, T, R)                                                             \
  CREEK_LAPACK(TRD,                                                                                \
               (const char* uplo, in_int n, T* a, in_int lda, R* d, R* e, T* tau, T* work,         \
                in_int lwork, blas_int* info),                                                     \
               hetrd(*uplo, *n, a, *lda, d, e, tau, workspace<T>(work, *lwork)))                   \
  CREEK_LAPACKE_WITH_WORK(                                                                         \
      TRD, T, (int layout_number, char uplo, blas_int n, T* a, blas_int lda, R* d, R* e, T* tau),  \
      c_hetrd(how, uplo, n, a, lda, d, e, tau, space))                                             \
  CREEK_LAPACK(GROUP##gtr,                                                                         \
               (const char* uplo, in_int n, T* a, in_int lda, const T* tau, T* work, in_int lwork, \
                blas_int* info),                                                                   \
               orgtr(*uplo, *n, a, *lda, tau, workspace<T>(work, *lwork)))                         \
  CREEK_LAPACKE_WITH_WORK(                                                                         \
      GROUP##gtr, T, (int layout_number, char uplo, blas_int n, T* a, blas_int lda, const T* tau), \
      c_orgtr(how, uplo, n, a, lda, tau, space))                                                   \
  CREEK_LAPACK(                                                                                    \
      GROUP##mtr,                                                                                  \
      (const char* where, const char* uplo, const char* trans, in_int m, in_int n, const T* a,     \
       in_int lda, const T* tau, T* c, in_int ldc, T* work, in_int lwork, blas_int* info),         \
      ormtr(*where, *uplo, *trans, *m, *n, a, *lda, tau, c, *ldc, workspace<T>(work, *lwork)))     \
  CREEK_LAPACKE_WITH_WORK(                                                                         \
      GROUP##mtr, T,                                                                               \
      (int layout_number, char where, char uplo, char trans, blas_int m, blas_int n, const T* a,   \
       blas_int lda, const T* tau, T* c, blas_int ldc),                                            \
      c_ormtr(how, where, uplo, trans, m, n, a, lda, tau, c, ldc, space))
CREEK_DEFINE(ssytrd, sor, float, float)
CREEK_DEFINE(dsytrd, dor, double, double)
CREEK_DEFINE(chetrd, cun, std::complex<float>, float)
CREEK_DEFINE(zhetrd, zun, std::complex<double>, double)
#undef CREEK_DEFINE

#define CREEK_DEFINE(x, T)                                                                       \
  CREEK_LAPACK(x##steqr,                                                                         \
               (const char* compz, in_int n, real<T>* d, real<T>* e, T* z, in_int ldz, real<T>*, \
                blas_int* info),                                                                 \
               steqr<T>(*compz, *n, d, e, z, *ldz))                                              \
  CREEK_LAPACKE_FORM(                                                                            \
      x##steqr, ,                                                                                \
      (int layout_number, char compz, blas_int n, real<T>* d, real<T>* e, T* z, blas_int ldz),   \
      true, false, return c_steqr<T>(how, compz, n, d, e, z, ldz);)                              \
  CREEK_LAPACKE_FORM(x##steqr, _work,                                                            \
                     (int layout_number, char compz, blas_int n, real<T>* d, real<T>* e, T* z,   \
                      blas_int ldz, real<T>*),                                                   \
                     false, false, return c_steqr<T>(how, compz, n, d, e, z, ldz);)              \
  CREEK_LAPACKE_FORM(                                                                            \
      x##stedc, ,                                                                                \
      (int layout_number, char compz, blas_int n, real<T>* d, real<T>* e, T* z, blas_int ldz),   \
      true, false, return c_stedc<T>(how, compz, n, d, e, z, ldz, eigen_space<T>());)
CREEK_FOR_EACH_SCALAR(CREEK_DEFINE)
#undef CREEK_DEFINE

#define CREEK_DEFINE(x, R)                                                                        \
  CREEK_LAPACK(x##sterf, (in_int n, R * d, R * e, blas_int * info), sterf(*n, d, e))              \
  CREEK_LAPACKE_FORM(x##sterf, , (blas_int n, R * d, R * e), true, false,                         \
                     return c_sterf(how, n, d, e);)                                               \
  CREEK_LAPACKE_FORM(x##sterf, _work, (blas_int n, R * d, R * e), false, false,                   \
                     return c_sterf(how, n, d, e);)                                               \
  CREEK_LAPACK(x##stedc,                                                                          \
               (const char* compz, in_int n, R* d, R* e, R* z, in_int ldz, R* work, in_int lwork, \
                blas_int* iwork, in_int liwork, blas_int* info),                                  \
               stedc<R>(*compz, *n, d, e, z, *ldz, eigen_space<R>(work, *lwork, iwork, *liwork))) \
  CREEK_LAPACKE_FORM(                                                                             \
      x##stedc, _work,                                                                            \
      (int layout_number, char compz, blas_int n, R* d, R* e, R* z, blas_int ldz, R* work,        \
       blas_int lwork, blas_int* iwork, blas_int liwork),                                         \
      false, lwork == -1 || liwork == -1,                                                         \
      return c_stedc<R>(how, compz, n, d, e, z, ldz, eigen_space<R>(work, lwork, iwork, liwork));)
CREEK_FOR_EACH_REAL(CREEK_DEFINE)
#undef CREEK_DEFINE

#define CREEK_DEFINE(x, R)                                                                      \
  CREEK_LAPACK(x##stedc,                                                                        \
               (const char* compz, in_int n, R* d, R* e, std::complex<R>* z, in_int ldz,        \
                std::complex<R>* work, in_int lwork, R* rwork, in_int lrwork, blas_int* iwork,  \
                in_int liwork, blas_int* info),                                                 \
               stedc<std::complex<R>>(                                                          \
                   *compz, *n, d, e, z, *ldz,                                                   \
                   eigen_space<std::complex<R>>(work, *lwork, rwork, *lrwork, iwork, *liwork))) \
  CREEK_LAPACKE_FORM(                                                                           \
      x##stedc, _work,                                                                          \
      (int layout_number, char compz, blas_int n, R* d, R* e, std::complex<R>* z, blas_int ldz, \
       std::complex<R>* work, blas_int lwork, R* rwork, blas_int lrwork, blas_int* iwork,       \
       blas_int liwork),                                                                        \
      false, lwork == -1 || lrwork == -1 || liwork == -1,                                       \
      return c_stedc<std::complex<R>>(                                                          \
          how, compz, n, d, e, z, ldz,                                                          \
          eigen_space<std::complex<R>>(work, lwork, rwork, lrwork, iwork, liwork));)
CREEK_DEFINE(c, float)
CREEK_DEFINE(z, double)
#undef CREEK_DEFINE
