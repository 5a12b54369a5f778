// SPDX-License-Identifier: Apache-2.0
#include "bidiagonal_qr.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/eigen_kernels.hpp"

namespace creek::linalg::detail {
namespace {
namespace bidiagonal {

/// Singular values of the triangle (f, g; 0, h), like LAPACK's las2.
template <class R>
struct value_pair {
  R least, most;

  static value_pair of(R f, R g, R h) noexcept {
    const R a = std::abs(f), b = std::abs(g), c = std::abs(h);
    const R low = std::min(a, c), high = std::max(a, c);
    if (low == 0) {
      if (high == 0) return {0, b};
      const R most = std::max(high, b), least = std::min(high, b), ratio = least / most;
      return {0, most * std::sqrt(1 + ratio * ratio)};
    }
    const R as = 1 + low / high, at = (high - low) / high;
    if (b < high) {
      const R au = (b / high) * (b / high);
      const R factor = 2 / (std::sqrt(as * as + au) + std::sqrt(at * at + au));
      return {low * factor, high / factor};
    }
    const R au = high / b;
    if (au == 0) return {(low * high) / b, b};
    const R factor =
        1 / (std::sqrt(1 + (as * au) * (as * au)) + std::sqrt(1 + (at * au) * (at * au)));
    return {2 * (low * factor * au), b / (factor + factor)};
  }
};

/// Singular value decomposition of the triangle (f, g; 0, h), like LAPACK's lasv2: the signed
/// values, and the rotations of the columns of U and V.
template <class R>
struct triangle_svd {
  R most, least;
  R left_c, left_s, right_c, right_s;

  static triangle_svd of(R f, R g, R h) noexcept {
    R ft = f, fa = std::abs(f), ht = h, ha = std::abs(h);
    const bool swapped = ha > fa;
    if (swapped) {
      std::swap(ft, ht);
      std::swap(fa, ha);
    }
    const R gt = g, ga = std::abs(g);
    R least, most, clt, crt, slt, srt;
    int largest = swapped ? 2 : 0;  // the element that decides the sign
    if (ga == 0) {
      least = ha;
      most = fa;
      clt = crt = 1;
      slt = srt = 0;
    } else {
      bool usual = true;
      if (ga > fa) {
        largest = 1;
        usual = fa / ga >= std::numeric_limits<R>::epsilon() / 2;
      }
      if (!usual) {
        most = ga;
        least = ha > 1 ? fa / (ga / ha) : (fa / ga) * ha;
        clt = 1;
        slt = ht / gt;
        srt = 1;
        crt = ft / gt;
      } else {
        const R d = fa - ha;
        R l = d == fa ? R{1} : d / fa;
        const R m = gt / ft;
        R t = 2 - l;
        const R mm = m * m, tt = t * t;
        const R s = std::sqrt(tt + mm);
        const R r = l == 0 ? std::abs(m) : std::sqrt(l * l + mm);
        const R a = R(0.5) * (s + r);
        least = ha / a;
        most = fa * a;
        if (mm == 0) {
          t = l == 0 ? std::copysign(R{2}, ft) * std::copysign(R{1}, gt)
                     : gt / std::copysign(d, ft) + m / t;
        } else {
          t = (m / (s + t) + m / (r + l)) * (1 + a);
        }
        l = std::sqrt(t * t + 4);
        crt = 2 / l;
        srt = t / l;
        clt = (crt + srt * m) / a;
        slt = (ht / ft) * srt / a;
      }
    }
    triangle_svd made{};
    made.left_c = swapped ? srt : clt;
    made.left_s = swapped ? crt : slt;
    made.right_c = swapped ? slt : crt;
    made.right_s = swapped ? clt : srt;
    const auto sign = [](R x) { return std::copysign(R{1}, x); };
    R sign_most{};
    if (largest == 0) sign_most = sign(made.right_c) * sign(made.left_c) * sign(f);
    if (largest == 1) sign_most = sign(made.right_s) * sign(made.left_c) * sign(g);
    if (largest == 2) sign_most = sign(made.right_s) * sign(made.left_s) * sign(h);
    made.most = std::copysign(most, sign_most);
    made.least = std::copysign(least, sign_most * sign(f) * sign(h));
    return made;
  }
};

/// Rotations of adjacent columns, one pair after the other, applied many at a time.
template <class R>
class rotations {
 public:
  /// The first one rotates the columns `first` and `first + step`; step is 1 or -1.
  rotations(const rotated_columns<R>& columns, index_t first, index_t step) noexcept
      : columns_(columns), next_(first), step_(step) {}
  ~rotations() { apply(); }
  rotations(const rotations&) = delete;
  rotations& operator=(const rotations&) = delete;

  void add(R c, R s) noexcept {
    if (columns_.length == 0) return;
    c_[count_] = c;
    s_[count_] = s;
    if (++count_ == capacity) apply();
  }

 private:
  static constexpr index_t capacity = 64;

  void apply() noexcept {
    if (count_ == 0) return;
    eigen_kernels_of<R>().rotate(columns_.length, count_, c_, s_, columns_.column(next_),
                                 step_ * columns_.leading);
    next_ += step_ * count_;
    count_ = 0;
  }

  const rotated_columns<R>& columns_;
  index_t next_, step_;
  index_t count_ = 0;
  R c_[capacity], s_[capacity];
};

/// A block of a bidiagonal matrix without zeros, read from its first or from its last row. Read
/// from the last one, it is transposed, so that it is upper bidiagonal again.
template <class R>
struct chain {
  R* d;
  R* e;
  index_t first;  ///< where the iteration begins
  index_t step;   ///< 1, or -1
  index_t length;
  const rotated_columns<R>* left;
  const rotated_columns<R>* right;

  R& diagonal(index_t k) const noexcept { return d[first + step * k]; }
  R& above(index_t k) const noexcept { return e[step > 0 ? first + k : first - k - 1]; }
  rotations<R> of_left() const noexcept { return {*left, first, step}; }
  rotations<R> of_right() const noexcept { return {*right, first, step}; }

  void sweep_without_shift() const noexcept {
    auto left_rotations = of_left(), right_rotations = of_right();
    R c = 1, old_c = 1, old_s = 0;
    for (index_t k = 0; k + 1 < length; ++k) {
      const auto by_right = plane_rotation<R>::of(diagonal(k) * c, above(k));
      if (k > 0) above(k - 1) = old_s * by_right.r;
      const auto by_left = plane_rotation<R>::of(old_c * by_right.r, diagonal(k + 1) * by_right.s);
      c = by_right.c;
      old_c = by_left.c;
      old_s = by_left.s;
      diagonal(k) = by_left.r;
      right_rotations.add(by_right.c, by_right.s);
      left_rotations.add(by_left.c, by_left.s);
    }
    const R last = diagonal(length - 1) * c;
    diagonal(length - 1) = last * old_c;
    above(length - 2) = last * old_s;
  }

  void sweep(R shift) const noexcept {
    const R head = diagonal(0);
    R f = (std::abs(head) - shift) * (std::copysign(R{1}, head) + shift / head);
    R g = above(0);
    auto left_rotations = of_left(), right_rotations = of_right();
    for (index_t k = 0; k + 1 < length; ++k) {
      const auto by_right = plane_rotation<R>::of(f, g);
      if (k > 0) above(k - 1) = by_right.r;
      f = by_right.c * diagonal(k) + by_right.s * above(k);
      above(k) = by_right.c * above(k) - by_right.s * diagonal(k);
      g = by_right.s * diagonal(k + 1);
      diagonal(k + 1) *= by_right.c;
      const auto by_left = plane_rotation<R>::of(f, g);
      diagonal(k) = by_left.r;
      f = by_left.c * above(k) + by_left.s * diagonal(k + 1);
      diagonal(k + 1) = by_left.c * diagonal(k + 1) - by_left.s * above(k);
      if (k + 2 < length) {
        g = by_left.s * above(k + 1);
        above(k + 1) *= by_left.c;
      }
      right_rotations.add(by_right.c, by_right.s);
      left_rotations.add(by_left.c, by_left.s);
    }
    above(length - 2) = f;
  }

  /// Zeroes an element above the diagonal that is small beside what precedes it; returns whether
  /// there was one. Sets `least` to a lower bound of the smallest singular value otherwise.
  bool split(R tolerance, R& least) const noexcept {
    if (std::abs(above(length - 2)) <= tolerance * std::abs(diagonal(length - 1))) {
      above(length - 2) = 0;
      return true;
    }
    R bound = std::abs(diagonal(0));
    least = bound;
    for (index_t k = 0; k + 1 < length; ++k) {
      if (std::abs(above(k)) <= tolerance * bound) {
        above(k) = 0;
        return true;
      }
      bound = std::abs(diagonal(k + 1)) * (bound / (bound + std::abs(above(k))));
      least = std::min(least, bound);
    }
    return false;
  }
};

}  // namespace bidiagonal
}  // namespace

template <class R>
index_t bidiagonal_qr(index_t n, R* d, R* e, const rotated_columns<R>& U,
                      const rotated_columns<R>& V) {
  using namespace bidiagonal;
  const R eps = std::numeric_limits<R>::epsilon() / 2;
  const R tolerance = eps * std::clamp(std::pow(eps, R(-0.125)), R{10}, R{100});
  R bound = std::abs(d[0]), min_bound = bound;  // lower bounds of the smallest singular value
  for (index_t i = 1; i < n && min_bound != 0; ++i) {
    bound = std::abs(d[i]) * (bound / (bound + std::abs(e[i - 1])));
    min_bound = std::min(min_bound, bound);
  }
  const R count = static_cast<R>(n);
  // With NaN as the second one the first is the result, and the iteration ends.
  const R threshold = std::max(6 * (count * (count * std::numeric_limits<R>::min())),
                               tolerance * min_bound / std::sqrt(count));
  double rotations_left = 6.0 * static_cast<double>(n) * static_cast<double>(n);
  index_t end = n, old_first = -1, old_last = -1;
  bool down = true;
  while (end > 1) {
    // The last block without a zero above its diagonal is [first, end).
    index_t first = end - 1;
    R largest = std::abs(d[first]);
    while (first > 0 && !(std::abs(e[first - 1]) <= threshold)) {
      --first;
      largest = std::max({largest, std::abs(d[first]), std::abs(e[first])});
    }
    if (first > 0) e[first - 1] = 0;
    if (first == end - 1) {
      --end;
      continue;
    }
    if (first == end - 2) {
      const auto two = triangle_svd<R>::of(d[first], e[first], d[first + 1]);
      d[first] = two.most;
      d[first + 1] = two.least;
      e[first] = 0;
      V.rotate(first, first + 1, two.right_c, two.right_s);
      U.rotate(first, first + 1, two.left_c, two.left_s);
      end -= 2;
      continue;
    }
    const index_t last = end - 1;
    if (rotations_left < 0) break;
    if (first > old_last || last < old_first) down = std::abs(d[first]) >= std::abs(d[last]);
    const chain<R> block = down ? chain<R>{d, e, first, 1, end - first, &U, &V}
                                : chain<R>{d, e, last, -1, end - first, &V, &U};
    rotations_left -= static_cast<double>(end - first);
    R least = 0;
    if (block.split(tolerance, least)) continue;
    old_first = first;
    old_last = last;
    R shift = 0;
    if (!(count * tolerance * (least / largest) <= std::max(eps, R(0.01) * tolerance))) {
      const index_t k = block.length - 2;
      shift = value_pair<R>::of(block.diagonal(k), block.above(k), block.diagonal(k + 1)).least;
      const R head = std::abs(block.diagonal(0));
      if (head > 0 && (shift / head) * (shift / head) < eps) shift = 0;
    }
    if (shift == 0) {
      block.sweep_without_shift();
    } else {
      block.sweep(shift);
    }
    R& tail = block.above(block.length - 2);
    if (std::abs(tail) <= threshold) tail = 0;
  }
  index_t unconverged = 0;
  for (index_t i = 0; i < n; ++i) {
    if (end > 1 && i + 1 < n && e[i] != 0) ++unconverged;
    if (d[i] < 0 || (d[i] == 0 && std::signbit(d[i]))) {
      d[i] = -d[i];
      V.negate(i);
    }
  }
  return unconverged;
}

template <class R>
void make_square(index_t n, R* d, R* e, const rotated_columns<R>& U, const rotated_columns<R>& V) {
  using namespace bidiagonal;
  const auto turn = [&](index_t count, const rotated_columns<R>& columns) {
    rotations<R> turned(columns, 0, 1);
    for (index_t i = 0; i < count; ++i) {
      const auto by = plane_rotation<R>::of(d[i], e[i]);
      d[i] = by.r;
      e[i] = 0;
      if (i + 1 < n) {
        e[i] = by.s * d[i + 1];
        d[i + 1] *= by.c;
      }
      turned.add(by.c, by.s);
    }
  };
  turn(n, V);
  turn(n - 1, U);
}

template <class R>
void sort_values(index_t n, R* d, const rotated_columns<R>& U, const rotated_columns<R>& V) {
  for (index_t i = 0; i + 1 < n; ++i) {
    const index_t largest = std::max_element(d + i, d + n) - d;
    if (largest == i) continue;
    std::swap(d[i], d[largest]);
    U.swap(i, largest);
    V.swap(i, largest);
  }
}

#define CREEK_INSTANTIATE(letter, R)                                            \
  template index_t bidiagonal_qr<R>(index_t, R*, R*, const rotated_columns<R>&, \
                                    const rotated_columns<R>&);                 \
  template void make_square<R>(index_t, R*, R*, const rotated_columns<R>&,      \
                               const rotated_columns<R>&);                      \
  template void sort_values<R>(index_t, R*, const rotated_columns<R>&, const rotated_columns<R>&);
CREEK_FOR_EACH_REAL(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg::detail
