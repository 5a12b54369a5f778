// SPDX-License-Identifier: Apache-2.0
#include "soak_case.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <span>
#include <vector>

#include <creek/linalg.hpp>
#include <creek/tasking/this_worker.hpp>

#include "random_matrix.hpp"
#include "soak_call.hpp"
#include "soak_judgement.hpp"
#include "soak_operands.hpp"
#include "soak_reference.hpp"
#include "support/process_facts.hpp"

namespace creek::linalg::testing {
namespace {

void* lapack_library() {
  // OpenBLAS's threads would be too many beside creek's workers, and sanitizers do not know them.
  static void* const library = [] {
    setenv("OPENBLAS_NUM_THREADS", "1", 0);
    return support::under_sanitizer ? nullptr : dlopen("liblapack.so.3", RTLD_NOW | RTLD_LOCAL);
  }();
  return library;
}

/// Draws the operands of one call, makes it and judges it.
template <scalar T>
class soak_case : soak_call<soak_case<T>, T> {
  using base = soak_call<soak_case<T>, T>;
  friend base;
  using base::d_;
  using base::say;

 public:
  explicit soak_case(dice& d) : base(d) {}

  finding run() {
    static constexpr typename base::entry all[] = {
        {"getrf", &soak_case::getrf_case}, {"potrf", &soak_case::potrf_case},
        {"geqrf", &soak_case::geqrf_case}, {"gels", &soak_case::gels_case},
        {"getri", &soak_case::getri_case}, {"trsm", &soak_case::trsm_case},
        {"gemm", &soak_case::gemm_case},   {"solve", &soak_case::solve_case},
        {"posv", &soak_case::posv_case}};
    return base::draw_from(all);
  }

 private:
  std::vector<index_t> places(index_t n) const {
    return std::vector<index_t>(static_cast<std::size_t>(n), -1);
  }

  double getrf_case() {
    const index_t m = d_.size(), n = d_.one_in(2) ? m : d_.size(), block = any_block(d_);
    padded<T> a(d_, m, n);
    fill(d_, a.view());
    const matrix<T> before = a.copy();
    auto pivots = places(std::min(m, n));
    say("{} x {}, leading {}, block {}", m, n, a.leading(), block);
    (void)getrf(a.view(), std::span(pivots), {.block = block});
    if (!a.is_whole()) return wrong;
    return lu_residual<T>(before.view(), std::as_const(a).view(), pivots, by_vectors);
  }

  double potrf_case() {
    const index_t n = d_.size(), block = any_block(d_);
    const triangle stored = any_triangle(d_);
    padded<T> a(d_, n, n);
    fill_definite(d_, a.view());
    const matrix<T> before = a.copy();
    say("{} x {}, leading {}, block {}, {}", n, n, a.leading(), block, static_cast<char>(stored));
    if (potrf(stored, a.view(), {.block = block}) != 0 || !a.is_whole()) return wrong;
    return cholesky_residual<T>(stored, before.view(), std::as_const(a).view(), by_vectors);
  }

  double geqrf_case() {
    const index_t m = d_.size(), n = d_.one_in(2) ? m : d_.size(), block = any_block(d_);
    padded<T> a(d_, m, n);
    fill(d_, a.view());
    const matrix<T> before = a.copy();
    std::vector<T> tau(static_cast<std::size_t>(std::min(m, n)));
    say("{} x {}, leading {}, block {}", m, n, a.leading(), block);
    geqrf(a.view(), std::span(tau), {.block = block});
    if (!a.is_whole()) return wrong;
    const auto reflectors = std::as_const(a).view().columns(0, std::min(m, n));
    const orthogonal_operator<T> q = [&](op how, matrix_view<T> x) {
      ormqr<T>(side::left, how, reflectors, std::span<const T>(tau), x);
    };
    return std::max(qr_residual<T>(before.view(), q, std::as_const(a).view(), by_vectors),
                    orthogonality<T>(m, q, by_vectors));
  }

  /// Checks that a least squares residual is orthogonal to the columns, a least norm residual zero.
  double gels_case() {
    const index_t m = d_.size(), n = d_.size(), rhs = 1 + d_.below(6), block = any_block(d_);
    const op how = any_op(d_, false);
    padded<T> a(d_, m, n), b(d_, std::max(m, n), rhs);
    fill(d_, a.view(), true);
    fill(d_, b.view());
    const matrix<T> A = applied(how, a.copy());
    const matrix<T> B(std::as_const(b).view().block(0, 0, A.rows(), rhs));
    say("{} {} x {}, {} right-hand sides, block {}", static_cast<char>(how), m, n, rhs, block);
    const index_t info = gels(how, a.view(), b.view(), {.block = block});
    if (info != 0 || !a.is_whole() || !b.is_whole()) return wrong;
    const matrix<T> X(std::as_const(b).view().block(0, 0, A.cols(), rhs));
    if (A.rows() <= A.cols()) return equation_error(A, X, B);
    return least_squares_error(A, X, B);
  }

  double getri_case() {
    const index_t n = d_.size();
    padded<T> a(d_, n, n);
    fill(d_, a.view());
    const matrix<T> before = a.copy();
    auto pivots = places(n);
    say("{} x {}, leading {}", n, n, a.leading());
    if (getrf(a.view(), std::span(pivots)) != 0) return 0;  // singular: nothing to invert
    if (getri(a.view(), std::span<const index_t>(pivots)) != 0 || !a.is_whole()) return wrong;
    const matrix<T> inverse = a.copy();
    // The columns of the inverse are solutions: the residual of each is small beside |A| |A^-1|.
    matrix<T> one(n, n);
    for (index_t i = 0; i < n; ++i) one(i, i) = T{1};
    gemm<T>(op::none, op::none, T{-1}, inverse, before, T{1}, one.view());
    const double size =
        norm_of<T>(norm::one, before.view()) * norm_of<T>(norm::one, inverse.view());
    return scaled<T>(norm_of<T>(norm::one, one.view()), size, n);
  }

  double trsm_case() {
    const side where = d_.one_in(2) ? side::left : side::right;
    const triangle stored = any_triangle(d_);
    const diagonal ones = d_.one_in(2) ? diagonal::unit : diagonal::stored;
    const op how = any_op(d_);
    const index_t n = d_.size(), others = d_.one_in(2) ? 1 + d_.below(9) : d_.size();
    padded<T> a(d_, n, n),
        b(d_, where == side::left ? n : others, where == side::left ? others : n);
    fill(d_, a.view(), true);
    for (index_t j = 0; j < n; ++j) {
      for (index_t i = 0; i < n; ++i) {
        if (i != j) a.view()(i, j) /= static_cast<real<T>>(n);  // otherwise solutions overflow
      }
      a.view()(j, j) += T{2};
    }
    fill(d_, b.view());
    const T alpha = d_.one_in(3) ? T{1} : draw<T>(d_);
    matrix<T> A = applied(how, only(stored, ones, a.copy()));
    matrix<T> B = sum<T>(alpha, b.copy(), T{}, b.copy());
    say("{} {} {} {}, {} x {} for {}", static_cast<char>(where), static_cast<char>(stored),
        static_cast<char>(how), static_cast<char>(ones), n, n, others);
    trsm<T>(where, stored, how, ones, alpha, a.view(), b.view());
    if (!a.is_whole() || !b.is_whole()) return wrong;
    if (where == side::left) return equation_error(A, b.copy(), B);
    return equation_error(applied(op::transpose, A), applied(op::transpose, b.copy()),
                          applied(op::transpose, B));
  }

  double gemm_case() {
    const index_t m = d_.size(), n = d_.size(), k = d_.size();
    const op how_a = any_op(d_), how_b = any_op(d_);
    padded<T> a(d_, how_a == op::none ? m : k, how_a == op::none ? k : m);
    padded<T> b(d_, how_b == op::none ? k : n, how_b == op::none ? n : k), c(d_, m, n);
    fill(d_, a.view());
    fill(d_, b.view());
    fill(d_, c.view());
    const T alpha = d_.one_in(3) ? T{1} : draw<T>(d_);
    const T beta = d_.one_in(3) ? T{0} : d_.one_in(2) ? T{1} : draw<T>(d_);
    const matrix<T> before = c.copy(), A = applied(how_a, a.copy()), B = applied(how_b, b.copy());
    say("{}{} {} x {} x {}", static_cast<char>(how_a), static_cast<char>(how_b), m, n, k);
    gemm<T>(how_a, how_b, alpha, a.view(), b.view(), beta, c.view());
    if (!a.is_whole() || !b.is_whole() || !c.is_whole()) return wrong;
    return product_error(d_, alpha, A, B, beta, before, c.copy());
  }

  /// Returns the errors of two solutions by the condition, or infinite.
  double beside_reference(const matrix<T>& A, const matrix<T>& B, const matrix<T>& X,
                          double rcond) {
    matrix<T> factors = A, expected = B;
    if (A.rows() == 0 || rcond < 1e3 * unit_roundoff<T> || !reference_solve(factors, expected)) {
      return 0;
    }
    const double apart = distance(X, expected) * rcond;
    return scaled<T>(apart, norm_of<T>(norm::max, expected.view()), 10 * A.rows());
  }

  double solve_case() {
    const index_t n = d_.size(), rhs = d_.one_in(8) ? d_.size() : 1 + d_.below(5);
    const index_t block = any_block(d_);
    const op how = any_op(d_);
    padded<T> a(d_, n, n), b(d_, n, rhs);
    fill(d_, a.view());
    fill(d_, b.view());
    const matrix<T> A = applied(how, a.copy()), B = b.copy();
    auto pivots = places(n);
    say("{} {} x {}, {} right-hand sides, block {}", static_cast<char>(how), n, n, rhs, block);
    const double anorm = norm_of<T>(norm::one, std::as_const(a).view());
    if (getrf(a.view(), std::span(pivots), {.block = block}) != 0) return 0;
    getrs<T>(how, a.view(), std::span<const index_t>(pivots), b.view());
    if (!a.is_whole() || !b.is_whole()) return wrong;
    const double rcond = gecon<T>(norm::one, std::as_const(a).view(), anorm);
    return std::max(equation_error(A, b.copy(), B), beside_reference(A, B, b.copy(), rcond));
  }

  double posv_case() {
    const index_t n = d_.size(), rhs = 1 + d_.below(5), block = any_block(d_);
    const triangle stored = any_triangle(d_);
    padded<T> a(d_, n, n), b(d_, n, rhs);
    fill_definite(d_, a.view());
    fill(d_, b.view());
    const matrix<T> A = a.copy(), B = b.copy();
    say("{} x {}, {} right-hand sides, block {}, {}", n, n, rhs, block, static_cast<char>(stored));
    if (posv(stored, a.view(), b.view(), {.block = block}) != 0) return wrong;
    if (!a.is_whole() || !b.is_whole()) return wrong;
    const double rcond = pocon<T>(stored, std::as_const(a).view(), norm_of<T>(norm::one, A.view()));
    return std::max(equation_error(A, b.copy(), B), beside_reference(A, B, b.copy(), rcond));
  }
};

}  // namespace

finding run_case(std::uint64_t seed) {
  dice d(seed);
  if (d.one_in(4)) return run_tile_case(d);
  switch (d.below(4)) {
    case 0:
      return soak_case<float>(d).run();
    case 1:
      return soak_case<double>(d).run();
    case 2:
      return soak_case<std::complex<float>>(d).run();
    default:
      return soak_case<std::complex<double>>(d).run();
  }
}

void* reference_routine(const std::string& name) {
  return lapack_library() == nullptr ? nullptr : dlsym(lapack_library(), (name + "_").c_str());
}

std::string reference_lapack() {
  Dl_info where{};
  void* const routine = reference_routine("dgesv");
  return routine != nullptr && dladdr(routine, &where) != 0 ? where.dli_fname : "";
}

}  // namespace creek::linalg::testing
