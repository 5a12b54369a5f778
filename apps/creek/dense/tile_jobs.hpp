// SPDX-License-Identifier: Apache-2.0
// What the commands time and judge with --form blocks: the matrix is made, factored and solved with
// in tiles, and copied to columns to be judged and written.
#pragma once

#include <creek/linalg/by_blocks.hpp>
#include <numeric>

#include "jobs.hpp"

namespace creek::tool::dense {

using linalg::tile_matrix;

template <scalar T>
matrix<T> as_columns(const tile_matrix<T>& tiles) {
  matrix<T> columns(tiles.rows(), tiles.cols());
  tiles.copy_to(columns);
  return columns;
}

/// LU without pivoting, or Cholesky.
template <scalar T>
class tile_factor_job final : public job<T> {
 public:
  tile_factor_job(const problem& what, const operand<T>& a)
      : is_lu_(what.how == method::lu), a_(a), factors_(a.rows(), a.cols(), what.block) {}

  void prepare() override { a_.put(factors_.view()); }
  index_t run() override {
    return is_lu_ ? linalg::getrf_nopiv(factors_.view())
                  : linalg::potrf(linalg::triangle::lower, factors_.view());
  }
  std::vector<judgement> judge() const override {
    matrix<T> place;
    const const_view<T> a = a_.whole(place);
    const matrix<T> factors = as_columns(factors_);
    if (!is_lu_) {
      const double residual =
          linalg::cholesky_residual<T>(linalg::triangle::lower, a, factors.view());
      return {{"|L L' - A| / (n |A| eps)", residual, linalg::lapack_threshold}};
    }
    std::vector<index_t> in_place(static_cast<std::size_t>(std::min(a.rows(), a.cols())));
    std::iota(in_place.begin(), in_place.end(), index_t{0});
    const double residual =
        linalg::lu_residual<T>(a, factors.view(), std::span<const index_t>(in_place));
    return {{"|L U - A| / (n |A| eps)", residual, linalg::lapack_threshold}};
  }
  void write(const output_names& to) override {
    matrix<T> factors = as_columns(factors_);
    if (!is_lu_) clear_upper(factors.view());
    linalg::write_matrix<T>(to.matrix, std::as_const(factors).view());
  }

 private:
  bool is_lu_;
  const operand<T>& a_;
  tile_matrix<T> factors_;
};

template <scalar T>
class tile_solve_job final : public job<T> {
 public:
  tile_solve_job(const problem& what, const operand<T>& a, const operand<T>& b)
      : is_lu_(what.how == method::lu),
        a_(a),
        b_(b),
        factors_(a.rows(), a.cols(), what.block),
        x_(b.rows(), b.cols(), factors_.tile_size()) {}

  void prepare() override {
    a_.put(factors_.view());
    b_.put(x_.view());
  }
  index_t run() override {
    return is_lu_ ? linalg::gesv_nopiv(factors_.view(), x_.view())
                  : linalg::posv(linalg::triangle::lower, factors_.view(), x_.view());
  }
  std::vector<judgement> judge() const override {
    matrix<T> a_place, b_place;
    const matrix<T> x = as_columns(x_);
    return {judge_solution<T>(a_.whole(a_place), x.view(), b_.whole(b_place))};
  }
  void write(const output_names& to) override {
    const matrix<T> x = as_columns(x_);
    linalg::write_matrix<T>(to.matrix, x.view());
  }

 private:
  bool is_lu_;
  const operand<T>& a_;
  const operand<T>& b_;
  tile_matrix<T> factors_, x_;
};

/// `b` is null where nothing is solved.
template <scalar T>
std::unique_ptr<job<T>> make_tile_job(const problem& what, const operand<T>& a,
                                      const operand<T>* b) {
  if (what.solves) return std::make_unique<tile_solve_job<T>>(what, a, *b);
  return std::make_unique<tile_factor_job<T>>(what, a);
}

}  // namespace creek::tool::dense
