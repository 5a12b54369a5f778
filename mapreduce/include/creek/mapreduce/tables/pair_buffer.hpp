// SPDX-License-Identifier: Apache-2.0
// Buffer of the pairs that one core has emitted: as bytes, one after the other, with their offsets
// by partition.
#pragma once

#include <creek/core/messages/wire.hpp>
#include <creek/mapreduce/tables/values.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace creek::mapreduce {

/// Appends the bytes of a pair.
template <class Key, class Value>
void put_pair(std::vector<std::byte>& to, const Key& key, const Value& value) {
  wire<Key>::put(to, key);
  wire<Value>::put(to, value);
}

/// Reads the pair at `at` and advances `at` past it. Views in the key point into the bytes.
template <class Pair>
[[nodiscard]] Pair get_pair(const std::byte*& at) {
  // Two statements, because the key comes first.
  auto key = wire<decltype(Pair::key)>::get(at);
  return Pair{std::move(key), wire<decltype(Pair::value)>::get(at)};
}

/// Appends the pairs of a message to `to`. Views in keys point into the message.
template <class Pair, class Memory>
void get_pairs(std::span<const std::byte> message, std::vector<Pair, Memory>& to) {
  const std::byte* const end = message.data() + message.size();
  for (const std::byte* at = message.data(); at != end;) to.push_back(get_pair<Pair>(at));
}

/// Buffer of one core; grows on demand.
template <class Key, class Value>
class pair_buffer {
 public:
  using pair = emitted<Key, Value>;

  explicit pair_buffer(std::size_t partitions) : parts_(partitions) {}

  void add(std::size_t part, const Key& key, const Value& value) {
    const std::size_t begin = bytes_.size();
    put_pair(bytes_, key, value);
    parts_[part].begins.push_back(begin);
    parts_[part].bytes += bytes_.size() - begin;
    ++pairs_;
  }

  [[nodiscard]] std::uint64_t pairs() const noexcept { return pairs_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_.size(); }
  [[nodiscard]] std::size_t bytes(std::size_t part) const noexcept { return parts_[part].bytes; }

  /// Returns the pairs of a partition. Views in keys point into this buffer, to which nothing must
  /// be added while they are used.
  [[nodiscard]] std::vector<pair> pairs_of(std::size_t part) const {
    std::vector<pair> pairs;
    pairs.reserve(parts_[part].begins.size());
    for (const std::size_t begin : parts_[part].begins) {
      const std::byte* at = bytes_.data() + begin;
      pairs.push_back(get_pair<pair>(at));
    }
    return pairs;
  }

  /// Returns the bytes of a partition's pairs as one contiguous message.
  [[nodiscard]] std::vector<std::byte> message(std::size_t part) const {
    std::vector<std::byte> packed;
    packed.reserve(parts_[part].bytes);
    for (const std::size_t begin : parts_[part].begins) {
      const std::byte* at = bytes_.data() + begin;
      (void)get_pair<pair>(at);
      packed.insert(packed.end(), bytes_.data() + begin, at);
    }
    return packed;
  }

 private:
  struct partition {
    std::vector<std::size_t> begins;
    std::size_t bytes = 0;
  };

  std::vector<std::byte> bytes_;
  std::vector<partition> parts_;
  std::uint64_t pairs_ = 0;
};

}  // namespace creek::mapreduce
