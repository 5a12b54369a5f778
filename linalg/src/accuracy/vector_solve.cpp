// SPDX-License-Identifier: Apache-2.0
#include "vector_solve.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "magnitudes.hpp"

namespace creek::linalg::detail {
namespace {

/// Columns that are solved by plain loops before a kernel applies them to the rest of x.
constexpr index_t solved_columns = 8;

/// Returns 1 / a. std::complex's division takes much longer, as squares could overflow.
template <scalar T>
T inverse_of(T a) noexcept {
  if constexpr (is_complex<T>) {
    const wide<T> value = widened(a);
    const double squared = value.real() * value.real() + value.imag() * value.imag();
    if (squared > 1e-280 && squared < 1e300) {
      return static_cast<T>(wide<T>(value.real() / squared, -value.imag() / squared));
    }
    return static_cast<T>(wide<T>(1) / value);
  } else {
    return T{1} / a;
  }
}

/// Divides by the diagonal.
template <scalar T>
class divider {
 public:
  divider(diagonal ones, op how, const_view<T> A, const T* reciprocals) noexcept
      : A_(A),
        reciprocals_(reciprocals),
        unit_(ones == diagonal::unit),
        conjugate_(how != op::none) {}

  T operator()(T x, index_t j) const noexcept {
    if (unit_) return x;
    if constexpr (is_complex<T>) {
      const T factor = reciprocals_ == nullptr ? inverse_of(A_(j, j)) : reciprocals_[j];
      return times(x, conjugate_ ? std::conj(factor) : factor);
    } else {
      return reciprocals_ == nullptr ? x / A_(j, j) : x * reciprocals_[j];
    }
  }

 private:
  const_view<T> A_;
  const T* reciprocals_;
  bool unit_;
  bool conjugate_;
};

template <scalar T>
void solve_lower(const_view<T> A, const divider<T>& divided, T* x) noexcept {
  const index_t n = A.rows();
  for (index_t j0 = 0; j0 < n; j0 += solved_columns) {
    const index_t end = std::min(n, j0 + solved_columns);
    for (index_t j = j0; j < end; ++j) {
      x[j] = divided(x[j], j);
      for (index_t i = j + 1; i < end; ++i) x[i] -= times(A(i, j), x[j]);
    }
    if (end < n) subtract(n - end, end - j0, &A(end, j0), A.leading(), x + j0, x + end);
  }
}

template <scalar T>
void solve_upper(const_view<T> A, const divider<T>& divided, T* x) noexcept {
  for (index_t end = A.rows(); end > 0;) {
    const index_t j0 = std::max<index_t>(0, end - solved_columns);
    for (index_t j = end - 1; j >= j0; --j) {
      x[j] = divided(x[j], j);
      for (index_t i = j0; i < j; ++i) x[i] -= times(A(i, j), x[j]);
    }
    if (j0 > 0) subtract(j0, end - j0, A.column(j0), A.leading(), x + j0, x);
    end = j0;
  }
}

template <scalar T>
void solve_lower_adjoint(const_view<T> A, const divider<T>& divided, T* x) noexcept {
  const index_t n = A.rows();
  T sums[solved_columns] = {};
  for (index_t end = n; end > 0;) {
    const index_t j0 = std::max<index_t>(0, end - solved_columns);
    if (end < n) {
      project(n - end, end - j0, &A(end, j0), A.leading(), x + end, sums);
      for (index_t j = j0; j < end; ++j) x[j] -= sums[j - j0];
    }
    for (index_t j = end - 1; j >= j0; --j) {
      T sum = x[j];
      for (index_t i = j + 1; i < end; ++i) sum -= times(conjugated(A(i, j)), x[i]);
      x[j] = divided(sum, j);
    }
    end = j0;
  }
}

template <scalar T>
void solve_upper_adjoint(const_view<T> A, const divider<T>& divided, T* x) noexcept {
  const index_t n = A.rows();
  T sums[solved_columns] = {};
  for (index_t j0 = 0; j0 < n; j0 += solved_columns) {
    const index_t end = std::min(n, j0 + solved_columns);
    if (j0 > 0) {
      project(j0, end - j0, A.column(j0), A.leading(), x, sums);
      for (index_t j = j0; j < end; ++j) x[j] -= sums[j - j0];
    }
    for (index_t j = j0; j < end; ++j) {
      T sum = x[j];
      for (index_t i = j0; i < j; ++i) sum -= times(conjugated(A(i, j)), x[i]);
      x[j] = divided(sum, j);
    }
  }
}

/// Solution whose elements stay below a limit, because x and the scale shrink where they would not.
/// Magnitudes are |re| + |im|, in quarters, which do not overflow.
template <scalar T>
class bounded_vector {
 public:
  bounded_vector(index_t n, T* x) noexcept : n_(n), x_(x), largest_(largest_of(0, n)) {
    if (largest_ > limit) shrink(limit / largest_);
  }

  double scale() const noexcept { return scale_; }
  T operator[](index_t i) const noexcept { return x_[i]; }

  /// x[j] /= a.
  void divide(index_t j, T a) noexcept {
    if (a == T{}) return become_null_vector(j);
    const double size = quarter(x_[j]), divisor = 4 * quarter(a);
    if (divisor < 1 && size > divisor * limit) shrink(divisor * limit / size);
    x_[j] = static_cast<T>(widened(x_[j]) / widened(a));
    largest_ = std::max(largest_, quarter(x_[j]));
  }
  /// Elements [first, last) -= a x[j], where `a` begins at element `first`.
  void subtract_column(index_t first, index_t last, const T* a, index_t j) noexcept {
    const double size = quarter(x_[j]), column = largest_magnitude_of(last - first, a);
    if (column > 0.25 && size > limit / 4 / column) shrink(limit / 4 / column / size);
    subtract(last - first, 1, a, 0, x_ + j, x_ + first);
    largest_ = std::max(largest_, largest_of(first, last));
    if (largest_ > limit) shrink(0.5);
  }
  /// x[j] -= a^H times elements [first, last), where `a` begins at element `first`.
  void subtract_product(index_t first, index_t last, const T* a, index_t j) noexcept {
    const double terms =
        4 * static_cast<double>(last - first) * largest_magnitude_of(last - first, a);
    if (terms > 1 && largest_ > limit / terms) shrink(limit / terms / largest_);
    x_[j] -= dot(last - first, a, x_ + first);
    largest_ = std::max(largest_, quarter(x_[j]));
    if (largest_ > limit) shrink(0.5);
  }

 private:
  /// The products of two complex numbers, and sums of two of them, are below the largest number.
  static constexpr double limit = static_cast<double>(std::numeric_limits<real<T>>::max()) / 64;

  static double quarter(T x) noexcept {
    return std::abs(static_cast<double>(std::real(x)) / 4) +
           std::abs(static_cast<double>(std::imag(x)) / 4);
  }
  static double largest_magnitude_of(index_t n, const T* a) noexcept {
    double found = 0;
    for (index_t i = 0; i < n; ++i) found = std::max(found, quarter(a[i]));
    return found;
  }
  double largest_of(index_t first, index_t last) const noexcept {
    return largest_magnitude_of(last - first, x_ + first);
  }

  void shrink(double factor) noexcept {
    for (index_t i = 0; i < n_; ++i) {
      if constexpr (is_complex<T>) {
        x_[i] = static_cast<T>(widened(x_[i]) * factor);
      } else {
        x_[i] = static_cast<T>(static_cast<double>(x_[i]) * factor);
      }
    }
    scale_ *= factor;
    largest_ *= factor;
  }
  void become_null_vector(index_t j) noexcept {
    std::fill_n(x_, n_, T{});
    x_[j] = T{1};
    scale_ = 0;
    largest_ = 0.25;
  }

  index_t n_;
  T* x_;
  double scale_ = 1;
  double largest_;
};

}  // namespace

template <scalar T>
void solve_vector(triangle stored, op how, diagonal ones, const_view<T> A, const T* reciprocals,
                  T* x) noexcept {
  const divider<T> divided(ones, how, A, reciprocals);
  if (how == op::none) {
    return stored == triangle::lower ? solve_lower(A, divided, x) : solve_upper(A, divided, x);
  }
  // The transpose is the conjugate of the adjoint.
  const bool turned = is_complex<T> && how == op::transpose;
  if (turned) conjugate_vector(A.rows(), x);
  stored == triangle::lower ? solve_lower_adjoint(A, divided, x)
                            : solve_upper_adjoint(A, divided, x);
  if (turned) conjugate_vector(A.rows(), x);
}

template <scalar T>
void invert_diagonal(const_view<T> A, T* reciprocals) noexcept {
  for (index_t i = 0; i < A.rows(); ++i) reciprocals[i] = inverse_of(A(i, i));
}

template <scalar T>
double solve_vector_scaled(triangle stored, op how, diagonal ones, const_view<T> A, T* x) noexcept {
  const index_t n = A.rows();
  const bool turned = is_complex<T> && how == op::transpose;
  if (turned) conjugate_vector(n, x);
  bounded_vector<T> solution(n, x);
  const bool forward = (stored == triangle::lower) == (how == op::none);
  for (index_t step = 0; step < n; ++step) {
    const index_t j = forward ? step : n - 1 - step;
    const index_t first = stored == triangle::lower ? j + 1 : 0;
    const index_t last = stored == triangle::lower ? n : j;
    const T* const column = A.column(j) + first;
    if (how != op::none) solution.subtract_product(first, last, column, j);
    if (ones == diagonal::stored) {
      solution.divide(j, how == op::none ? A(j, j) : conjugated(A(j, j)));
    }
    if (how == op::none) solution.subtract_column(first, last, column, j);
  }
  if (turned) conjugate_vector(n, x);
  return solution.scale();
}

#define CREEK_INSTANTIATE(letter, T)                                                           \
  template void solve_vector<T>(triangle, op, diagonal, const_view<T>, const T*, T*) noexcept; \
  template void invert_diagonal<T>(const_view<T>, T*) noexcept;                                \
  template double solve_vector_scaled<T>(triangle, op, diagonal, const_view<T>, T*) noexcept;
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg::detail
