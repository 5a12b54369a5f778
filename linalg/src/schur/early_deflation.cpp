// SPDX-License-Identifier: Apache-2.0
// Aggressive early deflation: the Schur form of a window at the end of the active rows shows which
// eigenvalues have converged, long before subdiagonal elements do.
// Source: [Braman 2002], as in LAPACK's laqr3.
#include <algorithm>
#include <cmath>
#include <vector>

#include <creek/linalg/schur.hpp>

#include "block_update.hpp"
#include "multishift.hpp"
#include "qr/reflectors.hpp"
#include "reflector_right.hpp"
#include "small_reflector.hpp"

namespace creek::linalg::detail {
namespace {

template <scalar T>
class deflation_window {
  using R = real<T>;

 public:
  deflation_window(const schur_iteration<T>& of, index_t top, index_t end, index_t order)
      : of_(of),
        top_(top),
        end_(end),
        order_(order),
        first_(end - order),
        spike_(first_ == top ? T{} : of.H(first_, first_ - 1)),
        small_(safe_minimum<R> * (static_cast<R>(of.order()) / precision<R>)),
        A_(order, order),
        V_(order, order) {}

  deflation run() {
    if (order_ == 1) return single();
    form_schur();
    const index_t kept = find_deflated();
    if (kept == 0) spike_ = T{};
    if (kept < order_) sort(kept);
    store_eigenvalues();
    if (kept < order_ || spike_ == T{}) restore(kept);
    return {kept - failed_, order_ - kept};
  }

 private:
  deflation single() {
    const T only = of_.H(first_, first_);
    of_.w[first_] = only;
    if (!(size_of(spike_) <= std::max(small_, precision<R> * size_of(only)))) return {1, 0};
    if (first_ > top_) of_.H(first_, first_ - 1) = T{};
    return {0, 1};
  }

  void form_schur() {
    for (index_t j = 0; j < order_; ++j) {
      const index_t rows = std::min(j + 2, order_);
      std::copy_n(&of_.H(first_, first_ + j), rows, A_.view().column(j));
      V_(j, j) = T{1};
    }
    const schur_iteration<T> inner{A_.view(), V_.view(), true, of_.w + first_};
    failed_ = order_ > max_double_shift ? multishift_qr(inner, 0, order_)
                                        : double_shift_qr(inner, 0, order_);
    for (index_t j = 0; j + 2 < order_; ++j) {
      std::fill(A_.view().column(j) + j + 2, A_.view().column(j) + order_, T{});
    }
  }

  /// Returns the rows of the block that contains `at`, 2 only for real T.
  index_t block_size(index_t at) const noexcept {
    return at + 1 < order_ && A_(at + 1, at) != T{} ? 2 : 1;
  }
  bool is_second(index_t at) const noexcept { return at > 0 && A_(at, at - 1) != T{}; }
  R magnitude(index_t at) const noexcept {
    const R size = size_of(A_(at, at));
    if (block_size(at) == 1) return size;
    return size + std::sqrt(size_of(A_(at + 1, at))) * std::sqrt(size_of(A_(at, at + 1)));
  }

  /// Returns the number of rows that have not deflated, those at the top; the others follow.
  index_t find_deflated() {
    index_t kept = order_, to = failed_;
    while (to < kept) {
      const bool pair = is_second(kept - 1);
      const index_t at = kept - (pair ? 2 : 1);
      R size = magnitude(at);
      if (size == 0) size = size_of(spike_);
      R reach = size_of(spike_) * size_of(V_(0, at));
      if (pair) reach = std::max(reach, size_of(spike_) * size_of(V_(0, at + 1)));
      if (reach <= std::max(small_, precision<R> * size)) {
        kept = at;
        continue;
      }
      index_t moved = to;
      move_block(A_.view(), V_.view(), at, moved);
      to += pair ? 2 : 1;
    }
    return kept;
  }

  /// Sorts the blocks above row `end` by falling magnitude, which makes better shifts and later
  /// deflations: bubble sort, as neighbours alone can be exchanged.
  void sort(index_t end) {
    bool is_sorted = false;
    while (!is_sorted) {
      is_sorted = true;
      index_t at = failed_, next = at + (at < end ? block_size(at) : 1);
      while (next < end) {
        if (magnitude(at) >= magnitude(next)) {
          at = next;
        } else {
          is_sorted = false;
          index_t to = next;
          at = move_block(A_.view(), V_.view(), at, to) ? to : next;
        }
        next = at + block_size(at);
      }
      end -= end > failed_ ? 1 : 0;
    }
  }
  void store_eigenvalues() {
    std::complex<R>* const w = of_.w + first_;
    for (index_t i = failed_; i < order_; ++i) {
      if constexpr (!is_complex<T>) {
        if (block_size(i) == 2) {
          standard_block<R> block{A_(i, i), A_(i, i + 1), A_(i + 1, i), A_(i + 1, i + 1)};
          block.make();
          w[i] = block.first;
          w[++i] = block.second;
          continue;
        }
      }
      w[i] = A_(i, i);
    }
  }

  /// Makes the window Hessenberg again, with the spike in its first row, and updates the rest.
  void restore(index_t kept) {
    std::vector<T> tau;
    const bool reflects = kept > 1 && spike_ != T{};
    if (reflects) {
      reflect_spike(kept);
      tau.resize(static_cast<std::size_t>(order_));
      gehrd(A_.view(), {0, kept}, std::span<T>(tau));
    }
    const matrix_view<T> H = of_.H;
    if (first_ > 0) H(first_, first_ - 1) = times(spike_, conjugated(V_(0, 0)));
    for (index_t j = 0; j < order_; ++j) {
      std::copy_n(A_.view().column(j), std::min(j + 2, order_), &H(first_, first_ + j));
    }
    if (reflects) {
      ormhr(side::right, op::none, {0, kept}, A_.view().block(0, 0, kept, kept),
            std::span<const T>(tau), V_.view().columns(0, kept));
    }
    const index_t from = of_.whole ? 0 : top_;
    block_update<T> update(V_.view());
    update.add(side::right, H.block(from, first_, first_ - from, order_));
    if (of_.whole) update.add(side::left, H.block(first_, end_, order_, H.cols() - end_));
    if (of_.Z.rows() > 0) update.add(side::right, of_.Z.columns(first_, order_));
    update.run();
  }

  /// Applies the reflector that maps the spike to its first element.
  void reflect_spike(index_t kept) {
    std::vector<T> v(static_cast<std::size_t>(kept)), dots(static_cast<std::size_t>(order_));
    for (index_t i = 0; i < kept; ++i) v[static_cast<std::size_t>(i)] = conjugated(V_(0, i));
    const T tau = make_reflector(v[0], kept - 1, v.data() + 1);
    apply_reflector(kept - 1, v.data() + 1, conjugated(tau), A_.view().block(0, 0, kept, order_));
    apply_reflector_right(v.data() + 1, tau, A_.view().block(0, 0, kept, kept), dots.data());
    apply_reflector_right(v.data() + 1, tau, V_.view().block(0, 0, order_, kept), dots.data());
  }

  const schur_iteration<T>& of_;
  index_t top_, end_, order_, first_;
  T spike_;
  R small_;
  matrix<T> A_;
  matrix<T> V_;
  index_t failed_ = 0;
};

}  // namespace

template <scalar T>
deflation deflate_early(const schur_iteration<T>& of, index_t top, index_t end, index_t window) {
  const index_t order = std::min(window, end - top);
  if (order < 1) return {};
  return deflation_window<T>(of, top, end, order).run();
}

#define CREEK_INSTANTIATE(letter, T) \
  template deflation deflate_early<T>(const schur_iteration<T>&, index_t, index_t, index_t);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg::detail
