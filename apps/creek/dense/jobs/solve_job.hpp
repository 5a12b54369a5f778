// SPDX-License-Identifier: Apache-2.0
// Solves systems by any of the factorizations, with or without refinement.
#pragma once

#include <algorithm>
#include <creek/linalg/cholesky.hpp>
#include <creek/linalg/condition.hpp>
#include <creek/linalg/lu.hpp>
#include <creek/linalg/qr.hpp>
#include <creek/linalg/refine.hpp>
#include <span>
#include <utility>
#include <vector>

#include "job.hpp"
#include "solution.hpp"

namespace creek::tool::dense {

/// True if T is double precision, so that a lower precision exists.
template <scalar T>
inline constexpr bool is_double = sizeof(linalg::real<T>) == sizeof(double);

template <scalar T>
class solve_job final : public job<T> {
 public:
  solve_job(const problem& what, const operand<T>& a, const operand<T>& b)
      : how_(what.how),
        refine_(what.refine),
        block_(what.block),
        a_(a),
        b_(b),
        work_(a.rows(), a.cols()),
        x_(std::max(a.rows(), a.cols()), b.cols()),
        pivots_(how_ == method::lu ? static_cast<std::size_t>(a.rows()) : 0) {}

  void prepare() override {
    a_.put(work_.view());
    b_.put(x_.view().block(0, 0, b_.rows(), b_.cols()));
    if (refine_ != refinement::none) (void)rhs();
    if (refine_ == refinement::fixed) (void)original();
  }
  index_t run() override {
    if (refine_ == refinement::mixed) return solve_mixed();
    const index_t info = solve();
    if (info == 0 && refine_ == refinement::fixed) correct();
    return info;
  }
  std::vector<judgement> judge() const override {
    return {judge_solution<T>(original(), x(), rhs())};
  }
  std::optional<double> rcond() override {
    const double size = linalg::norm_of<T>(linalg::norm::one, original());
    const index_t n = std::min(work_.rows(), work_.cols());
    const const_view<T> factors = std::as_const(work_).view().block(0, 0, n, n);
    switch (how_) {
      case method::lu:
        if (!has_factors()) (void)linalg::getrf(work_.view(), std::span<index_t>(pivots_));
        return linalg::gecon<T>(linalg::norm::one, factors, size);
      case method::chol:
        if (!has_factors()) (void)linalg::potrf(linalg::triangle::lower, work_.view());
        return linalg::pocon<T>(linalg::triangle::lower, factors, size);
      case method::qr:
        break;
    }
    // Estimates the condition of R, or for a wide matrix that of R^H.
    const auto where =
        work_.rows() < work_.cols() ? linalg::triangle::lower : linalg::triangle::upper;
    return linalg::trcon<T>(linalg::norm::one, where, linalg::diagonal::stored, factors);
  }
  std::optional<int> corrections() const override {
    return refine_ == refinement::none ? std::nullopt : std::optional(corrections_);
  }
  void write(output_files& to) override { to.write<T>(x()); }

 private:
  /// Returns the solution; for least squares, the rows below it are the residual.
  const_view<T> x() const noexcept { return x_.view().block(0, 0, work_.cols(), x_.cols()); }

  /// Returns the operands as they were before the run; they are made on the first call.
  const_view<T> original() const { return whole(a_, a_whole_, a_place_); }
  const_view<T> rhs() const { return whole(b_, b_whole_, b_place_); }
  static const_view<T> whole(const operand<T>& of, std::optional<const_view<T>>& view,
                             matrix<T>& place) {
    if (!view) view = of.whole(place);
    return *view;
  }

  index_t solve() {
    const matrix_view<T> A = work_.view(), B = x_.view();
    switch (how_) {
      case method::lu:
        return linalg::gesv(A, std::span<index_t>(pivots_), B,
                            {.block = block_, .report = &this->graph_});
      case method::chol:
        return linalg::posv(linalg::triangle::lower, A, B,
                            {.block = block_, .report = &this->graph_});
      case method::qr:
        break;
    }
    const index_t info =
        linalg::gels(linalg::op::none, A, B, {.block = block_, .report = &this->graph_});
    // A matrix of zeros is not factored: X = 0 is its shortest solution.
    const bool is_zero = info == 0 && !A.empty() && A(0, 0) == T{};
    return is_zero ? 1 : info;
  }
  void correct() {
    const const_view<T> A = original(), factors = std::as_const(work_).view();
    corrections_ = how_ == method::lu
                       ? linalg::gerfs<T>(linalg::op::none, A, factors, pivots_, rhs(), x_.view())
                       : linalg::porfs<T>(linalg::triangle::lower, A, factors, rhs(), x_.view());
  }
  index_t solve_mixed() {
    linalg::mixed_result done;
    if constexpr (is_double<T>) {
      done = how_ == method::lu
                 ? linalg::gesv_mixed<T>(work_.view(), std::span<index_t>(pivots_), rhs(),
                                         x_.view(), {.block = block_, .report = &this->graph_})
                 : linalg::posv_mixed<T>(linalg::triangle::lower, work_.view(), rhs(), x_.view(),
                                         {.block = block_, .report = &this->graph_});
    }
    corrections_ = done.iterations;
    return done.info;
  }
  /// Returns whether factors exist; those in lower precision are not kept.
  bool has_factors() const noexcept { return refine_ != refinement::mixed || corrections_ < 0; }

  method how_;
  refinement refine_;
  index_t block_;
  const operand<T>& a_;
  const operand<T>& b_;
  matrix<T> work_, x_;
  std::vector<index_t> pivots_;
  int corrections_ = 0;
  mutable std::optional<const_view<T>> a_whole_, b_whole_;
  mutable matrix<T> a_place_, b_place_;
};

}  // namespace creek::tool::dense
