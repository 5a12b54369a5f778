// SPDX-License-Identifier: Apache-2.0
// Values of numbered groups, moved so that those of a group are adjacent.
#pragma once

#include <creek/core/io/large_pages.hpp>
#include <cstddef>
#include <memory>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace creek::mapreduce::detail {

/// First all values are counted (`expect`), then memory is allocated and they are added, then they
/// are read. Not synchronised.
template <class Value>
class grouped_values {
 public:
  grouped_values() = default;
  explicit grouped_values(std::size_t groups) : begins_(groups + 1) {}
  grouped_values(grouped_values&& other) noexcept { swap(other); }
  grouped_values& operator=(grouped_values&& other) noexcept {
    grouped_values old(std::move(other));
    swap(old);
    return *this;
  }
  ~grouped_values() {
    if (values_ == nullptr) return;
    if constexpr (!std::is_trivially_destructible_v<Value>) {
      for (std::size_t group = 0; group < ends_.size(); ++group) {
        const auto all = (*this)[group];
        std::destroy(all.begin(), all.end());
      }
    }
    free_large(values_, begins_.back() * sizeof(Value), alignof(Value));
  }

  void swap(grouped_values& other) noexcept {
    std::swap(begins_, other.begins_);
    std::swap(ends_, other.ends_);
    std::swap(values_, other.values_);
  }

  void expect(std::size_t group) noexcept { ++begins_[group + 1]; }

  /// Allocates memory for the values that are expected.
  void allocate() {
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
    ends_.assign(begins_.begin(), begins_.end() - 1);
    values_ = static_cast<Value*>(allocate_large(begins_.back() * sizeof(Value), alignof(Value)));
  }

  /// Adds a value to a group that expects one more.
  void add(std::size_t group, Value&& value) {
    std::construct_at(values_ + ends_[group], std::move(value));
    ++ends_[group];
  }

  [[nodiscard]] std::span<Value> operator[](std::size_t group) const noexcept {
    return {values_ + begins_[group], ends_[group] - begins_[group]};
  }

 private:
  std::vector<std::size_t> begins_;  // until allocate(): the size of the group before
  std::vector<std::size_t> ends_;    // of the values that were added
  Value* values_ = nullptr;
};

}  // namespace creek::mapreduce::detail
