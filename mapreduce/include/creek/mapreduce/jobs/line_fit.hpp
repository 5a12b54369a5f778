// SPDX-License-Identifier: Apache-2.0
// Linear regression from five sums: a job that fills an array of five (dense.hpp), over points of
// two bytes or of two doubles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <creek/mapreduce/engine/split_source.hpp>

namespace creek::mapreduce {

struct byte_point {
  std::uint8_t x, y;
};
static_assert(sizeof(byte_point) == 2);
struct real_point {
  double x, y;
};
static_assert(sizeof(real_point) == 16);

/// Adds the sums of x, y, x * x, y * y and x * y to `sums`. Uses vector code chosen for the CPU at
/// run time; reads exactly the points; any thread. Exact below 2^48 points of bytes.
void add_line_sums(std::span<const byte_point> points, std::span<std::uint64_t, 5> sums) noexcept;
/// Same for doubles; the order of additions depends on the CPU's vector size.
void add_line_sums(std::span<const real_point> points, std::span<double, 5> sums) noexcept;

/// The job; key k is the k-th sum in the order above.
template <class Point>
struct line_fit;

template <>
struct line_fit<byte_point> {
  using key_type = std::uint8_t;
  using value_type = std::uint64_t;
  using split_type = std::span<const byte_point>;
  static constexpr std::size_t dense_keys = 5;

  static void fill(std::span<const byte_point> points, std::span<std::uint64_t> into) noexcept {
    add_line_sums(points, into.first<dense_keys>());
  }
  static void combine(std::uint64_t& into, std::uint64_t from) noexcept { into += from; }
};

template <>
struct line_fit<real_point> {
  using key_type = std::uint8_t;
  using value_type = double;
  using split_type = std::span<const real_point>;
  static constexpr std::size_t dense_keys = 5;
  static constexpr bool in_order = true;  // sums of doubles depend on their order

  static void fill(std::span<const real_point> points, std::span<double> into) noexcept {
    add_line_sums(points, into.first<dense_keys>());
  }
  static void combine(double& into, double from) noexcept { into += from; }
};

// Compiled in line_fit_run.cpp.
extern template result<line_fit<byte_point>> detail::run_source(
    const line_fit<byte_point>&, split_source<std::span<const byte_point>>, const options&);
extern template result<line_fit<real_point>> detail::run_source(
    const line_fit<real_point>&, split_source<std::span<const real_point>>, const options&);

/// y = intercept + slope * x. All members are NaN if no two points have different x.
struct fitted_line {
  double slope, intercept;
  double r_squared;  ///< share of y's variance that the line explains; NaN if all y are equal
};

/// Returns the line from the sums of `count` points of bytes, exact up to the last division.
[[nodiscard]] fitted_line fit_line(std::uint64_t count, std::span<const std::uint64_t, 5> sums);
/// Returns the line from sums of doubles. If the spread of x is small compared to x, digits cancel;
/// below a millionth of x there is no result: shift such points first.
[[nodiscard]] fitted_line fit_line(std::uint64_t count, std::span<const double, 5> sums);

}  // namespace creek::mapreduce
