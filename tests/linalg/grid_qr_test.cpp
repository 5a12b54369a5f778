// SPDX-License-Identifier: Apache-2.0
// QR on grids of processes: the factors of one memory, orthogonal, for many grids, sizes and
// blocks; columns of tiny and huge numbers, and of zeros; NaN; wrong arguments.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/linalg/grids.hpp>

#include "grid_part.hpp"

namespace creek::linalg {
namespace {

using namespace creek::linalg::testing;

template <class T>
class GridQr : public ::testing::Test {
 protected:
  std::mt19937 random{1958};
};
TYPED_TEST_SUITE(GridQr, scalars);

template <class T>
std::vector<T> taus(const matrix<T>& a) {
  return std::vector<T>(static_cast<std::size_t>(std::min(a.rows(), a.cols())), T(7));
}
template <class T>
double distance(const std::vector<T>& a, const std::vector<T>& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double here = std::abs(a[i] - b[i]);
    most = here <= most ? most : here;
  }
  return most;
}

TYPED_TEST(GridQr, IsThatOfOneMemory) {
  using T = TypeParam;
  for (const auto& size : {std::pair{1, 1}, std::pair{50, 50}, std::pair{64, 41}, std::pair{41, 64},
                           std::pair{90, 90}, std::pair{7, 60}, std::pair{100, 5}}) {
    const auto a = random_matrix<T>(size.first, size.second, this->random);
    auto expected = a;
    auto tau = taus(a);
    geqrf<T>(expected.view(), tau);
    for (const index_t block : {3, 16, 40}) {
      on_grids([&](host_communicator& c, const process_grid& grid) {
        part<T> A(grid, a, block, block, grid.rows - 1, grid.cols - 1);
        auto found = taus(a);
        geqrf_on_grid<host_communicator, T>(c, A.view, found);
        EXPECT_LE(distance(found, tau), 1e4 * eps<T>);
        expect_near(A, expected);
      });
    }
  }
}

TYPED_TEST(GridQr, FactorsGiveTheMatrixAndQIsUnitary) {
  using T = TypeParam;
  for (const auto& size : {std::pair{70, 70}, std::pair{83, 30}, std::pair{30, 50}}) {
    const auto a = random_matrix<T>(size.first, size.second, this->random);
    const index_t m = a.rows();
    matrix<T> unit(m, m);
    for (index_t i = 0; i < m; ++i) unit(i, i) = T(1);
    on_grids([&](host_communicator& c, const process_grid& grid) {
      part<T> A(grid, a, 12, 12, 0, grid.cols - 1), Q(grid, unit, 12, 5, 0, grid.cols - 1);
      auto tau = taus(a);
      geqrf_on_grid<host_communicator, T>(c, A.view, tau);
      ormqr_on_grid<host_communicator, T>(c, op::none, A.view, tau, Q.view);
      const auto q = Q.gather(c);
      const auto r = only(triangle::upper, diagonal::stored, A.gather(c));
      const double rounding = eps<T> * static_cast<double>(m);
      EXPECT_LE(testing::distance(product(q, r), a), 2 * rounding);
      const op turned = op::conjugate_transpose;
      EXPECT_LE(testing::distance(product(applied(turned, q), q), unit), rounding);
      // Q^H A = R, and Q^H Q = I.
      part<T> R(grid, a, 12, 5, 0, 0);
      ormqr_on_grid<host_communicator, T>(c, turned, A.view, tau, R.view);
      EXPECT_LE(testing::distance(R.gather(c), r), 2 * rounding);
      ormqr_on_grid<host_communicator, T>(c, turned, A.view, tau, Q.view);
      EXPECT_LE(testing::distance(Q.gather(c), unit), rounding);
    });
  }
}

TYPED_TEST(GridQr, ManyColumnsAreUpdatedInStrips) {
  using T = TypeParam;
  const auto a = random_matrix<T>(40, 1300, this->random);
  auto expected = a;
  auto tau = taus(a);
  geqrf<T>(expected.view(), tau);
  on_grids([&](host_communicator& c, const process_grid& grid) {
    part<T> A(grid, a, 9, 9);
    auto found = taus(a);
    geqrf_on_grid<host_communicator, T>(c, A.view, found);
    EXPECT_LE(distance(found, tau), 1e4 * eps<T>);
    expect_near(A, expected);
  });
}

/// Numbers whose squares overflow or underflow, in some columns each and within columns.
TYPED_TEST(GridQr, SquaresDoNotOverflowOrUnderflow) {
  using T = TypeParam;
  using R = real<T>;
  const R huge = std::numeric_limits<R>::max() / 1000, tiny = std::numeric_limits<R>::min() * 1000;
  const index_t m = 60, n = 40;
  auto a = random_matrix<T>(m, n, this->random);
  std::vector<R> scales(n, R(1));
  for (index_t j = 0; j < n; ++j) {
    scales[static_cast<std::size_t>(j)] = j % 3 == 0 ? huge : j % 3 == 1 ? tiny : R(1);
  }
  for (index_t j = 0; j < n; ++j) {
    for (index_t i = 0; i < m; ++i) a(i, j) *= scales[static_cast<std::size_t>(j)];
  }
  for (const index_t zero : {5, 21}) {
    for (index_t i = 0; i < m; ++i) a(i, zero) = T{};
  }
  // The first columns have one large element and tiny ones below the diagonal.
  for (index_t j = 0; j < 4; ++j) {
    for (index_t i = 0; i < m; ++i) a(i, j) = i > j ? a(i, 7) : i == 0 ? T(1) : T{};
  }
  auto expected = a;
  auto tau = taus(a);
  geqrf<T>(expected.view(), tau);
  on_grids([&](host_communicator& c, const process_grid& grid) {
    part<T> A(grid, a, 8, 8);
    auto found = taus(a);
    geqrf_on_grid<host_communicator, T>(c, A.view, found);
    EXPECT_LE(distance(found, tau), 1e4 * eps<T>);
    EXPECT_EQ(found[5], T{});
    EXPECT_EQ(found[21], T{});
    A.each([&](T& x, index_t i, index_t j) {
      const double scale = i > j ? 1.0 : j < 4 ? 1.0 : scales[static_cast<std::size_t>(j)];
      EXPECT_LE(std::abs(x - expected(i, j)), 2e4 * eps<T> * scale) << i << ' ' << j;
    });
  });
}

TYPED_TEST(GridQr, OfATriangleIsTheTriangle) {
  using T = TypeParam;
  auto a = random_matrix<T>(30, 30, this->random);
  for (index_t j = 0; j < 30; ++j) {
    a(j, j) = std::real(a(j, j));
    for (index_t i = j + 1; i < 30; ++i) a(i, j) = T{};
  }
  on_grids([&](host_communicator& c, const process_grid& grid) {
    part<T> A(grid, a, 7, 7);
    auto tau = taus(a);
    geqrf_on_grid<host_communicator, T>(c, A.view, tau);
    EXPECT_EQ(tau, std::vector<T>(30));
    A.each([&](T& x, index_t i, index_t j) { EXPECT_EQ(x, a(i, j)); });
  });
}

// A complex column without anything below the diagonal has a reflector, too, as long as its element
// has an imaginary part, however small.
TYPED_TEST(GridQr, OfATinyComplexDiagonalIsUnitary) {
  using T = TypeParam;
  if constexpr (is_complex<T>) {
    for (const index_t at : {1, 3}) {
      matrix<T> a(4, 4);
      for (index_t j = 0; j < 4; ++j) {
        a(j, j) = T{1};
        a(0, j) = T{1};
      }
      const real<T> tiny = std::numeric_limits<real<T>>::denorm_min();
      a(at, at) = T(tiny, tiny);
      for (const index_t block : {2, 4}) {
        on_grids([&](host_communicator& c, const process_grid& grid) {
          part<T> A(grid, a, block, block);
          auto tau = taus(a);
          geqrf_on_grid<host_communicator, T>(c, A.view, tau);
          matrix<T> unit(4, 4);
          for (index_t j = 0; j < 4; ++j) unit(j, j) = T{1};
          part<T> Q(grid, unit, block, block);
          ormqr_on_grid<host_communicator, T>(c, op::none, A.view, tau, Q.view);
          std::vector<real<T>> norms(4);
          Q.each([&](T& x, index_t, index_t j) {
            norms[static_cast<std::size_t>(j)] += std::norm(x);
          });
          c.allreduce(std::span<real<T>>(norms), std::plus{});
          for (const real<T> norm : norms)
            EXPECT_NEAR(norm, 1, 20 * std::numeric_limits<real<T>>::epsilon());
        });
      }
    }
  }
}

TYPED_TEST(GridQr, NanSpreadsAndEveryRankEnds) {
  using T = TypeParam;
  auto a = random_matrix<T>(30, 30, this->random);
  a(17, 3) = std::numeric_limits<real<T>>::quiet_NaN();
  on_grids([&](host_communicator& c, const process_grid& grid) {
    part<T> A(grid, a, 4, 4);
    auto tau = taus(a);
    geqrf_on_grid<host_communicator, T>(c, A.view, tau);
    A.each([&](T& x, index_t i, index_t j) {
      if (i == 29 && j == 29) {
        EXPECT_TRUE(std::isnan(std::real(x)));
      }
    });
  });
}

TEST(GridQrErrors, WrongArgumentsAreRefusedOnEveryRank) {
  std::mt19937 random{7};
  const auto a = random_matrix<double>(12, 12, random);
  const auto z = random_matrix<std::complex<double>>(12, 12, random);
  on_grids([&](host_communicator& c, const process_grid& grid) {
    using C = host_communicator;
    part<double> A(grid, a, 4, 4), wide(grid, a, 4, 3), other(grid, a, 3, 4);
    std::vector<double> tau(12);
    const std::span<double> few(tau.data(), 11);
    EXPECT_THROW((geqrf_on_grid<C, double>(c, wide.view, tau)), usage_error);
    EXPECT_THROW((geqrf_on_grid<C, double>(c, A.view, few)), usage_error);
    EXPECT_THROW((ormqr_on_grid<C, double>(c, op::none, wide.view, tau, A.view)), usage_error);
    EXPECT_THROW((ormqr_on_grid<C, double>(c, op::none, A.view, few, A.view)), usage_error);
    EXPECT_THROW((ormqr_on_grid<C, double>(c, op::none, A.view, tau, other.view)), usage_error);
    using complex = std::complex<double>;
    part<complex> Z(grid, z, 4, 4), X(grid, z, 4, 4);
    std::vector<complex> factors(12);
    EXPECT_THROW((ormqr_on_grid<C, complex>(c, op::transpose, Z.view, factors, X.view)),
                 usage_error);
    const process_grid larger{grid.rows, grid.cols + 1, 0, 0};
    part<double> elsewhere(larger, a, 4, 4);
    EXPECT_THROW((geqrf_on_grid<C, double>(c, elsewhere.view, tau)), usage_error);
    // Nothing was sent or changed.
    A.each([&](double& x, index_t i, index_t j) { EXPECT_EQ(x, a(i, j)); });
    c.barrier();
  });
}

}  // namespace
}  // namespace creek::linalg
