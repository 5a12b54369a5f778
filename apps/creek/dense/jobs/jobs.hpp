// SPDX-License-Identifier: Apache-2.0
// Jobs that the commands time and judge: a class for each factorization.
#pragma once

#include <algorithm>
#include <creek/linalg/cholesky.hpp>
#include <creek/linalg/lu.hpp>
#include <creek/linalg/qr.hpp>
#include <memory>
#include <span>
#include <vector>

#include "column_plan.hpp"
#include "dense/problem.hpp"
#include "dense/report.hpp"
#include "job.hpp"
#include "operand.hpp"
#include "solve_job.hpp"

namespace creek::tool::dense {

/// Returns a generated matrix of the kind that the method takes.
template <scalar T>
operand<T> generated_matrix(const problem& what) {
  const auto kind = what.how == method::chol        ? linalg::matrix_kind::positive_definite
                    : what.pivots == pivoting::none ? linalg::matrix_kind::dominant
                                                    : linalg::matrix_kind::uniform;
  return operand<T>({.kind = kind, .seed = what.seed}, what.rows, what.cols);
}

/// Returns whole numbers in the form of a matrix file, exact up to 2^53.
inline matrix<double> as_column(std::span<const index_t> numbers) {
  matrix<double> column(static_cast<index_t>(numbers.size()), 1);
  std::ranges::transform(numbers, column.data(),
                         [](index_t number) { return static_cast<double>(number); });
  return column;
}

/// Sets a factor's upper triangle to zero, which still holds that of A.
template <scalar T>
void clear_upper(matrix_view<T> factor) {
  for (index_t j = 1; j < factor.cols(); ++j) std::fill_n(factor.column(j), j, T{});
}

template <scalar T>
class lu_job final : public job<T> {
 public:
  lu_job(const problem& what, const operand<T>& a)
      : a_(a),
        options_{.block = what.block, .report = &this->graph_, .updates = what.updates},
        factors_(a.rows(), a.cols()),
        pivots_(static_cast<std::size_t>(std::min(a.rows(), a.cols()))) {}

  void prepare() override { a_.put(factors_.view()); }
  index_t run() override {
    return linalg::getrf(factors_.view(), std::span<index_t>(pivots_), options_);
  }
  work_graph plan() override {
    return options_.updates == linalg::update_tasks::blocks
               ? linalg::getrf_plan(factors_.view(), options_.block)
               : plan_of_columns(this->graph_.runs.size());
  }
  std::vector<judgement> judge() const override {
    matrix<T> place;
    const double residual =
        linalg::lu_residual<T>(a_.whole(place), factors_.view(), std::span<const index_t>(pivots_));
    return {{"|L U - P A| / (n |A| eps)", residual, linalg::lapack_threshold}};
  }
  void write(output_files& to) override {
    to.write<T>(factors_.view());
    const matrix<double> column = as_column(pivots_);
    to.write_beside<double>(column.view());
  }

 private:
  const operand<T>& a_;
  linalg::lu_options options_;
  matrix<T> factors_;
  std::vector<index_t> pivots_;
};

template <scalar T>
class cholesky_job final : public job<T> {
 public:
  cholesky_job(const problem& what, const operand<T>& a)
      : a_(a),
        options_{.block = what.block, .report = &this->graph_},
        factor_(a.rows(), a.cols()) {}

  void prepare() override { a_.put(factor_.view()); }
  index_t run() override {
    return linalg::potrf(linalg::triangle::lower, factor_.view(), options_);
  }
  work_graph plan() override { return plan_of_columns(this->graph_.runs.size()); }
  std::vector<judgement> judge() const override {
    matrix<T> place;
    const double residual =
        linalg::cholesky_residual<T>(linalg::triangle::lower, a_.whole(place), factor_.view());
    return {{"|L L' - A| / (n |A| eps)", residual, linalg::lapack_threshold}};
  }
  void write(output_files& to) override {
    clear_upper(factor_.view());
    to.write<T>(factor_.view());
  }

 private:
  const operand<T>& a_;
  linalg::cholesky_options options_;
  matrix<T> factor_;
};

/// Judges a QR factorization whose R is on and above the diagonal of `r`.
template <scalar T>
std::vector<judgement> judge_qr(const_view<T> a, const linalg::orthogonal_operator<T>& q,
                                const_view<T> r) {
  const double product = linalg::qr_residual<T>(a, q, r);
  const double upright = linalg::orthogonality<T>(a.rows(), q);
  return {{"|Q R - A| / (m |A| eps)", product, linalg::lapack_threshold},
          {"|Q' Q - I| / (m eps)", upright, linalg::lapack_threshold}};
}

template <scalar T>
class qr_job final : public job<T> {
 public:
  qr_job(const problem& what, const operand<T>& a)
      : a_(a),
        options_{.block = what.block, .report = &this->graph_},
        factors_(a.rows(), a.cols()),
        tau_(std::min(a.rows(), a.cols()), 1) {}

  void prepare() override { a_.put(factors_.view()); }
  index_t run() override {
    linalg::geqrf(factors_.view(), tau(), options_);
    return 0;
  }
  work_graph plan() override { return plan_of_columns(this->graph_.runs.size()); }
  std::vector<judgement> judge() const override {
    matrix<T> place;
    const linalg::orthogonal_operator<T> q = [this](linalg::op how, matrix_view<T> x) {
      const index_t reflectors = tau_.rows();
      linalg::ormqr<T>(linalg::side::left, how, factors_.view().columns(0, reflectors),
                       {tau_.data(), static_cast<std::size_t>(reflectors)}, x);
    };
    return judge_qr<T>(a_.whole(place), q, factors_.view());
  }
  void write(output_files& to) override {
    to.write<T>(factors_.view());
    to.write_beside<T>(std::as_const(tau_).view());
  }

 private:
  std::span<T> tau() noexcept { return {tau_.data(), static_cast<std::size_t>(tau_.rows())}; }

  const operand<T>& a_;
  linalg::qr_options options_;
  matrix<T> factors_;
  matrix<T> tau_;
};

/// Makes the job of a problem; `b` is null if nothing is solved.
template <scalar T>
std::unique_ptr<job<T>> make_job(const problem& what, const operand<T>& a, const operand<T>* b) {
  if (what.solves) return std::make_unique<solve_job<T>>(what, a, *b);
  switch (what.how) {
    case method::lu:
      return std::make_unique<lu_job<T>>(what, a);
    case method::chol:
      return std::make_unique<cholesky_job<T>>(what, a);
    case method::qr:
      break;
  }
  return std::make_unique<qr_job<T>>(what, a);
}

}  // namespace creek::tool::dense
