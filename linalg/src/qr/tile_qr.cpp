// SPDX-License-Identifier: Apache-2.0
#include <creek/linalg/tile_qr.hpp>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/shared_pack.hpp"
#include "pair_reflectors.hpp"
#include "tile_reflectors.hpp"
#include "tiles/tile_elimination.hpp"
#include "tiles/tile_tasks.hpp"

namespace creek::linalg {
namespace detail {

/// Kind of task in a column of tiles: geqrt factors a single tile; tsqrt and ttqrt eliminate a tile
/// by the upper triangle of another: a full tile, or one that was factored by geqrt before.
enum class tile_step { geqrt, tsqrt, ttqrt };

struct reflection {
  tile_step step;
  index_t top;  // row of tiles; equals `row` if there is only one
  index_t row;
};

namespace {

lower_block kind_of(tile_step step) {
  return step == tile_step::tsqrt ? lower_block::square : lower_block::triangle;
}

/// Returns the number of multiplications in the update of a pair, or of a single tile.
double update_products(tile_step step, index_t m, index_t n, index_t cols) {
  const auto rows = static_cast<double>(m);
  const auto order = static_cast<double>(std::min(m, n));
  const double full = static_cast<double>(cols) * order;
  switch (step) {
    case tile_step::geqrt:
      return full * (2 * rows - order);
    case tile_step::tsqrt:
      return 2 * full * rows;
    case tile_step::ttqrt:
      break;
  }
  return full * order;
}
/// Same for a factorization, which costs an update of half as many columns, or a third.
double factor_products(tile_step step, index_t m, index_t n) {
  if (step == tile_step::geqrt) {
    const auto rows = static_cast<double>(std::max(m, n));
    const auto cols = static_cast<double>(std::min(m, n));
    return cols * cols * (rows - cols / 3);
  }
  return update_products(step, m, n, n) / (step == tile_step::tsqrt ? 2 : 3);
}

constexpr const char* factor_names[] = {"geqrt", "tsqrt", "ttqrt"};
constexpr const char* update_names[] = {"unmqr", "tsmqr", "ttmqr"};

}  // namespace

/// W = Q, a product of blocks of reflectors of one or two tiles.
template <scalar T>
class qr_elimination final : public tile_elimination<T>,
                             public std::enable_shared_from_this<qr_elimination<T>> {
 public:
  qr_elimination(tile_matrix<T> A, const tile_qr_options& options)
      : tile_elimination<T>("tile_qr", std::move(A), options.inner),
        domain_(std::max<index_t>(1, tiles.tile_rows())),
        records_(static_cast<std::size_t>(tiles.tile_rows() * steps_)) {
    require(options.domain >= 1, "tile_qr", "domain must be at least 1");
    if (options.tree == reduction_tree::binary) domain_ = std::min(domain_, options.domain);
  }

  void factor(task_graph& graph) override;
  void apply(task_graph& graph, op how, const blocked_view<T>& B) override {
    apply(graph, how != op::none, B, false);
  }
  /// Enqueues B = Q B or Q^H B. If `lower`, the blocks of B above the diagonal are zero and stay
  /// so.
  void apply(task_graph& graph, bool turned, const blocked_view<T>& B, bool lower);

 private:
  using tile_elimination<T>::tiles, tile_elimination<T>::tile, tile_elimination<T>::priority;
  using tile_elimination<T>::steps_, tile_elimination<T>::inner_;

  /// Triangular factors T of the reflectors in tile (i, k): `own` for those below its diagonal,
  /// `joint` for the elimination of the tile or its triangle. Packed for later columns.
  struct record {
    matrix<T> own, joint;
    shared_pack<packed_tile<T>> own_packed;
    shared_pack<packed_pair<T>> joint_packed;
  };
  record& at(index_t i, index_t k) {
    return records_[static_cast<std::size_t>(i + k * tiles.tile_rows())];
  }

  std::vector<reflection> reflections(index_t k) const;
  void factor_step(index_t k, const reflection& r);
  void update_step(index_t k, const reflection& r, matrix_view<T> C1, matrix_view<T> C2);
  void apply_step(index_t k, const reflection& r, bool turned, matrix_view<T> C1,
                  matrix_view<T> C2);
  void add_factor(task_graph& graph, index_t k, const reflection& r);
  template <class Body>
  void add_update(task_graph& graph, index_t k, const reflection& r, matrix_view<T> C1,
                  matrix_view<T> C2, int priority, const Body& body);

  /// Returns the bytes of the triangles T that belong to a tile.
  std::size_t triangle_bytes(const_view<T> A) const noexcept {
    return static_cast<std::size_t>(std::min(inner_, A.cols()) * A.cols()) * sizeof(T);
  }

  index_t domain_;
  std::vector<record> records_;
};

/// Returns the reflections of column k of tiles in order: flat trees within the domains, then the
/// binary tree of the domains' first tiles.
template <scalar T>
std::vector<reflection> qr_elimination<T>::reflections(index_t k) const {
  std::vector<reflection> all;
  const index_t rows = tiles.tile_rows();
  for (index_t head = k; head < rows; head += domain_) {
    all.push_back({tile_step::geqrt, head, head});
    for (index_t row = head + 1; row < std::min(head + domain_, rows); ++row) {
      all.push_back({tile_step::tsqrt, head, row});
    }
  }
  for (index_t distance = domain_; distance < rows - k; distance *= 2) {
    for (index_t top = k; top + distance < rows; top += 2 * distance) {
      all.push_back({tile_step::ttqrt, top, top + distance});
    }
  }
  return all;
}

template <scalar T>
void qr_elimination<T>::factor_step(index_t k, const reflection& r) {
  const matrix_view<T> A = tiles.tile(r.row, k);
  const index_t users = tiles.tile_cols() - k - 1;
  record& here = at(r.row, k);
  if (r.step == tile_step::geqrt) {
    const index_t order = std::min(A.rows(), A.cols());
    here.own = matrix<T>(std::min(inner_, order), order);
    factor_tile(A, here.own.view());
    here.own_packed.make(users, A, here.own.view(), true);
  } else {
    const index_t order = A.cols();
    here.joint = matrix<T>(std::min(inner_, order), order);
    const matrix_view<T> R = tiles.tile(r.top, k).block(0, 0, order, order);
    factor_pair(kind_of(r.step), R, A, here.joint.view());
    here.joint_packed.make(users, kind_of(r.step), A, here.joint.view(), true);
  }
}

/// Applies the packed reflectors during the factorization.
template <scalar T>
void qr_elimination<T>::update_step(index_t k, const reflection& r, matrix_view<T> C1,
                                    matrix_view<T> C2) {
  record& here = at(r.row, k);
  if (r.step == tile_step::geqrt) {
    here.own_packed.get().apply(C1);
    here.own_packed.release();
  } else {
    here.joint_packed.get().apply(C1, C2);
    here.joint_packed.release();
  }
}

/// Packs and applies the reflectors after the factorization.
template <scalar T>
void qr_elimination<T>::apply_step(index_t k, const reflection& r, bool turned, matrix_view<T> C1,
                                   matrix_view<T> C2) {
  const const_view<T> V = tile(r.row, k);
  const record& here = at(r.row, k);
  if (r.step == tile_step::geqrt) {
    packed_tile<T>(V, here.own.view(), turned).apply(C1);
  } else {
    packed_pair<T>(kind_of(r.step), V, here.joint.view(), turned).apply(C1, C2);
  }
}

/// The part of a tile below its diagonal is read by updates while the upper part still changes. So
/// the graph identifies that part by the address of its record.
template <scalar T>
void qr_elimination<T>::add_factor(task_graph& graph, index_t k, const reflection& r) {
  const const_view<T> A = tile(r.row, k);
  const task_info info{factor_names[static_cast<int>(r.step)],
                       flops_of<T>(factor_products(r.step, A.rows(), A.cols())),
                       this->priority(k, true)};
  const auto body = [self = this->shared_from_this(), k, r] { self->factor_step(k, r); };
  if (r.step == tile_step::geqrt) {
    graph.add(info, {inout_whole(A), out(&at(r.row, k), triangle_bytes(A))}, body);
  } else {
    graph.add(info, {inout_whole(tile(r.top, k)), inout_whole(A)}, body);
  }
}

template <scalar T>
template <class Body>
void qr_elimination<T>::add_update(task_graph& graph, index_t k, const reflection& r,
                                   matrix_view<T> C1, matrix_view<T> C2, int priority,
                                   const Body& body) {
  const const_view<T> V = tile(r.row, k);
  const task_info info{update_names[static_cast<int>(r.step)],
                       flops_of<T>(update_products(r.step, V.rows(), V.cols(), C1.cols())),
                       priority};
  if (r.step == tile_step::geqrt) {
    graph.add(info, {in(&at(r.row, k), bytes_of(V) / 2 + triangle_bytes(V)), inout_whole(C1)},
              body);
  } else {
    graph.add(info,
              {in(V.data(), bytes_of(V) + triangle_bytes(V)), inout_whole(C1), inout_whole(C2)},
              body);
  }
}

/// Step k, for each reflection of the column's tree in order:
///   A(i, k) = Q(i) R(i)                                  a single tile     geqrt
///   A(i, j) = Q(i)^H A(i, j)                             for j > k         unmqr
///   [R(top); A(i, k)] = Q(i) R(top)                      a pair of tiles   tsqrt, ttqrt
///   [A(top, j); A(i, j)] = Q(i)^H [A(top, j); A(i, j)]   for j > k         tsmqr, ttmqr
template <scalar T>
void qr_elimination<T>::factor(task_graph& graph) {
  for (index_t k = 0; k < steps_; ++k) {
    for (const reflection& r : reflections(k)) {
      add_factor(graph, k, r);
      for (index_t j = k + 1; j < tiles.tile_cols(); ++j) {
        const matrix_view<T> C1 = tiles.tile(r.top, j), C2 = tiles.tile(r.row, j);
        add_update(
            graph, k, r, C1, C2, priority(k, j == k + 1),
            [self = this->shared_from_this(), k, r, C1, C2] { self->update_step(k, r, C1, C2); });
      }
    }
  }
}

template <scalar T>
void qr_elimination<T>::apply(task_graph& graph, bool turned, const blocked_view<T>& B,
                              bool lower) {
  for (index_t s = 0; s < steps_; ++s) {
    const index_t k = turned ? s : steps_ - 1 - s;
    std::vector<reflection> all = reflections(k);
    if (!turned) std::reverse(all.begin(), all.end());
    for (const reflection& r : all) {
      for (index_t j = lower ? k : 0; j < B.col_blocks(); ++j) {
        const matrix_view<T> C1 = B.block(r.top, j), C2 = B.block(r.row, j);
        add_update(graph, k, r, C1, C2, 0, [self = this->shared_from_this(), k, r, turned, C1, C2] {
          self->apply_step(k, r, turned, C1, C2);
        });
      }
    }
  }
}

}  // namespace detail

using namespace detail;

template <scalar T>
tile_qr<T>::tile_qr(task_graph& graph, tile_matrix<T> A, const tile_qr_options& options)
    : tile_factorization<T>(graph, std::make_shared<qr_elimination<T>>(std::move(A), options)) {}

template <scalar T>
tile_qr<T>::tile_qr(tile_matrix<T> A, const tile_qr_options& options)
    : tile_factorization<T>(std::make_shared<qr_elimination<T>>(std::move(A), options)) {}

template <scalar T>
tile_qr<T>::tile_qr(const_view<T> A, const tile_qr_options& options)
    : tile_qr(tile_matrix<T>(A, block_or_default(options.block, A.rows(), A.cols())), options) {}

template <scalar T>
matrix<T> tile_qr<T>::r() const {
  const tile_matrix<T>& tiles = this->factors();
  matrix<T> R(std::min(tiles.rows(), tiles.cols()), tiles.cols());
  const blocked_view<T> blocks{R.view(), tiles.tile_size()};
  for (index_t j = 0; j < blocks.col_blocks(); ++j) {
    for (index_t i = 0; i < std::min(j + 1, blocks.row_blocks()); ++i) {
      const matrix_view<T> to = blocks.block(i, j);
      for (index_t c = 0; c < to.cols(); ++c) {
        std::copy_n(tiles.tile(i, j).column(c), i == j ? std::min(c + 1, to.rows()) : to.rows(),
                    to.column(c));
      }
    }
  }
  return R;
}

template <scalar T>
matrix<T> tile_qr<T>::form_q() const {
  const tile_matrix<T>& tiles = this->factors();
  matrix<T> Q(tiles.rows(), std::min(tiles.rows(), tiles.cols()));
  for (index_t i = 0; i < Q.cols(); ++i) Q(i, i) = T{1};
  task_graph graph;
  static_cast<qr_elimination<T>&>(*this->elimination_)
      .apply(graph, false, {Q.view(), tiles.tile_size()}, true);
  graph.wait();
  return Q;
}

template <scalar T>
void tile_qr<T>::apply_q(task_graph& graph, op how, matrix_view<T> B) const {
  require(B.rows() == this->factors().rows(), "tile_qr", "B must have as many rows as A");
  require(!is_complex<T> || how != op::transpose, "tile_qr",
          "of complex numbers only Q and its conjugate transpose can be applied");
  this->apply(graph, how, B);
}

template <scalar T>
void tile_qr<T>::apply_q(op how, matrix_view<T> B) const {
  task_graph graph;
  apply_q(graph, how, B);
  graph.wait();
}

template <scalar T>
void tile_qr<T>::solve(task_graph& graph, matrix_view<T> B) const {
  const tile_matrix<T>& tiles = this->factors();
  require(tiles.cols() <= tiles.rows(), "tile_qr",
          "the matrix has more columns than rows; gels() finds the least solution");
  apply_q(graph, op::conjugate_transpose, B);
  this->solve_upper(graph, op::none, B);
}

template <scalar T>
matrix<T> tile_qr<T>::solve(matrix<T> B) const {
  task_graph graph;
  solve(graph, B.view());
  graph.wait();
  const index_t n = this->factors().cols();
  return matrix<T>(const_view<T>(B.view().block(0, 0, n, B.cols())));
}

#define CREEK_INSTANTIATE(letter, T) template class tile_qr<T>;
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg
