// SPDX-License-Identifier: Apache-2.0
// Growing list in pieces that are never reallocated.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <creek/core/language.hpp>

namespace creek::mapreduce::detail {

/// Not synchronised.
template <class T>
class pieces {
 public:
  /// Appends an object; the caller has checked that there is room.
  void push_back(T object) { pieces_.back().push_back(std::move(object)); }
  [[nodiscard]] bool has_room() const noexcept {
    return !pieces_.empty() && pieces_.back().size() < pieces_.back().capacity();
  }
  void make_room() {
    constexpr std::size_t min_size = 64, max_size = 4096;
    const std::size_t size =
        pieces_.empty() ? min_size : std::clamp(2 * pieces_.back().capacity(), min_size, max_size);
    pieces_.emplace_back().reserve(size);
  }
  [[nodiscard]] std::size_t size() const noexcept {
    std::size_t sum = 0;
    for (const auto& piece : pieces_) sum += piece.size();
    return sum;
  }
  template <class F>
  void for_each(F&& f) const {
    for (const auto& piece : pieces_) {
      for (const T& object : piece) f(object);
    }
  }
  /// Calls `f` with references that may be moved from.
  template <class F>
  void for_each(F&& f) {
    for (auto& piece : pieces_) {
      for (T& object : piece) f(object);
    }
  }
  /// Replaces all objects by these.
  void assign(std::vector<T> objects) {
    pieces_.clear();
    pieces_.push_back(std::move(objects));
  }

 private:
  std::vector<std::vector<T>> pieces_;
};

}  // namespace creek::mapreduce::detail
