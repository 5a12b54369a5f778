// SPDX-License-Identifier: Apache-2.0
// Jobs with keys 0, 1, ... n - 1 for a small n, kept in arrays instead of hash tables.
#pragma once

#include <concepts>
#include <creek/core/error.hpp>
#include <creek/mapreduce/job.hpp>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

namespace creek::mapreduce {

/// Job with combine() whose keys are the integers below `dense_keys`, which is a constant or, if
/// the range is known only at run time, a const member function:
///
///     static constexpr std::size_t dense_keys = 768;
///     std::size_t dense_keys() const;
///
/// Every mapper combines in an array of its own; the result of a run is the same as without this
/// declaration. A key out of range ends the run with usage_error.
template <class J>
concept dense = combines<J> && std::integral<typename J::key_type> &&
                std::default_initializable<typename J::value_type> &&
                !std::same_as<typename J::value_type, bool> &&
                (
                    requires(const J& j) {
                      { j.dense_keys() } -> std::convertible_to<std::size_t>;
                    } ||
                    requires {
                      { J::dense_keys } -> std::convertible_to<std::size_t>;
                    });

namespace detail {
/// Checks a job that declares dense_keys.
template <class J>
struct dense_requirements {
  static_assert(
      !requires { &J::dense_keys; } || dense<J>,
      "a job with dense_keys needs combine(), an integral key_type, and a value_type "
      "with a default constructor, which is not bool");
  static constexpr bool met = true;
};
}  // namespace detail

/// Returns the size of the range. Throws usage_error if the job's key_type cannot hold all keys.
template <dense J>
[[nodiscard]] std::size_t dense_keys_of(const J& job) {
  std::size_t keys = 0;
  if constexpr (requires { job.dense_keys(); }) {
    keys = job.dense_keys();
  } else {
    keys = J::dense_keys;
  }
  if (keys != 0 && !std::in_range<typename J::key_type>(keys - 1)) {
    throw usage_error("mapreduce: dense_keys " + std::to_string(keys) +
                      ": more keys than key_type has; use a wider one");
  }
  return keys;
}

namespace detail {
/// Placeholder for a split of any type, to test whether a job has fill().
struct any_split {
  template <class T>
  operator T() const;  // NOLINT: converts by design
};
}  // namespace detail

/// Dense job that has, instead of `map`,
///
///     void fill(split, std::span<value_type> into) const;
///
/// which gets a whole split and adds its results to an array with one element per key. All elements
/// are value_type{} at first, which must be neutral to combine(). It may use vector instructions
/// and keep sums in registers: there is no call between it and the array. The result has a record
/// for each key of the range. Filling jobs have no reduce().
///
/// If combining is not exactly associative (sums of floating-point numbers), a job declares
/// `static constexpr bool in_order = true`: then a result is the same to the bit for any number of
/// workers, as long as the splits are the same. It costs one array for each of up to 256 parts of
/// the input.
template <class J>
concept fills = dense<J> && !reduces<J> && requires(const J& j, detail::any_split split,
                                                    std::span<typename J::value_type> into) {
  j.fill(split, into);
};

namespace detail {
template <class J>
inline constexpr bool in_order = false;
template <class J>
requires requires {
  { J::in_order } -> std::convertible_to<bool>;
}
inline constexpr bool in_order<J> = J::in_order;
}  // namespace detail

}  // namespace creek::mapreduce
