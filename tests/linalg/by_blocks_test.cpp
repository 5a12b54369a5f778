// SPDX-License-Identifier: Apache-2.0
// Algorithms by blocks against the column-major forms: random shapes, tiles that do not divide
// them, all sides, triangles and operands; on workers and outside a runtime; several operations in
// one graph.
#include <creek/linalg/by_blocks.hpp>

#include <gtest/gtest.h>

#include <creek/core/error.hpp>
#include <creek/host.hpp>
#include <creek/linalg/cholesky.hpp>
#include <creek/linalg/inverse.hpp>
#include <creek/tasking/runtime.hpp>

#include "random_matrix.hpp"

namespace creek::linalg {
namespace {

using testing::distance;
using testing::random_matrix;
using testing::random_scalar;

constexpr side sides[] = {side::left, side::right};
constexpr triangle triangles[] = {triangle::lower, triangle::upper};
constexpr op ops[] = {op::none, op::transpose, op::conjugate_transpose};
constexpr diagonal diagonals[] = {diagonal::stored, diagonal::unit};

template <scalar T>
matrix<T> whole(const tile_matrix<T>& tiles) {
  matrix<T> A(tiles.rows(), tiles.cols());
  tiles.copy_to(A);
  return A;
}

/// Matrices of one random case.
template <scalar T>
class by_blocks : public ::testing::Test {
 protected:
  index_t size() { return std::uniform_int_distribution<index_t>(0, 40)(random_); }
  T factor_of_case() {
    switch (std::uniform_int_distribution<int>(0, 3)(random_)) {
      case 0:
        return T{};
      case 1:
        return T{1};
      default:
        return random_scalar<T>(random_);
    }
  }
  /// Begins a new case and returns its tile size.
  index_t next() {
    seed_ += 1;
    random_.seed(seed_);
    block_ = std::uniform_int_distribution<index_t>(1, 17)(random_);
    return block_;
  }
  matrix<T> random(index_t rows, index_t cols) { return random_matrix<T>(rows, cols, random_); }
  /// Returns a Hermitian, positive definite matrix.
  matrix<T> definite(index_t n) {
    const matrix<T> A = random(n, n);
    matrix<T> C(n, n);
    gemm(op::none, op::conjugate_transpose, T{1}, A, A, T{}, C.view());
    for (index_t i = 0; i < n; ++i) C(i, i) += T(static_cast<real<T>>(n));
    return C;
  }
  /// Returns a matrix of order n whose triangular systems are well conditioned.
  matrix<T> dominant(index_t n) {
    matrix<T> A = random(n, n);
    for (index_t i = 0; i < n; ++i) A(i, i) += T(static_cast<real<T>>(n + 1));
    return A;
  }
  tile_matrix<T> tiled(const matrix<T>& A) { return tile_matrix<T>(A.view(), block_); }

  /// Expects equal matrices except for rounding.
  void expect_same(const matrix<T>& expected, const tile_matrix<T>& found, const char* what,
                   double scale = 1) {
    const double size = static_cast<double>(expected.rows() + expected.cols() + 10);
    EXPECT_LE(distance(expected, whole(found)), scale * size * 20 * testing::eps<T>)
        << what << ", seed " << seed_ << ", tiles of " << block_;
  }
  std::mt19937 random_;

 private:
  unsigned seed_ = 0;
  index_t block_ = 1;
};
TYPED_TEST_SUITE(by_blocks, testing::scalars);

TYPED_TEST(by_blocks, gemm_is_that_of_columns) {
  using T = TypeParam;
  for (const op how_a : ops) {
    for (const op how_b : ops) {
      this->next();
      const index_t m = this->size(), n = this->size(), k = this->size();
      const matrix<T> A = how_a == op::none ? this->random(m, k) : this->random(k, m);
      const matrix<T> B = how_b == op::none ? this->random(k, n) : this->random(n, k);
      matrix<T> C = this->random(m, n);
      auto tiles = this->tiled(C);
      const T alpha = this->factor_of_case(), beta = this->factor_of_case();
      gemm(how_a, how_b, alpha, this->tiled(A), this->tiled(B), beta, tiles.view());
      gemm(how_a, how_b, alpha, A, B, beta, C.view());
      this->expect_same(C, tiles, "gemm");
    }
  }
}

TYPED_TEST(by_blocks, tiles_may_be_larger_than_what_kernels_take_at_once) {
  using T = TypeParam;
  this->next();
  const matrix<T> A = this->random(610, 330), B = this->random(330, 20);
  const tile_matrix<T> a(A.view(), 600), b(B.view(), 600);
  matrix<T> C(610, 20);
  tile_matrix<T> tiles(610, 20, 600);
  gemm(op::none, op::none, 1, a, b, 0, tiles.view());
  gemm(op::none, op::none, 1, A, B, 0, C.view());
  this->expect_same(C, tiles, "gemm");
}

TYPED_TEST(by_blocks, products_with_symmetric_matrices_are_those_of_columns) {
  using T = TypeParam;
  for (const side where : sides) {
    for (const triangle stored : triangles) {
      this->next();
      const index_t m = this->size(), n = this->size();
      const index_t order = where == side::left ? m : n;
      const matrix<T> A = this->random(order, order), B = this->random(m, n);
      const T alpha = this->factor_of_case(), beta = this->factor_of_case();
      matrix<T> C = this->random(m, n);
      auto symmetric = this->tiled(C), hermitian = this->tiled(C);
      symm(where, stored, alpha, this->tiled(A), this->tiled(B), beta, symmetric.view());
      hemm(where, stored, alpha, this->tiled(A), this->tiled(B), beta, hermitian.view());
      matrix<T> D = C;
      symm(where, stored, alpha, A, B, beta, C.view());
      hemm(where, stored, alpha, A, B, beta, D.view());
      this->expect_same(C, symmetric, "symm");
      this->expect_same(D, hermitian, "hemm");
    }
  }
}

TYPED_TEST(by_blocks, updates_of_a_triangle_are_those_of_columns) {
  using T = TypeParam;
  for (const triangle stored : triangles) {
    for (const op how : ops) {
      this->next();
      const index_t n = this->size(), k = this->size();
      const matrix<T> A = how == op::none ? this->random(n, k) : this->random(k, n);
      const matrix<T> B = how == op::none ? this->random(n, k) : this->random(k, n);
      const T alpha = this->factor_of_case(), beta = this->factor_of_case();
      const matrix<T> C = this->random(n, n);
      const auto a = this->tiled(A), b = this->tiled(B);
      if (!is_complex<T> || how != op::conjugate_transpose) {
        matrix<T> one = C, two = C;
        auto one_tiled = this->tiled(C), two_tiled = this->tiled(C);
        syrk(stored, how, alpha, a, beta, one_tiled.view());
        syrk(stored, how, alpha, A, beta, one.view());
        this->expect_same(one, one_tiled, "syrk");
        syr2k(stored, how, alpha, a, b, beta, two_tiled.view());
        syr2k(stored, how, alpha, A, B, beta, two.view());
        this->expect_same(two, two_tiled, "syr2k");
      }
      if (!is_complex<T> || how != op::transpose) {
        const real<T> real_alpha = std::real(alpha), real_beta = std::real(beta);
        matrix<T> one = C, two = C;
        auto one_tiled = this->tiled(C), two_tiled = this->tiled(C);
        herk(stored, how, real_alpha, a, real_beta, one_tiled.view());
        herk(stored, how, real_alpha, A, real_beta, one.view());
        this->expect_same(one, one_tiled, "herk");
        her2k(stored, how, alpha, a, b, real_beta, two_tiled.view());
        her2k(stored, how, alpha, A, B, real_beta, two.view());
        this->expect_same(two, two_tiled, "her2k");
        for (index_t i = 0; i < n; ++i) EXPECT_EQ(std::imag(one_tiled(i, i)), 0);
        for (index_t i = 0; i < n; ++i) EXPECT_EQ(std::imag(two_tiled(i, i)), 0);
      }
    }
  }
}

TYPED_TEST(by_blocks, triangular_operations_are_those_of_columns) {
  using T = TypeParam;
  for (const side where : sides) {
    for (const triangle stored : triangles) {
      for (const op how : ops) {
        for (const diagonal ones : diagonals) {
          this->next();
          const index_t m = this->size(), n = this->size();
          const index_t order = where == side::left ? m : n;
          matrix<T> A = this->random(order, order);
          // Small compared with the diagonal, so that solutions with a unit diagonal do not grow.
          for (index_t j = 0; j < order; ++j) {
            for (index_t i = 0; i < order; ++i) A(i, j) /= static_cast<real<T>>(order);
            A(j, j) += T{2};
          }
          const T alpha = this->factor_of_case();
          const matrix<T> B = this->random(m, n);
          matrix<T> solved = B, multiplied = B;
          auto solved_tiled = this->tiled(B), multiplied_tiled = this->tiled(B);
          const auto a = this->tiled(A);
          trsm(where, stored, how, ones, alpha, a, solved_tiled.view());
          trsm(where, stored, how, ones, alpha, A, solved.view());
          this->expect_same(solved, solved_tiled, "trsm");
          trmm(where, stored, how, ones, alpha, a, multiplied_tiled.view());
          trmm(where, stored, how, ones, alpha, A, multiplied.view());
          this->expect_same(multiplied, multiplied_tiled, "trmm");
        }
      }
    }
  }
}

TYPED_TEST(by_blocks, cholesky_and_inverses_are_those_of_columns) {
  using T = TypeParam;
  runtime workers{host(2)};
  for (int round = 0; round < 4; ++round) {
    for (const triangle stored : triangles) {
      this->next();
      const index_t n = round == 0 ? 1 : this->size();
      matrix<T> A = this->definite(n);
      const matrix<T> B = this->random(n, this->size());
      auto tiles = this->tiled(A), X = this->tiled(B), inverse = this->tiled(A);
      workers.run([&] { EXPECT_EQ(posv(stored, tiles.view(), X.view()), 0); });
      EXPECT_EQ(potrf(stored, A.view()), 0);
      this->expect_same(A, tiles, "potrf", 10);
      matrix<T> expected = B;
      potrs<T>(stored, A, expected.view());
      this->expect_same(expected, X, "posv");
      auto again = this->tiled(B);
      potrs(stored, tiles, again.view());
      this->expect_same(expected, again, "potrs");

      EXPECT_EQ(potrf(stored, inverse.view()), 0);
      EXPECT_EQ(potri(stored, inverse.view()), 0);
      matrix<T> inverse_of_columns = A;
      EXPECT_EQ(potri(stored, inverse_of_columns.view()), 0);
      this->expect_same(inverse_of_columns, inverse, "potri");
      for (const diagonal ones : diagonals) {
        const matrix<T> triangular = this->dominant(n);
        matrix<T> of_columns = triangular;
        if (ones == diagonal::unit) {
          for (index_t i = 0; i < n * n; ++i) of_columns(i % n, i / n) /= static_cast<real<T>>(n);
        }
        auto of_tiles = this->tiled(of_columns);
        EXPECT_EQ(trtri(stored, ones, of_tiles.view()), 0);
        EXPECT_EQ(trtri(stored, ones, of_columns.view()), 0);
        this->expect_same(of_columns, of_tiles, "trtri", 10);
      }
    }
  }
}

TYPED_TEST(by_blocks, lu_without_pivoting_gives_back_the_matrix_and_solves) {
  using T = TypeParam;
  for (int round = 0; round < 8; ++round) {
    this->next();
    const index_t m = this->size(), n = this->size(), k = std::min(m, n);
    matrix<T> A = this->random(m, n);
    for (index_t i = 0; i < k; ++i) A(i, i) += T(static_cast<real<T>>(m + n));
    auto LU = this->tiled(A);
    EXPECT_EQ(getrf_nopiv(LU.view()), 0);
    const matrix<T> factors = whole(LU);
    matrix<T> L(m, k), U(k, n);
    for (index_t j = 0; j < n; ++j) {
      for (index_t i = 0; i < m; ++i) {
        if (i <= j && i < k) U(i, j) = factors(i, j);
        if (i > j && j < k) L(i, j) = factors(i, j);
      }
    }
    for (index_t i = 0; i < k; ++i) L(i, i) = T{1};
    this->expect_same(testing::product(L, U), this->tiled(A), "L U", 10);
  }
  for (const op how : ops) {
    this->next();
    const index_t n = this->size();
    const matrix<T> A = this->dominant(n), X = this->random(n, this->size());
    matrix<T> B = X;
    gemm(how, op::none, T{1}, A, X, T{}, B.view());
    auto LU = this->tiled(A), solution = this->tiled(B);
    EXPECT_EQ(getrf_nopiv(LU.view()), 0);
    getrs_nopiv(how, LU, solution.view());
    this->expect_same(X, solution, "getrs_nopiv");
  }
}

TYPED_TEST(by_blocks, operations_in_one_graph_follow_their_data) {
  using T = TypeParam;
  runtime workers{host(3)};
  for (int round = 0; round < 3; ++round) {
    this->next();
    const index_t n = 30 + this->size();
    const matrix<T> A = this->definite(n), B = this->random(n, 7);
    auto factor = this->tiled(A), X = this->tiled(B), residual = this->tiled(B);
    const auto original = this->tiled(A);
    auto square = this->tiled(matrix<T>(n, n));
    const auto run = [&] {
      graph_info solved, inverted;
      task_graph graph;
      posv(graph, triangle::upper, factor.view(), X.view(), solved);
      hemm(graph, side::left, triangle::lower, -1, original, X, 1, residual.view());
      potri(graph, triangle::upper, factor.view(), inverted);
      hemm(graph, side::left, triangle::upper, 1, factor, original, 0, square.view());
      graph.wait();
      EXPECT_EQ(solved.value(), 0);
      EXPECT_EQ(inverted.value(), 0);
    };
    if (round == 0) {
      run();
    } else {
      workers.run(run);
    }
    this->expect_same(matrix<T>(n, 7), residual, "b - A x");
    matrix<T> unit(n, n);
    for (index_t i = 0; i < n; ++i) unit(i, i) = T{1};
    this->expect_same(unit, square, "inverse of A, times A", 10);
  }
}

TYPED_TEST(by_blocks, info_is_the_first_place_that_fails) {
  using T = TypeParam;
  runtime workers{host(2)};
  this->next();
  const index_t n = 50;
  for (const index_t place : {1, 13, 50}) {
    for (const triangle stored : triangles) {
      matrix<T> A = this->definite(n);
      A(place - 1, place - 1) = T{-1};
      auto tiles = this->tiled(A);
      workers.run([&] { EXPECT_EQ(potrf(stored, tiles.view()), place); });
      A(place - 1, place - 1) = std::numeric_limits<real<T>>::quiet_NaN();
      auto not_a_number = this->tiled(A);
      EXPECT_EQ(potrf(stored, not_a_number.view()), place);
      matrix<T> triangular = this->dominant(n);
      triangular(place - 1, place - 1) = triangular(n - 1, n - 1) = T{};
      auto singular = this->tiled(triangular);
      EXPECT_EQ(trtri(stored, diagonal::stored, singular.view()), place);
      EXPECT_EQ(distance(triangular, whole(singular)), 0) << "left as it was";
      graph_info info;
      task_graph graph;
      trtri(graph, stored, diagonal::stored, singular.view(), info);
      graph.wait();
      EXPECT_EQ(info.value(), place);
    }
    // Rows that are zero up to the diagonal leave a pivot of zero.
    matrix<T> A = this->dominant(n);
    for (index_t j = 0; j < place; ++j) A(place - 1, j) = T{};
    auto tiles = this->tiled(A);
    EXPECT_EQ(getrf_nopiv(tiles.view()), place);
  }
}

TEST(by_blocks_graph, tasks_are_those_of_the_algorithm_and_a_dry_run_runs_none) {
  const index_t blocks = 6, size = 4;
  tile_matrix<double> A(blocks * size, blocks * size, size);
  const auto count_of = [](const graph_report& report, const std::string& name) {
    for (const task_count& each : report.counts) {
      if (each.name == name) return static_cast<index_t>(each.tasks);
    }
    return index_t{0};
  };
  graph_info info;
  task_graph cholesky({.dry_run = true});
  potrf(cholesky, triangle::lower, A.view(), info);
  graph_report report = cholesky.wait();
  EXPECT_EQ(count_of(report, "potrf"), blocks);
  EXPECT_EQ(count_of(report, "trsm"), blocks * (blocks - 1) / 2);
  EXPECT_EQ(count_of(report, "herk"), blocks * (blocks - 1) / 2);
  EXPECT_EQ(count_of(report, "gemm"), blocks * (blocks - 1) * (blocks - 2) / 6);
  EXPECT_EQ(report.depth, static_cast<std::size_t>(3 * blocks - 2));

  task_graph lu({.dry_run = true});
  getrf_nopiv(lu, A.view(), info);
  report = lu.wait();
  EXPECT_EQ(count_of(report, "getrf"), blocks);
  EXPECT_EQ(count_of(report, "trsm"), blocks * (blocks - 1));
  EXPECT_EQ(count_of(report, "gemm"), blocks * (blocks - 1) * (2 * blocks - 1) / 6);
  const auto n = static_cast<double>(blocks * size);
  EXPECT_NEAR(report.flops, 2 * n * n * n / 3, 1e-9 * n * n * n);
  EXPECT_EQ(info.value(), 0) << "nothing ran";
}

TEST(by_blocks_graph, wrong_shapes_are_refused_before_anything_is_enqueued) {
  tile_matrix<double> A(6, 6, 3), B(6, 4, 3), C(6, 4, 2), wide(4, 6, 3);
  graph_info info;
  task_graph graph;
  EXPECT_THROW(gemm(graph, op::none, op::none, 1, A, wide, 0, B.view()), usage_error);
  EXPECT_THROW(gemm(graph, op::none, op::none, 1, A, B, 0, C.view()), usage_error);
  EXPECT_THROW(symm(graph, side::right, triangle::lower, 1, A, B, 0, B.view()), usage_error);
  EXPECT_THROW(syrk(graph, triangle::lower, op::none, 1, wide, 0, A.view()), usage_error);
  EXPECT_THROW(syrk(graph, triangle::lower, op::none, 1, A, 0, B.view()), usage_error);
  EXPECT_THROW(trsm(graph, side::right, triangle::lower, op::none, diagonal::unit, 1, A, B.view()),
               usage_error);
  EXPECT_THROW(trmm(graph, side::left, triangle::lower, op::none, diagonal::unit, 1, A, C.view()),
               usage_error);
  EXPECT_THROW(potrf(graph, triangle::lower, B.view(), info), usage_error);
  EXPECT_THROW(posv(graph, triangle::lower, A.view(), C.view(), info), usage_error);
  EXPECT_THROW(potrs(graph, triangle::lower, A, wide.view()), usage_error);
  EXPECT_THROW(getrs_nopiv(graph, op::none, B, B.view()), usage_error);
  EXPECT_THROW((void)trtri(triangle::lower, diagonal::stored, B.view()), usage_error);
  EXPECT_THROW((void)potri(triangle::lower, B.view()), usage_error);
  tile_matrix<std::complex<double>> Z(4, 4, 2);
  EXPECT_THROW(herk(triangle::lower, op::transpose, 1, Z, 1, Z.view()), usage_error);
  EXPECT_THROW(syrk(triangle::lower, op::conjugate_transpose, 1, Z, 1, Z.view()), usage_error);
  EXPECT_EQ(graph.wait().tasks, 0U);
}

}  // namespace
}  // namespace creek::linalg
