// SPDX-License-Identifier: Apache-2.0
// Random calls of algorithms by blocks, on matrices of tiles.

#include <numeric>
#include <span>
#include <utility>

#include <creek/linalg.hpp>

#include "random_matrix.hpp"
#include "soak_call.hpp"
#include "soak_judgement.hpp"
#include "soak_operands.hpp"
#include "soak_reference.hpp"

namespace creek::linalg::testing {
namespace {

template <scalar T>
matrix<T> columns_of(const tile_matrix<T>& tiles) {
  matrix<T> result(tiles.rows(), tiles.cols());
  tiles.copy_to(result.view());
  return result;
}

template <scalar T>
class tile_case : soak_call<tile_case<T>, T> {
  using base = soak_call<tile_case<T>, T>;
  friend base;
  using base::d_;
  using base::say;

 public:
  explicit tile_case(dice& d) : base(d) {}

  finding run() {
    static constexpr typename base::entry all[] = {
        {"tile_lu", &tile_case::lu_case},    {"tile_qr", &tile_case::qr_case},
        {"t.potrf", &tile_case::potrf_case}, {"t.nopiv", &tile_case::nopiv_case},
        {"t.trsm", &tile_case::trsm_case},   {"t.gemm", &tile_case::gemm_case}};
    return base::draw_from(all);
  }

 private:
  /// Returns a size for about ten tiles or fewer along the longer side: tasks grow as their cube.
  index_t common_tile_size(index_t longest) {
    return longest / 10 + 1 + d_.below(d_.one_in(2) ? 8 : longest + 1);
  }
  /// Returns such a size, or 0 for the default of a matrix alone.
  index_t tile_size(index_t longest) { return d_.one_in(8) ? 0 : common_tile_size(longest); }
  matrix<T> drawn(index_t rows, index_t cols) {
    matrix<T> result(rows, cols);
    fill(d_, result.view(), true);
    return result;
  }

  double lu_case() {
    const index_t n = d_.size(), rhs = 1 + d_.below(5), tile = tile_size(n);
    const op how = any_op(d_);
    const matrix<T> A = drawn(n, n), B = drawn(n, rhs);
    say("{} {} x {}, tile {}, {} right-hand sides", static_cast<char>(how), n, n, tile, rhs);
    const tile_lu<T> factors(tile_matrix<T>(A.view(), tile));
    if (factors.info() != 0) return 0;
    return equation_error(applied(how, A), factors.solve(B, how), B);
  }

  double qr_case() {
    const index_t m = d_.size(), n = d_.below(m + 1), rhs = 1 + d_.below(5), tile = tile_size(m);
    const auto tree = d_.one_in(2) ? reduction_tree::flat : reduction_tree::binary;
    const matrix<T> A = drawn(m, n), B = drawn(m, rhs);
    say("{} x {}, tile {}, {} tree, {} right-hand sides", m, n, tile,
        tree == reduction_tree::flat ? "flat" : "binary", rhs);
    const tile_qr<T> factors(tile_matrix<T>(A.view(), tile), {.tree = tree});
    if (factors.info() != 0) return 0;
    const matrix<T> X = factors.solve(B);
    return m == n ? equation_error(A, X, B) : least_squares_error(A, X, B);
  }

  double potrf_case() {
    const index_t n = d_.size(), tile = tile_size(n);
    const triangle stored = any_triangle(d_);
    matrix<T> A(n, n);
    fill_definite(d_, A.view());
    tile_matrix<T> tiles(A.view(), tile);
    say("{} x {}, tile {}, {}", n, n, tile, static_cast<char>(stored));
    if (potrf(stored, tiles.view()) != 0) return wrong;
    const matrix<T> factor = columns_of(tiles);
    return cholesky_residual<T>(stored, std::as_const(A).view(), factor.view(), by_vectors);
  }

  double nopiv_case() {
    const index_t n = d_.size(), tile = tile_size(n);
    const matrix<T> A = generate<T>({.kind = matrix_kind::dominant, .seed = d_.seed()}, n, n);
    tile_matrix<T> tiles(A.view(), tile);
    say("{} x {}, tile {}", n, n, tile);
    if (getrf_nopiv(tiles.view()) != 0) return wrong;
    std::vector<index_t> in_place(static_cast<std::size_t>(n));
    std::iota(in_place.begin(), in_place.end(), index_t{0});
    const matrix<T> factors = columns_of(tiles);
    return lu_residual<T>(A.view(), factors.view(), std::span<const index_t>(in_place), by_vectors);
  }

  double trsm_case() {
    const side where = d_.one_in(2) ? side::left : side::right;
    const triangle stored = any_triangle(d_);
    const diagonal ones = d_.one_in(2) ? diagonal::unit : diagonal::stored;
    const op how = any_op(d_);
    const index_t n = d_.size(), others = 1 + d_.below(d_.one_in(2) ? 9 : 300);
    const index_t tile = common_tile_size(std::max(n, others));
    matrix<T> a = drawn(n, n);
    for (index_t j = 0; j < n; ++j) {
      for (index_t i = 0; i < n; ++i) a(i, j) /= static_cast<real<T>>(n);
      a(j, j) += T{2};
    }
    const bool left = where == side::left;
    const matrix<T> B = drawn(left ? n : others, left ? others : n);
    say("{} {} {} {}, {} x {} for {}, tile {}", static_cast<char>(where), static_cast<char>(stored),
        static_cast<char>(how), static_cast<char>(ones), n, n, others, tile);
    const tile_matrix<T> A(a.view(), tile);
    tile_matrix<T> X(B.view(), tile);
    trsm(where, stored, how, ones, T{1}, A, X.view());
    matrix<T> triangular = only(stored, ones, a);
    if (ones == diagonal::unit) {
      for (index_t i = 0; i < n; ++i) triangular(i, i) = T{1};
    }
    const matrix<T> whole = applied(how, triangular), x = columns_of(X);
    if (left) return equation_error(whole, x, B);
    return equation_error(applied(op::transpose, whole), applied(op::transpose, x),
                          applied(op::transpose, B));
  }

  double gemm_case() {
    const index_t m = d_.size(), n = d_.size(), k = d_.size();
    const op how_a = any_op(d_), how_b = any_op(d_);
    const index_t tile = common_tile_size(std::max({m, n, k}));
    const matrix<T> a = how_a == op::none ? drawn(m, k) : drawn(k, m);
    const matrix<T> b = how_b == op::none ? drawn(k, n) : drawn(n, k), before = drawn(m, n);
    const T alpha = draw<T>(d_), beta = d_.one_in(3) ? T{0} : draw<T>(d_);
    say("{}{} {} x {} x {}, tile {}", static_cast<char>(how_a), static_cast<char>(how_b), m, n, k,
        tile);
    const tile_matrix<T> A(a.view(), tile), B(b.view(), tile);
    tile_matrix<T> C(before.view(), tile);
    gemm(how_a, how_b, alpha, A, B, beta, C.view());
    return product_error(d_, alpha, applied(how_a, a), applied(how_b, b), beta, before,
                         columns_of(C));
  }
};

}  // namespace

finding run_tile_case(dice& d) {
  switch (d.below(4)) {
    case 0:
      return tile_case<float>(d).run();
    case 1:
      return tile_case<double>(d).run();
    case 2:
      return tile_case<std::complex<float>>(d).run();
    default:
      return tile_case<std::complex<double>>(d).run();
  }
}

}  // namespace creek::linalg::testing
