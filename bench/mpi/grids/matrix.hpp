// SPDX-License-Identifier: Apache-2.0
// Matrices on a grid of ranks with reproducible elements, and residuals of products with them.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <creek/linalg/grid_matrix.hpp>

#include "library.hpp"

namespace bench {

using namespace creek::linalg;
using values = std::vector<double>;

/// A reproducible element between -0.5 and 0.5.
inline double element(index_t i, index_t j) {
  std::uint64_t x = static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15U +
                    static_cast<std::uint64_t>(j) * 0xc2b2ae3d27d4eb4fU + 1;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return std::ldexp(static_cast<double>((x ^ (x >> 31U)) >> 11U), -53) - 0.5;
}
inline double general(index_t i, index_t j) {
  return element(i, j);
}
inline double other(index_t i, index_t j) {
  return element(i, j + 1'000'000);
}
inline double symmetric(index_t i, index_t j) {
  return i == j ? 1'000 : element(std::max(i, j), std::min(i, j));
}
inline double dominant(index_t i, index_t j) {
  return i == j ? 1'000 : element(i, j);
}

/// An n x n matrix on the grid, and its descriptor.
class grid_matrix {
 public:
  grid_matrix(const process_grid& grid, int context, int n, int block)
      : axis_{n, block, 0, grid.rows, grid.row},
        leading_(std::max<index_t>(1, axis_.local_size())),
        memory_(static_cast<std::size_t>(
            leading_ *
            std::max<index_t>(1, cyclic_axis{n, block, 0, grid.cols, grid.col}.local_size()))),
        view_(grid, n, n, block, block, memory_.data(), leading_) {
    const int source = 0, leading = static_cast<int>(leading_);
    int info = 0;
    descinit_(desc, &n, &n, &block, &block, &source, &source, &context, &leading, &info);
    if (info != 0) MPI_Abort(MPI_COMM_WORLD, 1);
  }
  grid_matrix(const grid_matrix&) = delete;
  grid_matrix& operator=(const grid_matrix&) = delete;

  const grid_view<double>& view() const { return view_; }
  double* data() { return memory_.data(); }
  template <class F>
  void each(F f) const {
    const matrix_view<double> mine = view_.local();
    for (index_t j = 0; j < mine.cols(); ++j) {
      for (index_t i = 0; i < mine.rows(); ++i) {
        f(mine(i, j), view_.rows().global(i), view_.cols().global(j));
      }
    }
  }
  void fill(double (*f)(index_t, index_t)) {
    each([&](double& x, index_t i, index_t j) { x = f(i, j); });
  }
  /// Returns the product with a vector, at every rank, of the elements that f makes of this
  /// matrix's.
  template <class F>
  values times(const values& v, F f) const {
    return summed([&](values& sums, double x, index_t i, index_t j) {
      sums[static_cast<std::size_t>(i)] += f(x, i, j) * v[static_cast<std::size_t>(j)];
    });
  }
  template <class F>
  values transposed_times(const values& v, F f) const {
    return summed([&](values& sums, double x, index_t i, index_t j) {
      sums[static_cast<std::size_t>(j)] += f(x, i, j) * v[static_cast<std::size_t>(i)];
    });
  }

  int desc[9] = {};

 private:
  template <class Add>
  values summed(Add add) const {
    values sums(static_cast<std::size_t>(axis_.size));
    each([&](double x, index_t i, index_t j) { add(sums, x, i, j); });
    MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
    return sums;
  }

  cyclic_axis axis_;
  index_t leading_;
  values memory_;
  grid_view<double> view_;
};

inline values probe(std::size_t n) {
  values v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = element(static_cast<index_t>(i), 77) < 0 ? -1 : 1;
  return v;
}
/// Returns the largest difference, in roundings of n terms of the largest value.
inline double residual(const values& found, const values& expected) {
  double difference = 0, scale = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double d = std::abs(found[i] - expected[i]);
    if (!(d <= difference)) difference = d;
    scale = std::max(scale, std::abs(expected[i]));
  }
  return difference / scale / std::numeric_limits<double>::epsilon() /
         static_cast<double>(found.size());
}

}  // namespace bench
