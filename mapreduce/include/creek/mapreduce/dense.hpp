// SPDX-License-Identifier: Apache-2.0
// Jobs whose keys are 0, 1, ... n - 1 for a small n, and so live in arrays instead of hash tables.
#pragma once

#include <concepts>
#include <creek/core/error.hpp>
#include <creek/mapreduce/job.hpp>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

namespace creek::mapreduce {

/// A job with combine() whose keys are the integers below `dense_keys`, a constant or, where the
/// range is known at run time only, a const member function:
///
///     static constexpr std::size_t dense_keys = 768;
///     std::size_t dense_keys() const;
///
/// Every mapper combines in an array of its own; a run then gives the same result as it gives
/// without this line. A key out of range ends the run with usage_error.
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

/// The size of the range. Throws usage_error if it has keys that the job's key_type has not.
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
/// Stands for a split of any type, to ask whether a job has fill().
struct any_split {
  template <class T>
  operator T() const;  // NOLINT: converts by design
};
}  // namespace detail

/// A dense job that has, instead of `map`,
///
///     void fill(split, std::span<value_type> into) const;
///
/// which is given its whole split and adds what it finds to an array with an element a key, at
/// first all value_type{}, which must be neutral to combine(). It may do so with vector
/// instructions and sums in registers: nothing stands between it and the array. The result has a
/// record for each key of the range. Filling jobs have no reduce().
///
/// Where combining is not exactly associative (sums of floating-point numbers), a job says
/// `static constexpr bool in_order = true`: then a result is the same to the bit for all numbers
/// of workers, as long as the splits are. It costs an array for each of up to 256 parts of the
/// input.
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
