// SPDX-License-Identifier: Apache-2.0
// QR iteration with two shifts (real) or one (complex) at a time, for small matrices and windows.
#include <algorithm>
#include <array>
#include <cmath>

#include "multishift.hpp"
#include "small_reflector.hpp"

namespace creek::linalg::detail {
namespace {

/// Iterations without a deflation after which an exceptional shift is taken.
constexpr int exceptional_after = 10;

/// Common part of the iterations: where rows are small enough to split the matrix.
template <scalar T>
class small_qr {
 protected:
  using R = real<T>;

  small_qr(const schur_iteration<T>& of, index_t first, index_t end)
      : H_(of.H),
        Z_(of.Z),
        whole_(of.whole),
        w_(of.w),
        first_(first),
        end_(end),
        small_(safe_minimum<R> * (static_cast<R>(end - first) / precision<R>)) {
    for (index_t j = first; j + 2 < end; ++j) {
      H_(j + 2, j) = T{};
      if (j + 3 < end) H_(j + 3, j) = T{};
    }
  }

  /// Returns the first row of the unreduced block that ends with row `last`, whose subdiagonal
  /// element becomes zero.
  index_t split(index_t top, index_t last) const noexcept {
    index_t k = last;
    while (k > top && !is_negligible(k)) --k;
    if (k > first_) H_(k, k - 1) = T{};
    return k;
  }

  bool is_negligible(index_t k) const noexcept {
    const R below = size_of(H_(k, k - 1));
    if (below <= small_) return true;
    R near = size_of(H_(k - 1, k - 1)) + size_of(H_(k, k));
    if (near == 0) {
      if (k - 2 >= first_) near += std::abs(std::real(H_(k - 1, k - 2)));
      if (k + 1 < end_) near += std::abs(std::real(H_(k + 1, k)));
    }
    if (!(std::abs(std::real(H_(k, k - 1))) <= precision<R> * near)) return false;
    const R above = size_of(H_(k - 1, k));
    const R apart = size_of(H_(k - 1, k - 1) - H_(k, k)), here = size_of(H_(k, k));
    const R ab = std::max(below, above), ba = std::min(below, above);
    const R aa = std::max(here, apart), bb = std::min(here, apart);
    const R s = aa + ab;
    return ba * (ab / s) <= std::max(small_, precision<R> * (bb * (aa / s)));
  }

  index_t max_iterations() const noexcept { return 30 * std::max<index_t>(10, end_ - first_); }

  matrix_view<T> H_;
  matrix_view<T> Z_;
  bool whole_;
  std::complex<R>* w_;
  index_t first_, end_;
  R small_;
};

template <class R>
class real_double_shift : small_qr<R> {
  using base = small_qr<R>;
  using base::H_, base::Z_, base::whole_, base::w_, base::first_, base::end_;

 public:
  real_double_shift(const schur_iteration<R>& of, index_t first, index_t end)
      : base(of, first, end) {}

  index_t run() noexcept {
    index_t last = end_ - 1;
    while (last >= first_) {
      const index_t top = isolate(last);
      if (top < 0) return last + 1;
      store(top, last);
      last = top - 1;
    }
    return 0;
  }

 private:
  struct shift_pair {
    std::complex<R> a, b;
  };

  /// Iterates until a block of one or two rows is left at `last`; returns its first row, or -1.
  index_t isolate(index_t last) noexcept {
    index_t top = first_;
    const index_t limit = this->max_iterations();
    for (index_t tries = 0; tries <= limit; ++tries) {
      top = this->split(top, last);
      if (top >= last - 1) return top;
      step(top, last, choose(top, last, tries + 1));
    }
    return -1;
  }

  shift_pair choose(index_t top, index_t last, index_t tries) const noexcept {
    R h11 = H_(last - 1, last - 1), h12 = H_(last - 1, last), h21 = H_(last, last - 1),
      h22 = H_(last, last);
    if (tries % exceptional_after == 0) {
      const bool at_end = tries % (2 * exceptional_after) == 0;
      const index_t at = at_end ? last : top;
      const R s = at_end ? std::abs(H_(last, last - 1)) + std::abs(H_(last - 1, last - 2))
                         : std::abs(H_(top + 1, top)) + std::abs(H_(top + 2, top + 1));
      h11 = h22 = R(0.75) * s + H_(at, at);
      h12 = R(-0.4375) * s;
      h21 = s;
    }
    const R s = std::abs(h11) + std::abs(h12) + std::abs(h21) + std::abs(h22);
    if (s == 0) return {};
    h11 /= s;
    h12 /= s;
    h21 /= s;
    h22 /= s;
    const R middle = (h11 + h22) / 2;
    const R determinant = (h11 - middle) * (h22 - middle) - h12 * h21;
    const R root = std::sqrt(std::abs(determinant));
    if (determinant >= 0) {
      const std::complex<R> one(middle * s, root * s);
      return {one, std::conj(one)};
    }
    // Real shifts: the one next to the last element, twice.
    const R one = middle + root, other = middle - root;
    const R near = (std::abs(one - h22) <= std::abs(other - h22) ? one : other) * s;
    return {near, near};
  }

  /// First column of (H - a)(H - b) for rows m to m + 2, scaled.
  std::array<R, 3> first_column(index_t m, const shift_pair& by) const noexcept {
    const R apart = H_(m, m) - by.b.real();
    R s = std::abs(apart) + std::abs(by.b.imag()) + std::abs(H_(m + 1, m));
    const R h21 = H_(m + 1, m) / s;
    std::array<R, 3> v{h21 * H_(m, m + 1) + (H_(m, m) - by.a.real()) * (apart / s) -
                           by.a.imag() * (by.b.imag() / s),
                       h21 * (H_(m, m) + H_(m + 1, m + 1) - by.a.real() - by.b.real()),
                       h21 * H_(m + 2, m + 1)};
    s = std::abs(v[0]) + std::abs(v[1]) + std::abs(v[2]);
    for (R& each : v) each /= s;
    return v;
  }

  void step(index_t top, index_t last, const shift_pair& by) noexcept {
    const index_t from = whole_ ? 0 : top, to = whole_ ? H_.cols() : last + 1;
    // Two small consecutive subdiagonal elements let the sweep begin further down.
    index_t m = last - 2;
    std::array<R, 3> v = first_column(m, by);
    while (m > top &&
           !(std::abs(H_(m, m - 1)) * (std::abs(v[1]) + std::abs(v[2])) <=
             precision<R> * std::abs(v[0]) *
                 (std::abs(H_(m - 1, m - 1)) + std::abs(H_(m, m)) + std::abs(H_(m + 1, m + 1))))) {
      v = first_column(--m, by);
    }
    for (index_t k = m; k < last; ++k) {
      const bool three = k + 1 < last;
      if (k > m) v = {H_(k, k - 1), H_(k + 1, k - 1), three ? H_(k + 2, k - 1) : R{}};
      if (!three) v[2] = 0;
      small_reflector<R> by_this;
      const R beta = by_this.make(v[0], v[1], v[2]);
      if (k > m) {
        H_(k, k - 1) = beta;
        H_(k + 1, k - 1) = 0;
        if (three) H_(k + 2, k - 1) = 0;
      } else if (m > top) {
        // Not a change of the sign, which fails if v1 and v2 underflow.
        H_(k, k - 1) *= 1 - by_this.tau;
      }
      if (three) {
        by_this.apply_left(to - k, &H_(k, k), H_.leading());
        by_this.apply_right(std::min(k + 3, last) + 1 - from, &H_(from, k), &H_(from, k + 1),
                            &H_(from, k + 2));
        if (Z_.rows() > 0) {
          by_this.apply_right(Z_.rows(), Z_.column(k), Z_.column(k + 1), Z_.column(k + 2));
        }
      } else {
        by_this.apply_left_pair(to - k, &H_(k, k), H_.leading());
        by_this.apply_right(last + 1 - from, &H_(from, k), &H_(from, k + 1));
        if (Z_.rows() > 0) by_this.apply_right(Z_.rows(), Z_.column(k), Z_.column(k + 1));
      }
    }
  }

  void store(index_t top, index_t last) noexcept {
    if (top == last) {
      w_[last] = H_(last, last);
      return;
    }
    standard_block<R> block{H_(top, top), H_(top, last), H_(last, top), H_(last, last)};
    const rotation<R> turn = block.make();
    H_(top, top) = block.a;
    H_(top, last) = block.b;
    H_(last, top) = block.c;
    H_(last, last) = block.d;
    w_[top] = block.first;
    w_[last] = block.second;
    if (whole_) {
      const index_t right = H_.cols() - last - 1;
      if (right > 0) {
        turn.apply(right, &H_(top, last + 1), &H_(last, last + 1), H_.leading());
      }
      turn.apply(top, H_.column(top), H_.column(last));
    }
    if (Z_.rows() > 0) turn.apply(Z_.rows(), Z_.column(top), Z_.column(last));
  }
};

template <scalar T>
class complex_single_shift : small_qr<T> {
  using base = small_qr<T>;
  using R = real<T>;
  using base::H_, base::Z_, base::whole_, base::w_, base::first_, base::end_;

 public:
  complex_single_shift(const schur_iteration<T>& of, index_t first, index_t end)
      : base(of, first, end) {
    const index_t from = whole_ ? 0 : first_, to = whole_ ? H_.cols() : end_;
    for (index_t i = first_ + 1; i < end_; ++i) make_real(i, from, to, to);
  }

  index_t run() noexcept {
    index_t last = end_ - 1;
    while (last >= first_) {
      const index_t top = isolate(last);
      if (top < 0) return last + 1;
      w_[last] = H_(last, last);
      last = top - 1;
    }
    return 0;
  }

 private:
  void scale_row(T by, index_t i, index_t from, index_t to) noexcept {
    for (index_t j = from; j < to; ++j) H_(i, j) = times(H_(i, j), by);
  }
  static void scale_column(T by, index_t rows, T* x) noexcept {
    for (index_t i = 0; i < rows; ++i) x[i] = times(x[i], by);
  }

  /// Makes the subdiagonal element of row i real by a unitary diagonal, in columns up to `to` and
  /// rows from `from`.
  void make_real(index_t i, index_t from, index_t to, index_t end) noexcept {
    const T below = H_(i, i - 1);
    if (below.imag() == 0) return;
    T factor = below / size_of(below);
    factor = std::conj(factor) / std::abs(factor);
    H_(i, i - 1) = std::abs(below);
    scale_row(factor, i, i, to);
    scale_column(std::conj(factor), std::min(end, i + 2) - from, &H_(from, i));
    if (Z_.rows() > 0) scale_column(std::conj(factor), Z_.rows(), Z_.column(i));
  }

  index_t isolate(index_t last) noexcept {
    index_t top = first_;
    const index_t limit = this->max_iterations();
    for (index_t tries = 0; tries <= limit; ++tries) {
      top = this->split(top, last);
      if (top >= last) return top;
      step(top, last, choose(top, last, tries + 1));
    }
    return -1;
  }

  T choose(index_t top, index_t last, index_t tries) const noexcept {
    if (tries % (2 * exceptional_after) == 0) {
      return R(0.75) * std::abs(H_(last, last - 1).real()) + H_(last, last);
    }
    if (tries % exceptional_after == 0) {
      return R(0.75) * std::abs(H_(top + 1, top).real()) + H_(top, top);
    }
    // Wilkinson's shift.
    const T t = H_(last, last);
    const T u = times(std::sqrt(H_(last - 1, last)), std::sqrt(H_(last, last - 1)));
    R s = size_of(u);
    if (s == 0) return t;
    const T x = (H_(last - 1, last - 1) - t) / R{2};
    const R size_x = size_of(x);
    s = std::max(s, size_x);
    const T xs = x / s, us = u / s;
    T y = s * std::sqrt(times(xs, xs) + times(us, us));
    if (size_x > 0 && std::real(x / size_x) * y.real() + std::imag(x / size_x) * y.imag() < 0) {
      y = -y;
    }
    return t - times(u, u / (x + y));
  }

  void step(index_t top, index_t last, T shift) noexcept {
    const index_t from = whole_ ? 0 : top, to = whole_ ? H_.cols() : last + 1;
    index_t m = last - 1;
    T v0{};
    R v1 = 0;
    for (;; --m) {
      const T apart = H_(m, m) - shift;
      const R below = H_(m + 1, m).real();
      const R s = size_of(apart) + std::abs(below);
      v0 = apart / s;
      v1 = below / s;
      if (m == top ||
          std::abs(H_(m, m - 1).real()) * std::abs(v1) <=
              precision<R> * (size_of(v0) * (size_of(H_(m, m)) + size_of(H_(m + 1, m + 1))))) {
        break;
      }
    }
    for (index_t k = m; k < last; ++k) {
      small_reflector<T> by;
      const T beta = k > m ? by.make(H_(k, k - 1), H_(k + 1, k - 1)) : by.make(v0, T{v1});
      if (k > m) {
        H_(k, k - 1) = beta;
        H_(k + 1, k - 1) = T{};
      }
      by.apply_left_pair(to - k, &H_(k, k), H_.leading());
      by.apply_right(std::min(k + 2, last) + 1 - from, &H_(from, k), &H_(from, k + 1));
      if (Z_.rows() > 0) by.apply_right(Z_.rows(), Z_.column(k), Z_.column(k + 1));
      if (k == m && m > top) keep_real(m, last, from, to, by.tau);
    }
    make_last_real(last, from, to);
  }

  /// A sweep that begins below the top leaves a complex subdiagonal element, which a diagonal of
  /// units makes real again.
  void keep_real(index_t m, index_t last, index_t from, index_t to, T tau) noexcept {
    T unit = T{1} - tau;
    unit /= std::abs(unit);
    H_(m + 1, m) = times(H_(m + 1, m), std::conj(unit));
    if (m + 2 <= last) H_(m + 2, m + 1) = times(H_(m + 2, m + 1), unit);
    for (index_t j = m; j <= last; ++j) {
      if (j == m + 1) continue;
      scale_row(unit, j, j + 1, to);
      scale_column(std::conj(unit), j - from, &H_(from, j));
      if (Z_.rows() > 0) scale_column(std::conj(unit), Z_.rows(), Z_.column(j));
    }
  }

  void make_last_real(index_t last, index_t from, index_t to) noexcept {
    T below = H_(last, last - 1);
    if (below.imag() == 0) return;
    const R size = std::abs(below);
    H_(last, last - 1) = size;
    below /= size;
    scale_row(std::conj(below), last, last + 1, to);
    scale_column(below, last - from, &H_(from, last));
    if (Z_.rows() > 0) scale_column(below, Z_.rows(), Z_.column(last));
  }
};

}  // namespace

template <scalar T>
index_t double_shift_qr(const schur_iteration<T>& of, index_t first, index_t end) {
  if (first >= end) return 0;
  if (end - first == 1) {
    of.w[first] = of.H(first, first);
    return 0;
  }
  if (!of.is_finite(first, end)) return end;
  if constexpr (is_complex<T>) {
    return complex_single_shift<T>(of, first, end).run();
  } else {
    return real_double_shift<T>(of, first, end).run();
  }
}

#define CREEK_INSTANTIATE(letter, T) \
  template index_t double_shift_qr<T>(const schur_iteration<T>&, index_t, index_t);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg::detail
