// SPDX-License-Identifier: Apache-2.0
// Table (table.hpp) of dense jobs that emit: an array, and one byte per key that tells whether the
// key was emitted.
#pragma once

#include <algorithm>
#include <creek/core/error.hpp>
#include <creek/mapreduce/dense.hpp>
#include <creek/mapreduce/detail/line_allocator.hpp>
#include <creek/mapreduce/tables/byte_arena.hpp>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace creek::mapreduce {

/// Dense table; a partition is a range of keys.
template <dense Job>
class dense_table {
 public:
  using key_type = typename Job::key_type;
  using value_type = typename Job::value_type;
  static constexpr std::size_t partitions = 16;

  /// Throws like dense_keys_of.
  explicit dense_table(const Job& job)
      : job_(&job), values_(dense_keys_of(job)), seen_(values_.size()) {}

  void source(std::string_view, bool) {}

  void operator()(key_type key, value_type value) {
    const auto at = static_cast<std::size_t>(key);  // a negative key becomes a large one
    if (at >= values_.size()) [[unlikely]]
      refuse(key);
    ++emitted_;
    add(at, std::move(value));
  }

  void flush() {}

  void merge(dense_table& other, std::size_t part) {
    for (std::size_t at = begin_of(part); at < begin_of(part + 1); ++at) {
      if (other.seen_[at]) add(at, std::move(other.values_[at]));
    }
    other.clear(part);
  }

  /// Calls `f(key, value)` with references that may be moved from.
  template <class F>
  void for_each(std::size_t part, F&& f) {
    for (std::size_t at = begin_of(part); at < begin_of(part + 1); ++at) {
      auto key = static_cast<key_type>(at);
      if (seen_[at]) f(key, values_[at]);
    }
  }

  void clear(std::size_t part) {
    for (std::size_t at = begin_of(part); at < begin_of(part + 1); ++at) {
      if (std::exchange(seen_[at], std::uint8_t{0})) values_[at] = value_type{};
    }
  }
  [[nodiscard]] std::size_t size(std::size_t part) const {
    return std::accumulate(seen_.begin() + static_cast<std::ptrdiff_t>(begin_of(part)),
                           seen_.begin() + static_cast<std::ptrdiff_t>(begin_of(part + 1)),
                           std::size_t{0});
  }
  [[nodiscard]] std::uint64_t emitted() const { return emitted_; }
  [[nodiscard]] byte_arena take_arena() { return {}; }
  [[nodiscard]] static constexpr bool must_copy(const key_type&) { return false; }

 private:
  [[noreturn]] void refuse(key_type key) const {
    throw usage_error("mapreduce: key " + std::to_string(key) +
                      " was emitted, but dense_keys allows keys below " +
                      std::to_string(values_.size()));
  }

  /// Returns the partition's first key. Ranges are whole lines of `seen_`: tasks share none.
  [[nodiscard]] std::size_t begin_of(std::size_t part) const {
    const std::size_t step =
        (values_.size() / partitions / detail::line_bytes + 1) * detail::line_bytes;
    return std::min(part * step, values_.size());
  }

  void add(std::size_t at, value_type&& value) {
    if (seen_[at]) {
      job_->combine(values_[at], std::move(value));
    } else {
      seen_[at] = 1;
      values_[at] = std::move(value);
    }
  }

  template <class T>
  using lines = std::vector<T, detail::line_allocator<T>>;

  const Job* job_;
  lines<value_type> values_;
  lines<std::uint8_t> seen_;
  std::uint64_t emitted_ = 0;
};

}  // namespace creek::mapreduce
