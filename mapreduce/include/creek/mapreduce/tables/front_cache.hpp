// SPDX-License-Identifier: Apache-2.0
// Combined pairs of frequent keys in front of a mapper's table: a small table that stays in the
// core's caches, where each key has one place.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include <creek/core/language.hpp>

namespace creek::mapreduce::detail {

/// Used by one task at a time. Of the keys of a place, the one stays that a vote of its pairs finds
/// frequent [Boyer 1991]. The cache is in use while many pairs find their key there.
template <class Key, class Value>
class front_cache {
 public:
  /// Pairs that are small and do not throw when they make room for others.
  static constexpr bool possible = std::is_nothrow_move_constructible_v<Key> &&
                                   std::is_nothrow_move_constructible_v<Value> &&
                                   sizeof(Key) + sizeof(Value) <= 256;

  /// Returns whether the next pair is to be put in.
  [[nodiscard]] bool is_on() noexcept {
    if (--until_decision_ == 0) [[unlikely]]
      decide();
    return on_;
  }

  /// Combines a pair with that of its key by `combine(Value&, Value&&)` or takes it in, and returns
  /// true. Otherwise returns false, and leaves the pair or exchanges it for the one that was in its
  /// place. `bits` of the key choose the place by the highest of them.
  template <class Combine>
  [[nodiscard, gnu::always_inline]] bool put(std::uint64_t bits, Key& key, Value& value,
                                             Combine&& combine) {
    place& here = places_[bits >> (64 - std::bit_width(place_count - 1))];
    if (here.votes == 0) {
      here.fill(std::move(key), std::move(value));
      return true;
    }
    if (here.key == key) {
      ++hits_;
      if (here.votes < max_votes) ++here.votes;
      combine(here.value, std::move(value));
      return true;
    }
    if (--here.votes == 0) here.exchange(key, value);
    return false;
  }

  /// Removes all pairs and calls `evict(Key&&, Value&&)` for each. The cache is off afterwards: the
  /// next split may have few pairs.
  template <class Evict>
  void flush(Evict&& evict) {
    until_decision_ = std::max(until_decision_, sample);
    on_ = false;
    if (places_ == nullptr) return;
    for (place& here : std::span(places_.get(), place_count)) {
      if (here.votes == 0) continue;
      auto [key, value] = here.take();
      evict(std::move(key), std::move(value));
    }
  }

 private:
  /// A pair, if there are votes.
  struct place {
    std::uint32_t votes = 0;
    union {
      Key key;
    };
    union {
      Value value;
    };

    place() noexcept {}  // NOLINT: key and value come later
    ~place() {
      if (votes == 0) return;
      std::destroy_at(&key);
      std::destroy_at(&value);
    }

    void fill(Key&& new_key, Value&& new_value) noexcept {
      std::construct_at(&key, std::move(new_key));
      std::construct_at(&value, std::move(new_value));
      votes = 1;
    }
    void exchange(Key& other_key, Value& other_value) noexcept {
      std::swap(key, other_key);
      std::swap(value, other_value);
      votes = 1;
    }
    [[nodiscard]] std::pair<Key, Value> take() noexcept {
      votes = 0;
      std::pair<Key, Value> taken(std::move(key), std::move(value));
      std::destroy_at(&key);
      std::destroy_at(&value);
      return taken;
    }
  };
  static constexpr std::uint32_t max_votes = 1 << 8;  // so that a key that was frequent can go
  static constexpr std::size_t place_count = std::bit_floor((std::size_t{1} << 17) / sizeof(place));
  static constexpr std::uint32_t sample = 1 << 12;           // pairs between decisions
  static constexpr std::uint32_t min_hits = sample / 4 * 3;  // a miss costs more than a hit saves
  static constexpr std::uint32_t pause = 1 << 17;            // pairs

  void decide() {
    on_ = !on_ || hits_ >= min_hits;
    hits_ = 0;
    until_decision_ = on_ ? sample : pause;
    if (on_ && places_ == nullptr) places_.reset(new place[place_count]);
  }

  std::unique_ptr<place[]> places_;
  std::uint32_t until_decision_ = sample;
  std::uint32_t hits_ = 0;
  bool on_ = false;
};

}  // namespace creek::mapreduce::detail
