// SPDX-License-Identifier: Apache-2.0
// Emitted pairs and the view of all values of one key that a reducer gets: pairs stay where they
// were emitted, and pointers to them are grouped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>

namespace creek::mapreduce {

template <class Key, class Value>
struct emitted {
  Key key;
  Value value;
};

/// A pointer to a pair, with the eight bytes of the key that are being sorted by (big-endian, so
/// that they compare as the key does).
template <class Key, class Value>
struct pair_ref {
  std::uint64_t digits;
  emitted<Key, Value>* pair;
};

/// The values emitted for a key, in no particular order. Valid during the call that got it.
template <class Key, class Value>
class value_list {
 public:
  class iterator {
   public:
    using value_type = Value;
    using difference_type = std::ptrdiff_t;
    using reference = const Value&;
    using iterator_category = std::forward_iterator_tag;
    using pointer = const Value*;

    iterator() = default;
    explicit iterator(const pair_ref<Key, Value>* at) : at_(at) {}
    reference operator*() const { return at_->pair->value; }
    iterator& operator++() {
      ++at_;
      return *this;
    }
    iterator operator++(int) {
      iterator old = *this;
      ++at_;
      return old;
    }
    friend bool operator==(const iterator&, const iterator&) = default;

   private:
    const pair_ref<Key, Value>* at_ = nullptr;
  };

  explicit value_list(std::span<const pair_ref<Key, Value>> refs) : refs_(refs) {}
  [[nodiscard]] iterator begin() const { return iterator(refs_.data()); }
  [[nodiscard]] iterator end() const { return iterator(refs_.data() + refs_.size()); }
  [[nodiscard]] std::size_t size() const { return refs_.size(); }

 private:
  std::span<const pair_ref<Key, Value>> refs_;
};

}  // namespace creek::mapreduce
