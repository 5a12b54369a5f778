// SPDX-License-Identifier: Apache-2.0
// Jobs that the commands time and judge with --form blocks: the matrix is made, factored and used
// in tiles, and copied to columns to be judged and written.
#pragma once

#include <creek/linalg/by_blocks.hpp>
#include <creek/linalg/tile_lu.hpp>
#include <creek/linalg/tile_qr.hpp>
#include <numeric>
#include <optional>

#include "jobs.hpp"

namespace creek::tool::dense {

using linalg::tile_matrix;

template <scalar T>
matrix<T> as_columns(const tile_matrix<T>& tiles) {
  matrix<T> columns(tiles.rows(), tiles.cols());
  tiles.copy_to(columns);
  return columns;
}

/// Job for LU without pivoting, or Cholesky.
template <scalar T>
class tile_factor_job final : public job<T> {
 public:
  tile_factor_job(const problem& what, const operand<T>& a)
      : is_lu_(what.how == method::lu), a_(a), factors_(a.rows(), a.cols(), what.block) {}

  void prepare() override { a_.put(factors_.view()); }
  index_t run() override {
    linalg::graph_info info;
    this->run_graph([&](linalg::task_graph& graph) {
      if (is_lu_) return linalg::getrf_nopiv(graph, factors_.view(), info);
      linalg::potrf(graph, linalg::triangle::lower, factors_.view(), info);
    });
    return info.value();
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
  void write(output_files& to) override {
    matrix<T> factors = as_columns(factors_);
    if (!is_lu_) clear_upper(factors.view());
    to.write<T>(std::as_const(factors).view());
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
    linalg::graph_info info;
    this->run_graph([&](linalg::task_graph& graph) {
      if (is_lu_) return linalg::gesv_nopiv(graph, factors_.view(), x_.view(), info);
      linalg::posv(graph, linalg::triangle::lower, factors_.view(), x_.view(), info);
    });
    return info.value();
  }
  std::vector<judgement> judge() const override {
    matrix<T> a_place, b_place;
    const matrix<T> x = as_columns(x_);
    return {judge_solution<T>(a_.whole(a_place), x.view(), b_.whole(b_place))};
  }
  void write(output_files& to) override {
    const matrix<T> x = as_columns(x_);
    to.write<T>(x.view());
  }

 private:
  bool is_lu_;
  const operand<T>& a_;
  const operand<T>& b_;
  tile_matrix<T> factors_, x_;
};

/// A factorization with its own class, tile_lu or tile_qr. The class keeps the tiles, so each run
/// makes new ones.
template <scalar T, class Factors>
class own_factors {
 public:
  own_factors(const problem& what, const operand<T>& a)
      : block_(what.block), tree_(what.tree), a_(a) {}

  void prepare() {
    factors_.reset();
    const index_t block = block_ != 0 ? block_ : Factors::default_block(a_.rows(), a_.cols());
    tiles_ = tile_matrix<T>(a_.rows(), a_.cols(), block);
    a_.put(tiles_.view());
  }
  /// Enqueues the factorization; the factors are known when the graph has run.
  void enqueue(linalg::task_graph& graph) {
    if constexpr (is_qr) {
      factors_.emplace(graph, std::move(tiles_), linalg::tile_qr_options{.tree = tree_});
    } else {
      factors_.emplace(graph, std::move(tiles_));
    }
  }
  const Factors& get() const { return *factors_; }

 private:
  static constexpr bool is_qr = std::same_as<Factors, linalg::tile_qr<T>>;

  index_t block_;
  linalg::reduction_tree tree_;
  const operand<T>& a_;
  tile_matrix<T> tiles_;
  std::optional<Factors> factors_;
};

/// Judges a solution by the factors, since there is no L to multiply by.
template <scalar T>
class incremental_lu_job final : public job<T> {
 public:
  incremental_lu_job(const problem& what, const operand<T>& a)
      : seed_(~what.seed), a_(a), lu_(what, a) {}

  void prepare() override { lu_.prepare(); }
  index_t run() override {
    this->run_graph([this](linalg::task_graph& graph) { lu_.enqueue(graph); });
    return lu_.get().info();
  }
  std::vector<judgement> judge() const override {
    matrix<T> place, b(a_.rows(), 1);
    operand<T>({.seed = seed_}, a_.rows(), 1).put(b.view());
    const matrix<T> x = lu_.get().solve(b);
    return {judge_solution<T>(a_.whole(place), x.view(), std::as_const(b).view())};
  }
  void write(output_files&) override {}  // refused earlier

 private:
  std::uint64_t seed_;
  const operand<T>& a_;
  own_factors<T, linalg::tile_lu<T>> lu_;
};

template <scalar T>
class tile_qr_job final : public job<T> {
 public:
  tile_qr_job(const problem& what, const operand<T>& a) : a_(a), qr_(what, a) {}

  void prepare() override { qr_.prepare(); }
  index_t run() override {
    this->run_graph([this](linalg::task_graph& graph) { qr_.enqueue(graph); });
    return 0;
  }
  std::vector<judgement> judge() const override {
    matrix<T> place;
    const linalg::orthogonal_operator<T> q = [this](linalg::op how, matrix_view<T> x) {
      qr_.get().apply_q(how, x);
    };
    const matrix<T> r = as_columns(qr_.get().factors());
    return judge_qr<T>(a_.whole(place), q, r.view());
  }
  void write(output_files&) override {}  // refused earlier

 private:
  const operand<T>& a_;
  own_factors<T, linalg::tile_qr<T>> qr_;
};

/// Job that solves with the library's own factorizations.
template <scalar T, class Factors>
class own_solve_job final : public job<T> {
 public:
  own_solve_job(const problem& what, const operand<T>& a, const operand<T>& b)
      : a_(a), b_(b), factors_(what, a) {}

  void prepare() override {
    factors_.prepare();
    x_ = matrix<T>(b_.rows(), b_.cols());
    b_.put(x_.view());
  }
  index_t run() override {
    this->run_graph([this](linalg::task_graph& graph) { factors_.enqueue(graph); });
    const index_t info = factors_.get().info();
    if (info == 0) x_ = factors_.get().solve(std::move(x_));
    return info;
  }
  std::vector<judgement> judge() const override {
    matrix<T> a_place, b_place;
    return {judge_solution<T>(a_.whole(a_place), x_.view(), b_.whole(b_place))};
  }
  void write(output_files& to) override { to.write<T>(std::as_const(x_).view()); }

 private:
  const operand<T>& a_;
  const operand<T>& b_;
  own_factors<T, Factors> factors_;
  matrix<T> x_;
};

/// Makes the job of a problem; `b` is null if nothing is solved.
template <scalar T>
std::unique_ptr<job<T>> make_tile_job(const problem& what, const operand<T>& a,
                                      const operand<T>* b) {
  if (what.has_own_factors()) {
    const bool is_qr = what.how == method::qr;
    if (!what.solves && is_qr) return std::make_unique<tile_qr_job<T>>(what, a);
    if (!what.solves) return std::make_unique<incremental_lu_job<T>>(what, a);
    if (is_qr) return std::make_unique<own_solve_job<T, linalg::tile_qr<T>>>(what, a, *b);
    return std::make_unique<own_solve_job<T, linalg::tile_lu<T>>>(what, a, *b);
  }
  if (what.solves) return std::make_unique<tile_solve_job<T>>(what, a, *b);
  return std::make_unique<tile_factor_job<T>>(what, a);
}

}  // namespace creek::tool::dense
