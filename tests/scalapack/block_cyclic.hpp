// SPDX-License-Identifier: Apache-2.0
// Grids of processes, and matrices that are distributed over them in blocks.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int cols);
void Cblacs_gridexit(int context);
void Cblacs_gridinfo(int context, int* rows, int* cols, int* row, int* col);
int numroc_(const int* n, const int* block, const int* process, const int* source,
            const int* processes);
}

template <class T>
using real = decltype(std::abs(T{}));
template <class T>
constexpr bool is_complex = !std::is_same_v<T, real<T>>;
template <class T>
constexpr double epsilon = std::numeric_limits<real<T>>::epsilon();

/// A reproducible element; those of different salts are independent.
inline double number(int i, int j, unsigned salt) {
  std::uint64_t x = static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15U +
                    static_cast<std::uint64_t>(j) * 0xc2b2ae3d27d4eb4fU + salt + 1;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return std::ldexp(static_cast<double>((x ^ (x >> 31U)) >> 11U), -53) - 0.5;
}
template <class T>
T element(int i, int j, unsigned salt) {
  if constexpr (is_complex<T>) {
    return {static_cast<real<T>>(number(i, j, salt)),
            static_cast<real<T>>(number(i, j, salt + 1000))};
  } else {
    return static_cast<T>(number(i, j, salt));
  }
}

struct grid {
  int context = -1, rows = -1, cols = -1, row = -1, col = -1;
  grid(int p, int q) {
    Cblacs_get(-1, 0, &context);
    Cblacs_gridinit(&context, p % 2 == 0 ? "Col" : "Row", p, q);
    if (context >= 0) Cblacs_gridinfo(context, &rows, &cols, &row, &col);
  }
  ~grid() {
    if (is_in()) Cblacs_gridexit(context);
  }
  grid(const grid&) = delete;
  grid& operator=(const grid&) = delete;
  bool is_in() const { return row >= 0; }
};

/// The matrix sub(A) of an array with a border of whole blocks: `before` blocks above and left.
template <class T>
class matrix {
 public:
  matrix(const grid& on, int rows, int cols, int block, int col_block, int source, int before)
      : on_(on), rows_(rows), cols_(cols), i_(before * block + 1), j_(before * col_block + 1) {
    const int all_rows = rows + before * block, all_cols = cols + before * col_block + 1;
    const int row_source = source % on.rows, col_source = source % on.cols;
    local_rows_ = numroc_(&all_rows, &block, &on.row, &row_source, &on.rows);
    local_cols_ = numroc_(&all_cols, &col_block, &on.col, &col_source, &on.cols);
    const int leading = std::max(1, local_rows_) + 3;
    const int made[9] = {1,         on.context, all_rows,   all_cols, block,
                         col_block, row_source, col_source, leading};
    std::copy(made, made + 9, desc);
    values_.assign(static_cast<std::size_t>(leading) * (local_cols_ + 1), T(77));
  }
  void fill(unsigned salt, double diagonal = 0) {
    each([&](T& x, int i, int j) { x = element<T>(i, j, salt) + (i == j ? T(diagonal) : T{}); });
  }
  /// Hermitian and positive definite in a triangle; zeros in the other.
  void fill_triangle(char stored, unsigned salt) {
    each([&](T& x, int i, int j) {
      x = (stored == 'L') == (i > j) && i != j ? element<T>(i, j, salt) : T{};
      if (i == j) x = T(2.0 * rows_);
    });
  }
  /// Calls f(element, i, j) for the local elements of sub(A), which count from 0.
  template <class F>
  void each(F f) {
    const auto global = [](int local, int block, int process, int source, int processes) {
      const int turn = (process - source + processes) % processes;
      return (local / block * processes + turn) * block + local % block;
    };
    for (int c = 0; c < local_cols_; ++c) {
      const int j = global(c, desc[5], on_.col, desc[7], on_.cols) - (j_ - 1);
      for (int r = 0; r < local_rows_; ++r) {
        const int i = global(r, desc[4], on_.row, desc[6], on_.rows) - (i_ - 1);
        if (i >= 0 && j >= 0 && i < rows_ && j < cols_) f(at(r, c), i, j);
      }
    }
  }
  /// Returns the whole matrix, column-major, at every rank of the grid.
  std::vector<T> whole() {
    std::vector<T> all(static_cast<std::size_t>(rows_) * cols_);
    each([&](T& x, int i, int j) { all[static_cast<std::size_t>(i) + j * rows_] = x; });
    MPI_Allreduce(MPI_IN_PLACE, all.data(),
                  static_cast<int>(all.size() * sizeof(T) / sizeof(real<T>)), type(), MPI_SUM,
                  MPI_COMM_WORLD);
    return all;
  }
  /// Returns whether all that is not of sub(A) is as before.
  bool border_is_whole() {
    std::vector<T> before = values_;
    each([](T& x, int, int) { x = T(77); });
    const bool whole = std::all_of(values_.begin(), values_.end(), [](T x) { return x == T(77); });
    values_ = before;
    return whole;
  }
  T* data() { return values_.data(); }
  const int* row() const { return &i_; }
  const int* col() const { return &j_; }
  int local_rows() const { return local_rows_; }
  int local_cols() const { return local_cols_; }
  /// The local column of the array that column j of sub(A) is, which is here.
  std::size_t local_col(int j) const {
    const int global = j + j_ - 1;
    return static_cast<std::size_t>(global / desc[5] / on_.cols * desc[5] + global % desc[5]);
  }

  int desc[9];

 private:
  static MPI_Datatype type() { return sizeof(real<T>) == 8 ? MPI_DOUBLE : MPI_FLOAT; }
  T& at(int r, int c) {
    return values_[static_cast<std::size_t>(r) + static_cast<std::size_t>(c) * desc[8]];
  }

  const grid& on_;
  int rows_, cols_, i_, j_, local_rows_ = 0, local_cols_ = 0;
  std::vector<T> values_;
};
