// SPDX-License-Identifier: Apache-2.0
// The QR iteration on a large Hessenberg matrix: deflation windows and sweeps in turns.
// Source: [Braman 2002], as in LAPACK's laqr0, with the sizes of its iparmq.
#include <algorithm>
#include <cmath>
#include <vector>

#include <creek/linalg/schur.hpp>

#include "checks.hpp"
#include "multishift.hpp"
#include "small_reflector.hpp"

namespace creek::linalg {
namespace detail {
namespace {

/// Deflations of this percentage of a window at least need no sweep before the next window.
constexpr index_t enough_deflated = 14;
/// Windows without a deflation after which windows grow, and exceptional shifts are taken.
constexpr index_t windows_before_growth = 5, windows_before_exception = 6;

/// Returns the number of shifts per sweep for an active block of that many rows.
index_t shifts_for(index_t rows) noexcept {
  index_t shifts = 2;
  if (rows >= 30) shifts = 4;
  if (rows >= 60) shifts = 10;
  if (rows >= 150) {
    const auto digits = std::lround(std::log2(static_cast<double>(rows)));
    shifts = std::max<index_t>(10, rows / digits);
  }
  if (rows >= 590) shifts = 64;
  if (rows >= 3000) shifts = 128;
  if (rows >= 6000) shifts = 256;
  return std::max<index_t>(2, shifts - shifts % 2);
}

template <scalar T>
class multishift_iteration {
  using R = real<T>;
  using complex = std::complex<R>;

 public:
  multishift_iteration(const schur_iteration<T>& of, index_t first, index_t end)
      : of_(of), H_(of.H), w_(of.w), first_(first), end_(end) {
    const index_t rows = end - first, n = of.order();
    const index_t shifts = shifts_for(rows);
    const index_t window = rows <= 500 ? shifts : 3 * shifts / 2;
    max_window_ = (n - 1) / 3;
    best_window_ = std::min({rows, max_window_, std::max<index_t>(2, window)});
    const index_t most = std::min({shifts, (n - 3) / 6, rows - 1});
    best_shifts_ = std::max<index_t>(2, most - most % 2);
    window_ = max_window_;
  }

  index_t run() {
    if (!of_.is_finite(first_, end_)) return end_;
    const index_t limit = 30 * std::max<index_t>(10, end_ - first_);
    for (index_t tries = 0; tries < limit && end_ > first_; ++tries) {
      index_t top = end_ - 1;
      while (top > first_ && H_(top, top - 1) != T{}) --top;
      choose_window(top);
      const deflation done = deflate_early(of_, top, end_, window_);
      end_ -= done.deflated;
      const bool is_small = end_ - top <= std::min(max_double_shift, max_window_);
      if (done.deflated == 0 || (100 * done.deflated <= window_ * enough_deflated && !is_small)) {
        sweep(top, done.shifts);
      }
      failures_ = done.deflated > 0 ? 1 : failures_ + 1;
    }
    return end_ > first_ ? end_ : 0;
  }

 private:
  void choose_window(index_t top) noexcept {
    const index_t rows = end_ - top, most = std::min(rows, max_window_);
    const bool grows = failures_ >= windows_before_growth;
    window_ = std::min(most, grows ? 2 * window_ : best_window_);
    if (window_ < max_window_) {
      if (window_ >= rows - 1) {
        window_ = rows;
      } else {
        const index_t at = end_ - window_;
        if (size_of(H_(at, at - 1)) > size_of(H_(at - 1, at - 2))) ++window_;
      }
    }
    if (!grows) {
      reduction_ = -1;
    } else if (reduction_ >= 0 || window_ >= most) {
      ++reduction_;
      if (window_ - reduction_ < 2) reduction_ = 0;
      window_ -= reduction_;
    }
  }

  void sweep(index_t top, index_t found) {
    index_t count = std::min(best_shifts_, std::max<index_t>(2, end_ - 1 - top));
    count -= count % 2;
    index_t from = end_ - found;
    if (failures_ % windows_before_exception == 0) {
      from = end_ - count;
      take_exceptional(from, top);
    } else {
      if (found <= count / 2) from = compute_shifts(count);
      pair_up(from, count);
    }
    if (end_ - from == 2) sharpen(from);
    count = std::min(count, end_ - from);
    count -= count % 2;
    if (count < 2) return;
    multishift_sweep(of_, top, end_,
                     std::span<const complex>(w_ + end_ - count, static_cast<std::size_t>(count)));
  }

  void take_exceptional(index_t from, index_t top) {
    if constexpr (is_complex<T>) {
      for (index_t i = end_ - 1; i > from; i -= 2) {
        w_[i] = H_(i, i) + R(0.75) * size_of(H_(i, i - 1));
        w_[i - 1] = w_[i];
      }
    } else {
      for (index_t i = end_ - 1; i >= std::max(from + 1, top + 2); i -= 2) {
        const R s = std::abs(H_(i, i - 1)) + std::abs(H_(i - 1, i - 2));
        const R diagonal = R(0.75) * s + H_(i, i);
        standard_block<R> block{diagonal, s, R(-0.4375) * s, diagonal};
        block.make();
        w_[i - 1] = block.first;
        w_[i] = block.second;
      }
      if (from == top) w_[from] = w_[from + 1] = H_(from + 1, from + 1);
    }
  }

  /// Takes the eigenvalues of the last `count` rows as shifts. Returns the first one found.
  index_t compute_shifts(index_t count) {
    const index_t at = end_ - count;
    matrix<T> part(H_.block(at, at, count, count));
    const schur_iteration<T> inner{part.view(), {}, false, w_ + at};
    const index_t failed = count > max_double_shift ? multishift_qr(inner, 0, count)
                                                    : double_shift_qr(inner, 0, count);
    if (at + failed < end_ - 1) return at + failed;
    // Nothing converged, which is very rare: takes those of the last two rows.
    const matrix<T> last(H_.block(end_ - 2, end_ - 2, 2, 2));
    if constexpr (is_complex<T>) {
      const T middle = (last(0, 0) + last(1, 1)) / R{2};
      const T determinant =
          times(last(0, 0) - middle, last(1, 1) - middle) - times(last(0, 1), last(1, 0));
      const T root = std::sqrt(-determinant);
      w_[end_ - 2] = middle + root;
      w_[end_ - 1] = middle - root;
    } else {
      standard_block<R> block{last(0, 0), last(0, 1), last(1, 0), last(1, 1)};
      block.make();
      w_[end_ - 2] = block.first;
      w_[end_ - 1] = block.second;
    }
    return end_ - 2;
  }

  /// Sorts the shifts in [from, end) by falling magnitude if there are more than needed, and puts
  /// conjugate or real ones of a real matrix in pairs.
  void pair_up(index_t from, index_t count) noexcept {
    complex* const begin = w_ + from;
    complex* const end = w_ + end_;
    if (end_ - from > count) {
      std::stable_sort(begin, end, [](complex a, complex b) { return size_of(a) > size_of(b); });
    }
    if constexpr (is_complex<T>) return;
    for (index_t i = end_ - 1; i >= from + 2; i -= 2) {
      if (w_[i].imag() == -w_[i - 1].imag()) continue;
      const complex last = w_[i];
      w_[i] = w_[i - 1];
      w_[i - 1] = w_[i - 2];
      w_[i - 2] = last;
    }
  }

  /// Takes the one next to the last element twice.
  void sharpen(index_t from) noexcept {
    const T last = H_(end_ - 1, end_ - 1);
    if (!is_complex<T> && w_[from + 1].imag() != 0) return;
    const bool second = size_of(w_[from + 1] - complex(last)) < size_of(w_[from] - complex(last));
    (second ? w_[from] : w_[from + 1]) = second ? w_[from + 1] : w_[from];
  }

  const schur_iteration<T>& of_;
  matrix_view<T> H_;
  complex* w_;
  index_t first_, end_;
  index_t max_window_, best_window_, best_shifts_, window_;
  index_t failures_ = 1;
  index_t reduction_ = -1;
};

}  // namespace

template <scalar T>
index_t multishift_qr(const schur_iteration<T>& of, index_t first, index_t end) {
  if (of.order() <= 15 || end - first < 3) return double_shift_qr(of, first, end);
  return multishift_iteration<T>(of, first, end).run();
}

}  // namespace detail

using namespace detail;

template <scalar T>
index_t hseqr(matrix_view<T> H, active_rows active, bool whole, std::span<std::complex<real<T>>> w,
              matrix_view<T> Z) {
  const index_t n = H.rows();
  require(H.cols() == n && static_cast<index_t>(w.size()) >= n, "hseqr",
          "H must be square, and w of its order");
  require(active.first >= 0 && active.first <= active.end && active.end <= n, "hseqr",
          "the active rows must be among those of H");
  require(Z.rows() == 0 || Z.cols() == n, "hseqr", "Z must have a column per column of H");
  for (index_t i = 0; i < active.first; ++i) w[static_cast<std::size_t>(i)] = H(i, i);
  for (index_t i = active.end; i < n; ++i) w[static_cast<std::size_t>(i)] = H(i, i);
  const schur_iteration<T> of{H, Z, whole, w.data()};
  const auto [first, end] = active;
  index_t failed = 0;
  if (n > max_double_shift) {
    failed = multishift_qr(of, first, end);
  } else {
    failed = double_shift_qr(of, first, end);
    // Small matrices rarely fail; other shifts may help then.
    if (failed > 0 && n > 15) failed = multishift_qr(of, first, failed);
  }
  if (whole || failed > 0) {
    for (index_t j = 0; j + 2 < n; ++j) std::fill(H.column(j) + j + 2, H.column(j) + n, T{});
  }
  return failed;
}

#define CREEK_INSTANTIATE(letter, T)                                                             \
  template index_t detail::multishift_qr<T>(const schur_iteration<T>&, index_t, index_t);        \
  template index_t hseqr<T>(matrix_view<T>, active_rows, bool, std::span<std::complex<real<T>>>, \
                            matrix_view<T>);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg
