// SPDX-License-Identifier: Apache-2.0
// Grids of host threads for tests, and a process's part of a matrix on one.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <creek/host/spmd.hpp>
#include <creek/linalg/grid_matrix.hpp>

#include "random_matrix.hpp"

namespace creek::linalg::testing {

inline constexpr int shapes[][2] = {{1, 1}, {1, 2}, {2, 1}, {2, 2}, {2, 3}, {3, 2}, {1, 4}};

/// A process's part of a matrix that every rank of the test has.
template <class T>
struct part {
  part(const process_grid& grid, const matrix<T>& whole, index_t mb, index_t nb, int row_source = 0,
       int col_source = 0)
      : memory(static_cast<std::size_t>((whole.rows() + 3) * (whole.cols() + 1))),
        view(grid, whole.rows(), whole.cols(), mb, nb, memory.data(), whole.rows() + 3, row_source,
             col_source) {
    each([&](T& x, index_t i, index_t j) { x = whole(i, j); });
  }
  template <class F>
  void each(F f) {
    const matrix_view<T> mine = view.local();
    for (index_t j = 0; j < mine.cols(); ++j) {
      for (index_t i = 0; i < mine.rows(); ++i) {
        f(mine(i, j), view.rows().global(i), view.cols().global(j));
      }
    }
  }
  /// Returns the whole matrix, at every rank.
  matrix<T> gather(host_communicator& all) {
    const index_t m = view.rows().size, n = view.cols().size;
    std::vector<T> elements(static_cast<std::size_t>(m * n));
    each([&](T& x, index_t i, index_t j) { elements[static_cast<std::size_t>(i + j * m)] = x; });
    all.allreduce(std::span<T>(elements), std::plus<>{});
    return matrix<T>(const_view<T>(elements.data(), m, n, std::max<index_t>(1, m)));
  }
  std::vector<T> memory;
  grid_view<T> view;
};

template <class T>
void expect_near(part<T>& found, const matrix<T>& expected, bool lower_only = false) {
  double largest = 0, scale = 1;
  for (index_t j = 0; j < expected.cols(); ++j) {
    for (index_t i = 0; i < expected.rows(); ++i) {
      scale = std::max<double>(scale, std::abs(expected(i, j)));
    }
  }
  found.each([&](T& x, index_t i, index_t j) {
    if (lower_only && i < j) return;
    const double difference = std::abs(x - expected(i, j));
    largest = difference <= largest ? largest : difference;
  });
  EXPECT_LE(largest, 2e4 * eps<T> * scale);
}

template <class F>
void on_grids(F f) {
  for (const auto& shape : shapes) {
    SCOPED_TRACE(std::to_string(shape[0]) + " x " + std::to_string(shape[1]));
    spmd(shape[0] * shape[1],
         [&](host_communicator& c) { f(c, process_grid::of(shape[0], shape[1], c.rank())); });
  }
}

}  // namespace creek::linalg::testing
