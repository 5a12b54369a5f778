// SPDX-License-Identifier: Apache-2.0
#include "quotient_differences.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "kernels/pack_memory.hpp"

namespace creek::linalg::detail {
namespace {
namespace quotient_differences {

/// The smallest numbers d of a transform, on which the next shift depends: of all, without the last
/// one, and without the last two; and the last three themselves.
template <class R>
struct smallest {
  R all, all_but_1, all_but_2;
  R last, last_but_1, last_but_2;
};

/// Squares q[i] of the diagonal and e[i] of the superdiagonal, of a matrix whose singular values'
/// squares are those wanted minus the sum of the shifts.
template <class R>
class iteration {
 public:
  iteration(index_t n, R* memory)
      : n_(n),
        q_(memory),
        e_(q_ + n),
        next_q_(e_ + n),
        next_e_(next_q_ + n),
        values_(next_e_ + n) {}

  R* squares() const noexcept { return q_; }
  R* squares_above() const noexcept { return e_; }
  /// The squares of the singular values; `found` of them.
  const R* values() const noexcept { return values_; }

  bool run() {
    if (!reduce(0, n_ - 1, 0)) return false;
    while (!pending_.empty()) {
      const auto block = pending_.back();
      pending_.pop_back();
      if (!reduce(block.first, block.last, block.shift)) return false;
    }
    return found_ == n_;
  }

 private:
  struct block {
    index_t first, last;
    R shift;
  };

  static constexpr R eps = std::numeric_limits<R>::epsilon() / 2;
  static constexpr R tolerance = 100 * eps;
  static constexpr R squared_tolerance = tolerance * tolerance;

  void accept(R value) noexcept { values_[found_++] = value; }

  void reverse(index_t first, index_t last) noexcept {
    std::reverse(q_ + first, q_ + last + 1);
    std::reverse(e_ + first, e_ + last);
  }

  /// Finds all values of the block [first, last].
  bool reduce(index_t first, index_t last, R shift) {
    R rest = 0;          // what the sum of the shifts lost in rounding
    index_t known = -1;  // the last row at the transform before
    smallest<R> d{};
    index_t transforms = 30 * (last - first + 2);
    while (true) {
      if (!deflate(first, last, shift)) return true;
      if (known != last && R(1.5) * q_[first] < q_[last]) {
        reverse(first, last);
        known = -1;
      }
      split(first, last, shift);
      R tau = known < 0 ? R{0} : shift_for(d, first, last, known - last);
      while (true) {
        if (--transforms < 0) return false;
        d = transform(first, last, tau);
        if (d.all >= 0 && d.all_but_1 >= 0) break;
        if (d.all < 0 && d.all_but_1 > 0 &&
            next_e_[last - 1] < tolerance * (shift + d.last_but_1) &&
            std::abs(d.last) < tolerance * shift) {
          next_q_[last] = 0;
          d.all = 0;
          break;
        }
        if (tau == 0) return false;  // NaN
        // A late failure tells the smallest value.
        const R late = (tau + d.all) * (1 - 2 * eps);
        tau = d.all_but_1 > 0 && late > 0 && late < tau ? late : tau / 4;
        if (!(tau > std::numeric_limits<R>::min())) tau = 0;
      }
      std::swap(q_, next_q_);
      std::swap(e_, next_e_);
      known = last;
      if (tau < shift) {
        rest += tau;
        const R sum = shift + rest;
        rest -= sum - shift;
        shift = sum;
      } else {
        const R sum = shift + tau;
        rest += shift - (sum - tau);
        shift = sum;
      }
    }
  }

  /// Accepts the values at the end of the block; returns whether any are left.
  bool deflate(index_t first, index_t& last, R shift) noexcept {
    while (last > first) {
      if (e_[last - 1] <= squared_tolerance * (shift + q_[last])) {
        accept(q_[last] + shift);
        --last;
      } else if (last == first + 1 || e_[last - 2] <= squared_tolerance * shift) {
        accept_two(last, shift);
        last -= 2;
      } else {
        return true;
      }
    }
    if (last == first) accept(q_[last] + shift);
    return false;
  }

  void accept_two(index_t last, R shift) noexcept {
    R low = q_[last], high = q_[last - 1];
    const R above = e_[last - 1];
    if (low > high) std::swap(low, high);
    const R t = ((high - low) + above) / 2;
    if (above > low * squared_tolerance && t != 0) {
      R s = low * (above / t);
      s = s <= t ? low * (above / (t * (1 + std::sqrt(1 + s / t))))
                 : low * (above / (t + std::sqrt(t) * std::sqrt(t + s)));
      const R sum = high + (s + above);
      low *= high / sum;
      high = sum;
    }
    accept(high + shift);
    accept(low + shift);
  }

  /// Leaves the part of the block behind its last tiny e; the others are pending.
  void split(index_t& first, index_t last, R shift) {
    for (index_t k = last - 3; k >= first; --k) {
      if (e_[k] > squared_tolerance * shift && e_[k] > squared_tolerance * q_[k]) continue;
      e_[k] = 0;
      postpone(first, k, shift);
      first = k + 1;
      return;
    }
  }
  void postpone(index_t first, index_t last, R shift) {
    pending_.push_back({first, last, shift});
    // The arrays change places until the block is begun.
    std::copy(q_ + first, q_ + last + 1, next_q_ + first);
    std::copy(e_ + first, e_ + last + 1, next_e_ + first);
  }

  smallest<R> transform(index_t first, index_t last, R tau) noexcept {
    smallest<R> of{};
    R d = q_[first] - tau, least = d;
    const auto step = [&](index_t i) {
      next_q_[i] = d + e_[i];
      const R ratio = q_[i + 1] / next_q_[i];
      next_e_[i] = e_[i] * ratio;
      d = d * ratio - tau;
    };
    for (index_t i = first; i + 2 < last; ++i) {
      step(i);
      least = d < least ? d : least;
    }
    of.last_but_2 = d;
    of.all_but_2 = least;
    if (last >= first + 2) {
      step(last - 2);
      least = std::min(least, d);
    }
    of.last_but_1 = d;
    of.all_but_1 = least;
    step(last - 1);
    of.last = d;
    of.all = std::min(least, d);
    next_q_[last] = d;
    return of;
  }

  /// Adds the products of the ratios e / q from k on upwards to `sum`; returns false if one is
  /// above 1.
  bool add_ratios(index_t k, index_t first, R product, R& sum, R enough) const noexcept {
    for (; k >= first && product != 0; --k) {
      const R before = product;
      if (e_[k] > q_[k]) return false;
      product *= e_[k] / q_[k];
      sum += product;
      if (100 * std::max(product, before) < sum || enough < sum) break;
    }
    return true;
  }

  /// Returns a shift that is hopefully below the smallest value, and close to it.
  R shift_for(const smallest<R>& d, index_t first, index_t last, index_t deflated) noexcept {
    constexpr R near_one = R(0.563), more = R(1.05), some_more = R(1.01);
    const R ratio = e_[last - 1] / q_[last - 1];
    if (deflated == 0 && (d.all == d.last || d.all == d.last_but_1)) {
      const R b1 = std::sqrt(q_[last]) * std::sqrt(e_[last - 1]);
      const R b2 = std::sqrt(q_[last - 1]) * std::sqrt(e_[last - 2]);
      const R a2 = q_[last - 1] + e_[last - 1];
      if (d.all == d.last && d.all_but_1 == d.last_but_1) {
        const R gap2 = d.all_but_2 - a2 - d.all_but_2 / 4;
        const R gap1 =
            gap2 > 0 && gap2 > b2 ? a2 - d.last - (b2 / gap2) * b2 : a2 - d.last - (b1 + b2);
        if (gap1 > 0 && gap1 > b1) return std::max(d.last - (b1 / gap1) * b1, d.all / 2);
        R s = d.last > b1 ? d.last - b1 : R{0};
        if (a2 > b1 + b2) s = std::min(s, a2 - (b1 + b2));
        return std::max(s, d.all / 3);
      }
      R sum = ratio;
      if (d.all != d.last || ratio > 1 || !add_ratios(last - 2, first, ratio, sum, near_one)) {
        return d.all / 4;
      }
      sum *= more;
      return sum < near_one ? d.last * (1 - std::sqrt(sum)) / (1 + sum) : d.all / 4;
    }
    if (deflated == 0) {
      guess_ = std::min(guess_ + (1 - guess_) / 3, R(0.9));
      return guess_ * d.all;
    }
    guess_ = R(0.25);
    if (deflated == 1 && d.all_but_1 == d.last_but_1 && d.all_but_2 == d.last_but_2) {
      const R third = d.all_but_1 / 3;
      R sum = ratio;
      if (ratio > 1 || !add_ratios(last - 2, first, ratio, sum, std::numeric_limits<R>::max())) {
        return third;
      }
      const R b2 = std::sqrt(more * sum), a2 = d.all_but_1 / (1 + b2 * b2);
      const R gap = d.all_but_2 / 2 - a2;
      const bool is_apart = gap > 0 && gap > b2 * a2;
      const R s =
          is_apart ? a2 * (1 - some_more * a2 * (b2 / gap) * b2) : a2 * (1 - some_more * b2);
      return std::max(third, s);
    }
    if (deflated == 1) return d.all_but_1 / (d.all_but_1 == d.last_but_1 ? 2 : 4);
    return deflated == 2 ? d.all_but_2 / 4 : R{0};
  }

  index_t n_;
  R* q_;
  R* e_;
  R* next_q_;
  R* next_e_;
  R* values_;
  index_t found_ = 0;
  R guess_ = R(0.25);
  std::vector<block> pending_;
};

}  // namespace quotient_differences
}  // namespace

template <class R>
bool quotient_difference_values(index_t n, R* d, const R* e) {
  using limits = std::numeric_limits<R>;
  R size = 0;
  for (index_t i = 0; i < n; ++i) {
    size = std::max(size, std::abs(d[i]));
    if (i + 1 < n) size = std::max(size, std::abs(e[i]));
  }
  if (!(size > 0) || !std::isfinite(size)) return false;
  // The largest squares are near the end of the range: those of small elements do not underflow.
  const R scale = std::sqrt(limits::epsilon() / limits::min()) / size;
  const pack_array<R> memory(5 * n);
  quotient_differences::iteration<R> iteration(n, memory.data());
  for (index_t i = 0; i < n; ++i) {
    iteration.squares()[i] = (d[i] * scale) * (d[i] * scale);
    iteration.squares_above()[i] = i + 1 < n ? (e[i] * scale) * (e[i] * scale) : R{0};
  }
  if (!iteration.run()) return false;
  for (index_t i = 0; i < n; ++i) d[i] = std::sqrt(iteration.values()[i]) / scale;
  std::sort(d, d + n, std::greater<>());
  return true;
}

#define CREEK_INSTANTIATE(letter, R) \
  template bool quotient_difference_values<R>(index_t, R*, const R*);
CREEK_FOR_EACH_REAL(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg::detail
