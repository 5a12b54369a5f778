// SPDX-License-Identifier: Apache-2.0
// Emitted pairs, and the view of all values of one key that a reducer gets: pairs stay where they
// were emitted, and pointers to them are grouped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>

#include <creek/core/language.hpp>

namespace creek::mapreduce {

template <class Key, class Value>
struct emitted {
  Key key;
  Value value;
};

/// Pointer to a pair, with eight bytes of the key for sorting (big-endian, so that they compare
/// like the key).
template <class Key, class Value>
struct pair_ref {
  std::uint64_t digits;
  emitted<Key, Value>* pair;
};

/// Values emitted for a key, in no particular order. Valid only during the call that gets it.
template <class Key, class Value>
class value_list {
 public:
  using pair = emitted<Key, Value>;

  class iterator {
   public:
    using value_type = Value;
    using difference_type = std::ptrdiff_t;
    using reference = const Value&;
    using iterator_category = std::forward_iterator_tag;
    using pointer = const Value*;

    iterator() = default;
    reference operator*() const { return ref_ != nullptr ? ref_->pair->value : *at_; }
    iterator& operator++() {
      if (ref_ != nullptr) {
        ++ref_;
      } else {
        at_ = next(at_, stride_);
      }
      return *this;
    }
    iterator operator++(int) {
      iterator old = *this;
      ++*this;
      return old;
    }
    friend bool operator==(const iterator&, const iterator&) = default;

   private:
    friend value_list;
    iterator(const pair_ref<Key, Value>* ref, const Value* at, std::size_t stride)
        : ref_(ref), at_(at), stride_(stride) {}

    const pair_ref<Key, Value>* ref_ = nullptr;
    const Value* at_ = nullptr;
    std::size_t stride_ = 0;
  };

  /// Constructs a list of pairs that stayed where they were emitted.
  explicit value_list(std::span<const pair_ref<Key, Value>> refs)
      : refs_(refs.data()), size_(refs.size()) {}
  /// Constructs a list of the values of adjacent pairs.
  explicit value_list(std::span<const pair> pairs)
      : values_(pairs.empty() ? nullptr : &pairs.front().value),
        stride_(sizeof(pair)),
        size_(pairs.size()) {}
  /// Constructs a list of adjacent values.
  explicit value_list(std::span<const Value> values)
      : values_(values.data()), stride_(sizeof(Value)), size_(values.size()) {}

  [[nodiscard]] iterator begin() const { return {refs_, values_, stride_}; }
  [[nodiscard]] iterator end() const {
    if (refs_ != nullptr) return {refs_ + size_, nullptr, stride_};
    return {nullptr, next(values_, size_ * stride_), stride_};
  }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  [[nodiscard]] static const Value* next(const Value* at, std::size_t bytes) noexcept {
    return reinterpret_cast<const Value*>(reinterpret_cast<const std::byte*>(at) + bytes);
  }

  const pair_ref<Key, Value>* refs_ = nullptr;
  const Value* values_ = nullptr;
  std::size_t stride_ = 0;  // bytes from a value to the next
  std::size_t size_;
};

}  // namespace creek::mapreduce
