// SPDX-License-Identifier: Apache-2.0
// Products of matrices of tiles: one rank update per column of tiles of the left operand.
#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include <creek/core/threads/sanitizer.hpp>

#include "kernels/pack_memory.hpp"
#include "tile_tasks.hpp"

namespace creek::linalg::detail {

template <scalar T>
strided<T> tile_operand<T>::elements(index_t i, index_t j) const noexcept {
  const const_view<T> tile = stored(i, j);
  if (shape == structure::general) return strided_of(tile, how);
  if (i != j) {
    const op mirrored = shape == structure::hermitian ? op::conjugate_transpose : op::transpose;
    return strided_of(tile, is_mirrored(i, j) ? mirrored : op::none);
  }
  strided<T> whole = strided_of(tile, op::none);
  whole.shape = shape;
  whole.stored_low = stored_low;
  return whole;
}

namespace {

/// Splits the depth, which may exceed what the kernels take at once, into equal steps.
template <scalar T, class Body>
void for_each_step(index_t depth, const Body& body) {
  const index_t steps = (depth + blocking<T>::depth() - 1) / blocking<T>::depth();
  const index_t step = (depth + steps - 1) / steps;
  for (index_t p = 0; p < depth; p += step) body(p, std::min(step, depth - p));
}

}  // namespace

/// Operand that several tasks need packed. The first one packs it for all; a task that comes while
/// it is being packed packs its own copy instead of waiting.
template <class R>
class pack_once {
 public:
  void expect(index_t users) noexcept { users_left_.store(users, std::memory_order_relaxed); }

  /// Returns the packed operand; it is stored in `own` if it is packed for this user alone.
  template <class Pack>
  const R* use(index_t size, std::optional<pack_array<R>>& own, const Pack& pack) {
    state seen = state_.load(std::memory_order_acquire);
    if (seen == state::ready) {
      sanitizer::acquired(&state_);
      return packed_->data();
    }
    if (seen == state::empty && state_.compare_exchange_strong(seen, state::in_work)) {
      try {
        packed_.emplace(size);
      } catch (...) {
        state_.store(state::empty);
        throw;
      }
      pack(packed_->data());
      sanitizer::releases(&state_);
      state_.store(state::ready, std::memory_order_release);
      return packed_->data();
    }
    own.emplace(size);
    pack(own->data());
    return own->data();
  }
  /// To be called once by each user after use(); the last call frees the operand.
  void done() noexcept {
    sanitizer::releases(&users_left_);
    if (users_left_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    sanitizer::acquired(&users_left_);
    packed_.reset();
  }

 private:
  enum class state { empty, in_work, ready };
  std::atomic<state> state_{state::empty};
  std::atomic<index_t> users_left_{0};
  std::optional<pack_array<R>> packed_;
};

/// C = beta C + alpha a(:, p) b(p, :): state shared by the tasks of one p.
template <scalar T>
class tile_rank_update {
 public:
  using R = real<T>;

  tile_rank_update(const tile_product<T>& what, index_t p)
      : what_(what),
        p_(p),
        is_first_(p == 0),
        is_last_(p + 1 == what.a.tile_cols()),
        left_(static_cast<std::size_t>(what.C.tile_rows())),
        right_(static_cast<std::size_t>(what.C.tile_cols())) {
    const index_t down = what.C.tile_rows(), across = what.C.tile_cols();
    for (index_t i = 0; i < down; ++i) {
      left(i).expect(what.which == part::all     ? across
                     : what.which == part::lower ? i + 1
                                                 : across - i);
    }
    for (index_t j = 0; j < across; ++j) {
      right(j).expect(what.which == part::all     ? down
                      : what.which == part::lower ? down - j
                                                  : j + 1);
    }
  }

  void run(index_t i, index_t j) {
    const matrix_view<T> C = what_.C.tile(i, j);
    const part which = i == j ? what_.which : part::all;
    const bool on_diagonal = what_.which != part::all && i == j;
    if (on_diagonal && is_first_ && what_.real_before) make_diagonal_real(C);
    if (is_first_) scale(what_.beta, C, which);
    if (C.cols() <= vector_columns) {
      multiply_add_here(what_.alpha, what_.a.elements(i, p_), what_.b.elements(p_, j),
                        what_.a.width(i, p_), C, which);
    } else {
      add_product(i, j, C, which);
    }
    if (on_diagonal && is_last_ && what_.real_after) make_diagonal_real(C);
  }

 private:
  pack_once<R>& left(index_t i) noexcept { return left_[static_cast<std::size_t>(i)]; }
  pack_once<R>& right(index_t j) noexcept { return right_[static_cast<std::size_t>(j)]; }

  void add_product(index_t i, index_t j, matrix_view<T> C, part which) {
    const index_t m = C.rows(), n = C.cols();
    const index_t depth = what_.a.width(i, p_);
    std::optional<pack_array<R>> own_left, own_right;
    const R* const packed_left =
        left(i).use(packed_left_size<T>(m, depth), own_left, [&](R* packed) {
          const strided<T> a = what_.a.elements(i, p_);
          for_each_step<T>(depth, [&](index_t p, index_t step) {
            pack_left(a.block(0, p), m, step, packed + packed_left_size<T>(m, p));
          });
        });
    const R* const packed_right =
        right(j).use(packed_right_size<T>(depth, n), own_right, [&](R* packed) {
          const strided<T> b = what_.b.elements(p_, j);
          for_each_step<T>(depth, [&](index_t p, index_t step) {
            pack_right(b.block(p, 0), step, n, what_.alpha, packed + packed_right_size<T>(p, n));
          });
        });
    for_each_step<T>(depth, [&](index_t p, index_t step) {
      const index_t high = blocking<T>::rows(step);
      for (index_t row = 0; row < m; row += high) {
        multiply_packed(std::min(high, m - row), n, step,
                        packed_left + packed_left_size<T>(m, p) + packed_left_size<T>(row, step),
                        packed_right + packed_right_size<T>(p, n), &C(row, 0), C.leading(), which,
                        row);
      }
    });
    left(i).done();
    right(j).done();
  }

  tile_product<T> what_;
  index_t p_;
  bool is_first_, is_last_;
  std::vector<pack_once<R>> left_, right_;
};

namespace {

/// Calls body(i, j) for the tiles of the requested part of C, one column of tiles after the other:
/// so a tile of the right operand stays in a cache for its whole column.
template <scalar T, class Body>
void for_each_wanted(tile_view<T> C, part which, const Body& body) {
  for (index_t j = 0; j < C.tile_cols(); ++j) {
    const index_t first = which == part::lower ? j : 0;
    const index_t last = which == part::upper ? j + 1 : C.tile_rows();
    for (index_t i = first; i < last; ++i) body(i, j);
  }
}

template <scalar T>
const char* name_of_task(const tile_product<T>& what, index_t i, index_t j, index_t p) {
  const bool structured = (what.which != part::all && i == j) ||
                          (what.a.shape != structure::general && i == p) ||
                          (what.b.shape != structure::general && p == j);
  return structured ? what.name : "gemm";
}

template <scalar T>
void enqueue_rank_update(const tile_tasks& to, const tile_product<T>& what, index_t p) {
  const auto update = std::make_shared<tile_rank_update<T>>(what, p);
  for_each_wanted(what.C, what.which, [&](index_t i, index_t j) {
    const const_view<T> a = what.a.stored(i, p), b = what.b.stored(p, j);
    const matrix_view<T> c = what.C.tile(i, j);
    const double products =
        static_cast<double>(a.rows()) * static_cast<double>(a.cols() * c.cols());
    const bool half = what.which != part::all && i == j;
    const bool overwrites = p == 0 && what.beta == T{} && !half;
    to.add(name_of_task(what, i, j, p), flops_of<T>(half ? products / 2 : products),
           {in_whole(a),
            in_whole(b),
            {c.data(), overwrites ? access::out : access::inout, bytes_of(c)}},
           [update, i, j] { update->run(i, j); });
  });
}

/// Enqueues C = beta C for a product with alpha = 0 or depth 0.
template <scalar T>
void enqueue_without_product(const tile_tasks& to, const tile_product<T>& what) {
  enqueue_scale(to, what.beta, what.C, what.which);
  if (!is_complex<T> || !what.real_after) return;
  for (index_t i = 0; i < what.C.tile_rows(); ++i) {
    const matrix_view<T> tile = what.C.tile(i, i);
    to.add("scale", 0, {inout_whole(tile)}, [tile] { make_diagonal_real(tile); });
  }
}

}  // namespace

template <scalar T>
void enqueue_scale(const tile_tasks& to, T beta, tile_view<T> C, part which) {
  if (beta == T{1} || C.empty()) return;
  for_each_wanted(C, which, [&](index_t i, index_t j) {
    const matrix_view<T> tile = C.tile(i, j);
    const part of_tile = i == j ? which : part::all;
    to.add("scale", 0, {inout_whole(tile)}, [=] { scale(beta, tile, of_tile); });
  });
}

template <scalar T>
void enqueue_product(const tile_tasks& to, const tile_product<T>& what) {
  if (what.C.empty()) return;
  const index_t steps = what.a.tile_cols();
  if (what.alpha == T{} || steps == 0) return enqueue_without_product(to, what);
  for (index_t p = 0; p < steps; ++p) enqueue_rank_update(to, what, p);
}

#define CREEK_INSTANTIATE(letter, T)                                        \
  template struct tile_operand<T>;                                          \
  template void enqueue_scale<T>(const tile_tasks&, T, tile_view<T>, part); \
  template void enqueue_product<T>(const tile_tasks&, const tile_product<T>&);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg::detail
