// SPDX-License-Identifier: Apache-2.0
// Sweeps of the QR iteration with many shifts: chains of small bulges, two rows apart, are chased
// through a window, in a copy that fits the cache. Their reflectors are multiplied together, and
// the rest of the matrix gets them as products on all workers.
// Source: [Braman 2002] with the chains of [Karlsson 2014], as in LAPACK's laqr5.
#include <algorithm>
#include <array>
#include <vector>

#include "block_update.hpp"
#include "multishift.hpp"
#include "small_reflector.hpp"

namespace creek::linalg::detail {
namespace {

/// Window of a sweep: rows [first, end) of H, copied, and the product U of the reflectors, whose
/// rows begin at `turned`.
template <scalar T>
struct sweep_window {
  index_t first = 0, turned = 0, end = 0;
  matrix<T> H;
  matrix<T> U;

  explicit sweep_window(index_t order) : H(order, order), U(order, order) {}
  index_t size() const noexcept { return end - first; }
  index_t turned_size() const noexcept { return end - turned; }
};

template <scalar T>
class bulge_chain {
  using R = real<T>;
  using complex = std::complex<R>;

 public:
  bulge_chain(index_t order, index_t top, index_t end, std::span<const complex> shifts)
      : top_(top),
        last_(end - 1),
        bulges_(static_cast<index_t>(shifts.size()) / 2),
        shifts_(shifts),
        small_(safe_minimum<R> * (static_cast<R>(order) / precision<R>)),
        reflectors_(static_cast<std::size_t>(bulges_)) {}

  index_t bulges() const noexcept { return bulges_; }

  /// Moves all bulges by twice their number of rows, where the first bulge, the uppermost, begins
  /// at row `start` and may be above the active rows still.
  void chase(index_t start, sweep_window<T>& in) noexcept {
    window_ = &in;
    for (index_t row = start; row <= std::min(start + 2 * bulges_ - 1, last_ - 2); ++row) {
      move_all(start, row);
    }
  }

 private:
  T& h(index_t i, index_t j) const noexcept {
    return window_->H(i - window_->first, j - window_->first);
  }
  T& u(index_t i, index_t j) const noexcept {
    return window_->U(i - window_->turned, j - window_->turned);
  }
  index_t row_of(index_t row, index_t bulge) const noexcept { return row + 2 * bulge; }

  /// Moves all bulges by one row: the uppermost one is in column `row`.
  void move_all(index_t start, index_t row) noexcept {
    const index_t begin = std::max<index_t>(0, (top_ - row) / 2);
    const index_t end = std::min(bulges_, (last_ - row - 1) / 2);
    if (end < bulges_ && row_of(row, end) == last_ - 2) finish_last(start, row_of(row, end), end);
    for (index_t m = end - 1; m >= begin; --m) {
      move(row_of(row, m), m);
    }
    for (index_t m = end - 1; m >= begin; --m) {
      const index_t k = row_of(row, m), from = std::max(top_, k + 2);
      reflector(m).apply_left(window_->end - from, &h(k + 1, from), window_->H.leading());
    }
    const index_t rows_end = std::min(window_->end, row + 2 * (end - 1) + 6);
    for (index_t m = end - 1; m >= begin; --m) {
      const index_t k = row_of(row, m);
      const index_t from = std::max(window_->turned, start + 1 + 2 * m);
      reflector(m).apply_right(rows_end - from, &u(from, k + 1), &u(from, k + 2), &u(from, k + 3));
    }
  }

  small_reflector<T>& reflector(index_t bulge) noexcept {
    return reflectors_[static_cast<std::size_t>(bulge)];
  }

  /// First column of (H - s1)(H - s2) for the leading `rows` rows of the active block at `at`.
  std::array<T, 3> first_column(index_t at, index_t rows, index_t bulge) const noexcept {
    const complex s1 = shifts_[static_cast<std::size_t>(2 * bulge)];
    const complex s2 = shifts_[static_cast<std::size_t>(2 * bulge + 1)];
    const T h11 = h(at, at), h21 = h(at + 1, at);
    const T h31 = rows == 3 ? h(at + 2, at) : T{};
    const R s = size_of(complex(h11) - s2) + size_of(h21) + size_of(h31);
    if (s == 0) return {};
    const T r21 = h21 / s, r31 = h31 / s;
    T square, shift;
    if constexpr (is_complex<T>) {
      square = times(h11 - s1, (h11 - s2) / s);
      shift = s1 + s2;
    } else {
      square = (h11 - s1.real()) * ((h11 - s2.real()) / s) - s1.imag() * (s2.imag() / s);
      shift = s1.real() + s2.real();
    }
    std::array<T, 3> v{square + times(h(at, at + 1), r21),
                       times(r21, h11 + h(at + 1, at + 1) - shift), T{}};
    if (rows == 3) {
      v[0] += times(h(at, at + 2), r31);
      v[1] += times(h(at + 1, at + 2), r31);
      v[2] = times(r31, h11 + h(at + 2, at + 2) - shift) + times(r21, h(at + 2, at + 1));
    }
    return v;
  }

  /// Moves one bulge from column k - 1 to column k; the left updates of columns behind k + 1
  /// follow.
  void move(index_t k, index_t m) noexcept {
    small_reflector<T>& by = reflector(m);
    if (k == top_ - 1) {
      const auto v = first_column(top_, 3, m);
      by.make(v[0], v[1], v[2]);
    } else {
      // The last right update has not reached this row yet.
      const T weight = times(times(by.tau, by.v2), h(k + 3, k + 2));
      h(k + 3, k) = -weight;
      h(k + 3, k + 1) = -times(weight, conjugated(by.v1));
      h(k + 3, k + 2) -= times(weight, conjugated(by.v2));
      reduce(k, m);
    }
    const index_t from = window_->first;
    const index_t rows = std::min(last_, k + 3) + 1 - from;
    by.apply_right(rows, &h(from, k + 1), &h(from, k + 2), &h(from, k + 3));
    by.apply_left(1, &h(k + 1, k + 1), window_->H.leading());
    if (k >= top_) split(k);
  }

  /// Makes the reflector that removes the bulge from column k, or begins a new one if the bulge has
  /// collapsed.
  void reduce(index_t k, index_t m) noexcept {
    small_reflector<T>& by = reflector(m);
    const T beta = by.make(h(k + 1, k), h(k + 2, k), h(k + 3, k));
    const bool is_collapsed =
        h(k + 3, k) == T{} && h(k + 3, k + 1) == T{} && h(k + 3, k + 2) != T{};
    T head = beta;
    if (is_collapsed) {
      const auto v = first_column(k + 1, 3, m);
      small_reflector<T> fresh;
      fresh.make(v[0], v[1], v[2]);
      const T weight =
          times(conjugated(fresh.tau), h(k + 1, k) + times(conjugated(fresh.v1), h(k + 2, k)));
      const R lost =
          size_of(h(k + 2, k) - times(weight, fresh.v1)) + size_of(times(weight, fresh.v2));
      const R near = size_of(h(k, k)) + size_of(h(k + 1, k + 1)) + size_of(h(k + 2, k + 2));
      if (!(lost > precision<R> * near)) {
        head = h(k + 1, k) - weight;
        by = fresh;
      }
    }
    h(k + 1, k) = head;
    h(k + 2, k) = h(k + 3, k) = T{};
  }

  /// The last bulge, of two rows only, leaves the active rows.
  void finish_last(index_t start, index_t k, index_t m) noexcept {
    small_reflector<T>& by = reflector(m);
    if (k == top_ - 1) {
      const auto v = first_column(k + 1, 2, m);
      by.make(v[0], v[1]);
    } else {
      h(k + 1, k) = by.make(h(k + 1, k), h(k + 2, k));
      h(k + 2, k) = T{};
    }
    const index_t from = window_->first;
    by.apply_right(std::min(last_, k + 3) + 1 - from, &h(from, k + 1), &h(from, k + 2));
    by.apply_left_pair(window_->end - k - 1, &h(k + 1, k + 1), window_->H.leading());
    if (k >= top_) split(k);
    const index_t u_from = std::max(window_->turned, start + 1);
    by.apply_right(window_->end - u_from, &u(u_from, k + 1), &u(u_from, k + 2));
  }

  /// Sets the subdiagonal element below k to zero if it is negligible.
  void split(index_t k) noexcept {
    const T below = h(k + 1, k);
    if (below == T{}) return;
    R near = size_of(h(k, k)) + size_of(h(k + 1, k + 1));
    if (near == 0) {
      for (index_t back = 1; back <= 3; ++back) {
        if (k - back >= std::max(top_, window_->first)) near += size_of(h(k, k - back));
        if (k + 1 + back <= last_ && k + 1 + back < window_->end) {
          near += size_of(h(k + 1 + back, k + 1));
        }
      }
    }
    if (!(size_of(below) <= std::max(small_, precision<R> * near))) return;
    const R above = size_of(h(k, k + 1)), here = size_of(h(k + 1, k + 1));
    const R apart = size_of(h(k, k) - h(k + 1, k + 1));
    const R h12 = std::max(size_of(below), above), h21 = std::min(size_of(below), above);
    const R h11 = std::max(here, apart), h22 = std::min(here, apart);
    const R sum = h11 + h12, test = h22 * (h11 / sum);
    if (test == 0 || h21 * (h12 / sum) <= std::max(small_, precision<R> * test)) {
      h(k + 1, k) = T{};
    }
  }

  index_t top_, last_;
  index_t bulges_;
  std::span<const complex> shifts_;
  R small_;
  std::vector<small_reflector<T>> reflectors_;
  sweep_window<T>* window_ = nullptr;
};

template <scalar T>
void load(const_view<T> H, sweep_window<T>& to) {
  copy<T>(H.block(to.first, to.first, to.size(), to.size()),
          to.H.view().block(0, 0, to.size(), to.size()));
  set_identity(to.U.view().block(0, 0, to.turned_size(), to.turned_size()));
}

}  // namespace

template <scalar T>
void multishift_sweep(const schur_iteration<T>& of, index_t top, index_t end,
                      std::span<const std::complex<real<T>>> shifts) {
  if (shifts.size() < 2 || end - top < 2) return;
  const matrix_view<T> H = of.H;
  if (top + 2 < end) H(top + 2, top) = T{};
  bulge_chain<T> chain(of.order(), top, end, shifts);
  const index_t steps = 2 * chain.bulges();
  sweep_window<T> window(2 * steps + 1);
  for (index_t start = top - steps + 1; start <= end - 3; start += steps) {
    window.first = std::max(top, start);
    window.turned = std::max(top, start + 1);
    window.end = std::min(start + 2 * steps + 1, end);
    load<T>(H, window);
    chain.chase(start, window);
    const index_t size = window.size(), turned = window.turned_size();
    copy<T>(window.H.view().block(0, 0, size, size),
            H.block(window.first, window.first, size, size));
    const const_view<T> U = window.U.view().block(0, 0, turned, turned);
    const index_t from = of.whole ? 0 : top, to = of.whole ? H.cols() : end;
    block_update<T> update(U);
    update.add(side::left, H.block(window.turned, window.end, turned, to - window.end));
    update.add(side::right, H.block(from, window.turned, window.first - from, turned));
    if (of.Z.rows() > 0) update.add(side::right, of.Z.columns(window.turned, turned));
    update.run();
  }
}

#define CREEK_INSTANTIATE(letter, T)                                             \
  template void multishift_sweep<T>(const schur_iteration<T>&, index_t, index_t, \
                                    std::span<const std::complex<real<T>>>);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg::detail
