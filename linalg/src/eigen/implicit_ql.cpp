// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "kernels/eigen_kernels.hpp"
#include "tridiagonal.hpp"

namespace creek::linalg::detail {
namespace {

/// Iterations per eigenvalue before a matrix counts as not converging, as in LAPACK.
constexpr index_t ql_sweeps = 30;

template <class R>
constexpr R roundoff = std::numeric_limits<R>::epsilon() / 2;

/// A stretch of T from index `first` in the direction `way`, 1 or -1, with `count` elements: the QR
/// iteration is the QL iteration from the other end.
template <class R>
struct directed {
  R* d_first;
  R* e_first;
  index_t way;

  R& d(index_t k) const noexcept { return d_first[way * k]; }
  R& e(index_t k) const noexcept { return e_first[way * k]; }
};

template <class R>
directed<R> seen_from(const tridiagonal<R>& t, index_t first, index_t way) noexcept {
  return {t.d + first, t.e + (way > 0 ? first : first - 1), way};
}

/// Eigenvalues of [a b; b c], the one of larger magnitude first, and its unit eigenvector.
template <class R>
struct pair_solution {
  R larger, smaller;
  R c, s;
};

/// Source: LAPACK's laev2.
template <class R>
pair_solution<R> solve_pair(R a, R b, R c) noexcept {
  const R sum = a + c, difference = a - c, twice = b + b;
  const R most = std::max(std::abs(difference), std::abs(twice));
  const R least = std::min(std::abs(difference), std::abs(twice));
  const R root = most == 0 ? R{0} : most * std::sqrt(1 + (least / most) * (least / most));
  const auto [near, far] = std::abs(a) > std::abs(c) ? std::pair(c, a) : std::pair(a, c);
  pair_solution<R> both{};
  const bool is_negative = sum < 0;
  if (sum == 0) {
    both.larger = root / 2;
    both.smaller = -root / 2;
  } else {
    both.larger = (is_negative ? sum - root : sum + root) / 2;
    both.smaller = (far / both.larger) * near - (b / both.larger) * b;
  }
  const R along = difference >= 0 ? difference + root : difference - root;
  if (std::abs(along) > std::abs(twice)) {
    const R cotangent = -twice / along;
    both.s = 1 / std::sqrt(1 + cotangent * cotangent);
    both.c = cotangent * both.s;
  } else if (twice == 0) {
    both.c = 1;
    both.s = 0;
  } else {
    const R tangent = -along / twice;
    both.c = 1 / std::sqrt(1 + tangent * tangent);
    both.s = tangent * both.c;
  }
  if (is_negative == (difference < 0)) {
    const R c_before = both.c;
    both.c = -both.s;
    both.s = c_before;
  }
  return both;
}

template <class R>
index_t count_nonzero(const tridiagonal<R>& t) noexcept {
  return std::count_if(t.e, t.e + std::max<index_t>(0, t.n - 1), [](R x) { return x != 0; });
}

/// Returns the end of the block that begins at `first`: behind it e is negligible, and set to zero.
template <class R>
index_t end_of_block(const tridiagonal<R>& t, index_t first) noexcept {
  for (index_t m = first; m + 1 < t.n; ++m) {
    const R size = std::abs(t.e[m]);
    if (size <= std::sqrt(std::abs(t.d[m])) * std::sqrt(std::abs(t.d[m + 1])) * roundoff<R>) {
      t.e[m] = 0;
      return m;
    }
  }
  return t.n - 1;
}

/// The Wilkinson shift of the 2 x 2 matrix at the end where eigenvalues converge.
template <class R>
R difference_to_shift(R here, R next, R off) noexcept {
  const R half = (next - here) / (2 * off);
  const R length = std::sqrt(half * half + 1);
  return off / (half + std::copysign(std::isinf(length) ? std::abs(half) : length, half));
}

/// One QL sweep over elements [l, m] of `t`; stores the rotations, the one at m first.
template <class R>
void sweep(const directed<R>& t, index_t l, index_t m, R* c, R* s) noexcept {
  R p = t.d(l);
  R g = t.d(m) - p + difference_to_shift(p, t.d(l + 1), t.e(l));
  R cosine = 1, sine = 1;
  p = 0;
  for (index_t i = m - 1; i >= l; --i) {
    const R f = sine * t.e(i), b = cosine * t.e(i);
    const auto [next_c, next_s, r] = plane_rotation<R>::of(g, f);
    cosine = next_c;
    sine = next_s;
    if (i != m - 1) t.e(i + 1) = r;
    g = t.d(i + 1) - p;
    const R turned = (t.d(i) - g) * sine + 2 * cosine * b;
    p = sine * turned;
    t.d(i + 1) = g + p;
    g = cosine * turned - b;
    *c++ = cosine;
    *s++ = sine;
  }
  t.d(l) -= p;
  t.e(l) = g;
}

}  // namespace

template <class R>
index_t implicit_ql(const tridiagonal<R>& t, const rotated_columns<R>& Z, R* scratch) noexcept {
  const auto& kernels = eigen_kernels_of<R>();
  R* const c = scratch;
  R* const s = scratch + t.n;
  index_t left = ql_sweeps * t.n;
  for (index_t first = 0; first < t.n;) {
    const index_t last = end_of_block(t, first);
    const index_t count = last - first + 1;
    const bool backwards = std::abs(t.d[last]) < std::abs(t.d[first]);
    const index_t from = backwards ? last : first, way = backwards ? -1 : 1;
    const auto part = seen_from(t, from, way);
    for (index_t l = 0; l < count;) {
      index_t m = l;
      while (m + 1 < count) {
        const R size = std::abs(part.e(m));
        if (size * size <=
            (roundoff<R> * roundoff<R> * std::abs(part.d(m))) * std::abs(part.d(m + 1)) +
                std::numeric_limits<R>::min()) {
          part.e(m) = 0;
          break;
        }
        ++m;
      }
      if (m == l) {
        ++l;
      } else if (m == l + 1) {
        const index_t low = backwards ? from - m : from + l;
        const auto both = solve_pair(t.d[low], t.e[low], t.d[low + 1]);
        kernels.rotate(Z.length, 1, &both.c, &both.s, Z.data + low * Z.leading, Z.leading);
        t.d[low] = both.larger;
        t.d[low + 1] = both.smaller;
        t.e[low] = 0;
        l += 2;
      } else {
        if (left-- == 0) return count_nonzero(t);
        sweep(part, l, m, c, s);
        kernels.rotate(Z.length, m - l, c, s, Z.data + (from + way * m) * Z.leading,
                       -way * Z.leading);
      }
    }
    first = last + 1;
  }
  return 0;
}

template <class R>
index_t root_free_ql(const tridiagonal<R>& t) noexcept {
  index_t left = ql_sweeps * t.n;
  for (index_t first = 0; first < t.n;) {
    const index_t last = end_of_block(t, first);
    const index_t count = last - first + 1;
    for (index_t i = first; i < last; ++i) t.e[i] *= t.e[i];
    const bool backwards = std::abs(t.d[last]) < std::abs(t.d[first]);
    const auto part = seen_from(t, backwards ? last : first, backwards ? -1 : 1);
    for (index_t l = 0; l < count;) {
      index_t m = l;
      while (m + 1 < count) {
        if (part.e(m) <= roundoff<R> * roundoff<R> * std::abs(part.d(m) * part.d(m + 1))) {
          part.e(m) = 0;
          break;
        }
        ++m;
      }
      if (m == l) {
        ++l;
        continue;
      }
      if (m == l + 1) {
        const auto both = solve_pair(part.d(l), std::sqrt(part.e(l)), part.d(l + 1));
        part.d(l) = both.larger;
        part.d(l + 1) = both.smaller;
        part.e(l) = 0;
        l += 2;
        continue;
      }
      if (left-- == 0) return count_nonzero(t);
      const R sigma =
          part.d(l) - difference_to_shift(part.d(l), part.d(l + 1), std::sqrt(part.e(l)));
      R c = 1, s = 0;
      R gamma = part.d(m) - sigma;
      R p = gamma * gamma;
      for (index_t i = m - 1; i >= l; --i) {
        const R square = part.e(i);
        const R r = p + square;
        if (i != m - 1) part.e(i + 1) = s * r;
        const R c_before = c, gamma_before = gamma;
        c = p / r;
        s = square / r;
        const R alpha = part.d(i);
        gamma = c * (alpha - sigma) - s * gamma_before;
        part.d(i + 1) = gamma_before + (alpha - gamma);
        p = c != 0 ? (gamma * gamma) / c : c_before * square;
      }
      part.e(l) = s * p;
      part.d(l) = sigma + gamma;
    }
    first = last + 1;
  }
  std::sort(t.d, t.d + t.n);
  return 0;
}

#define CREEK_INSTANTIATE(letter, R)                                                              \
  template index_t implicit_ql<R>(const tridiagonal<R>&, const rotated_columns<R>&, R*) noexcept; \
  template index_t root_free_ql<R>(const tridiagonal<R>&) noexcept;
CREEK_FOR_EACH_REAL(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg::detail
