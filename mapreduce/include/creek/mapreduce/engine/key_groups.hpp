// SPDX-License-Identifier: Apache-2.0
// Groups of one core's pairs by key: pointers to the pairs are sorted, the pairs stay in
// place.
#pragma once

#include <creek/mapreduce/engine/radix_sort.hpp>
#include <creek/mapreduce/tables/values.hpp>
#include <cstddef>
#include <span>
#include <vector>

namespace creek::mapreduce {

template <class Key, class Value>
class key_groups {
 public:
  using pair = emitted<Key, Value>;
  using ref = pair_ref<Key, Value>;

  /// Takes ownership of the pairs and groups them.
  explicit key_groups(std::vector<pair> pairs) : pairs_{std::move(pairs)} {
    refs_.reserve(pairs_.size());
    for (pair& p : pairs_) refs_.push_back({0, &p});
    effort_ = sort_refs(refs_);
    for (std::size_t i = 0; i < refs_.size(); ++i) {
      if (i == 0 || !(refs_[i].pair->key == refs_[i - 1].pair->key)) begins_.push_back(i);
    }
  }
  key_groups() = default;

  [[nodiscard]] std::size_t pairs() const noexcept { return pairs_.size(); }
  [[nodiscard]] std::size_t keys() const noexcept { return begins_.size(); }
  [[nodiscard]] const sort_effort& effort() const noexcept { return effort_; }

  /// Calls `f(group)` with the pointers to the pairs of each key, in key order.
  template <class F>
  void for_each(F&& f) const {
    for (std::size_t k = 0; k < begins_.size(); ++k) {
      const std::size_t end = k + 1 < begins_.size() ? begins_[k + 1] : refs_.size();
      f(std::span<const ref>{refs_}.subspan(begins_[k], end - begins_[k]));
    }
  }

 private:
  std::vector<pair> pairs_;
  std::vector<ref> refs_;
  std::vector<std::size_t> begins_;  // per key: index of its first ref
  sort_effort effort_;
};

}  // namespace creek::mapreduce
