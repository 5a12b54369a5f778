// SPDX-License-Identifier: Apache-2.0
// Hash table of key-value pairs in one array of slots: open addressing with linear probing, so that
// finding a key takes one access to memory that is not in a cache, and it can be prefetched.
#pragma once

#include <algorithm>
#include <creek/core/io/block_pool.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace creek::mapreduce::detail {

/// Not synchronised. At most five eighths of the slots are used. Keys come with a tag, some bits of
/// their hash, not 0; its lowest bits are the position where a search begins.
template <class Key, class Value>
class hash_slots {
 public:
  explicit hash_slots(std::shared_ptr<block_pool> pool) noexcept : pool_(std::move(pool)) {}
  hash_slots(hash_slots&& other) noexcept : pool_(other.pool_) { swap(other); }
  hash_slots& operator=(hash_slots&& other) noexcept {
    hash_slots old(std::move(other));
    swap(old);
    return *this;
  }
  ~hash_slots() { clear(); }

  void swap(hash_slots& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(slots_, other.slots_);
    std::swap(mask_, other.mask_);
    std::swap(size_, other.size_);
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Returns the number of slots, or 1 if there is no memory yet.
  [[nodiscard]] std::size_t capacity() const noexcept { return mask_ + 1; }

  /// Removes all pairs and frees the memory.
  void clear() noexcept {
    if (slots_ == nullptr) return;
    if constexpr (!std::is_trivially_destructible_v<Key> ||
                  !std::is_trivially_destructible_v<Value>) {
      for_each([](std::uint32_t, Key& key, Value& value) {
        std::destroy_at(&key);
        std::destroy_at(&value);
      });
    }
    pool_->free(std::exchange(slots_, nullptr), capacity() * sizeof(slot));
    mask_ = size_ = 0;
  }

  /// Fetches the slot where a search for a key with this tag begins.
  void prefetch(std::uint32_t tag) const noexcept { __builtin_prefetch(slots_ + (tag & mask_), 1); }

  /// Calls `combine(Value&, Value&&)` if the key is there; otherwise calls `keep(Key&)` and adds
  /// the pair. Throws what these throw, and std::bad_alloc; then nothing was added.
  template <class Combine, class Keep>
  void add(std::uint32_t tag, Key&& key, Value&& value, Combine&& combine, Keep&& keep) {
    if (slots_ == nullptr) [[unlikely]]
      grow();
    std::size_t at = tag & mask_;
    for (; slots_[at].tag != 0; at = (at + 1) & mask_) {
      slot& here = slots_[at];
      if (here.tag == tag && here.key == key) return combine(here.value, std::move(value));
    }
    if (8 * (size_ + 1) > 5 * capacity()) [[unlikely]] {
      grow();
      at = free_slot(tag);
    }
    keep(key);
    slots_[at].fill(tag, std::move(key), std::move(value));
    ++size_;
  }

  /// Calls `f(tag, Key&, Value&)` for each pair, in no order.
  template <class F>
  void for_each(F&& f) {
    for (std::size_t at = 0; size_ != 0 && at <= mask_; ++at) {
      if (slots_[at].tag != 0) f(slots_[at].tag, slots_[at].key, slots_[at].value);
    }
  }

  /// Returns whether the number of pairs is right, `fits(tag, const Key&)` holds for each, and a
  /// search finds its slot.
  template <class Fits>
  [[nodiscard]] bool verify(Fits&& fits) const {
    std::size_t used = 0;
    for (std::size_t at = 0; slots_ != nullptr && at <= mask_; ++at) {
      const slot& here = slots_[at];
      if (here.tag == 0) continue;
      ++used;
      if (!fits(here.tag, here.key)) return false;
      for (std::size_t on = here.tag & mask_; on != at; on = (on + 1) & mask_) {
        if (slots_[on].tag == 0) return false;
      }
    }
    return used == size_ && 8 * used <= 5 * capacity();
  }

 private:
  struct slot {
    std::uint32_t tag = 0;  // 0: free
    union {
      Key key;
    };
    union {
      Value value;
    };

    slot() noexcept {}  // NOLINT: key and value come later
    ~slot() {}          // NOLINT: clear() destroys them

    void fill(std::uint32_t with, Key&& new_key, Value&& new_value) {
      std::construct_at(&key, std::move(new_key));
      if constexpr (std::is_nothrow_move_constructible_v<Value>) {
        std::construct_at(&value, std::move(new_value));
      } else {
        try {
          std::construct_at(&value, std::move(new_value));
        } catch (...) {
          std::destroy_at(&key);
          throw;
        }
      }
      tag = with;
    }
  };
  static constexpr std::size_t min_slots = 8;
  static_assert(alignof(slot) <= 64, "keys and values must not be aligned to more than 64 bytes");

  [[nodiscard]] std::size_t free_slot(std::uint32_t tag) const noexcept {
    std::size_t at = tag & mask_;
    while (slots_[at].tag != 0) at = (at + 1) & mask_;
    return at;
  }

  void grow() {
    hash_slots larger(pool_);
    const std::size_t slots = slots_ == nullptr ? min_slots : 2 * capacity();
    larger.slots_ = static_cast<slot*>(pool_->allocate(slots * sizeof(slot)));
    std::uninitialized_default_construct_n(larger.slots_, slots);
    larger.mask_ = slots - 1;
    for_each([&](std::uint32_t tag, Key& key, Value& value) {
      larger.slots_[larger.free_slot(tag)].fill(tag, std::move(key), std::move(value));
      ++larger.size_;
    });
    swap(larger);
  }

  std::shared_ptr<block_pool> pool_;
  slot* slots_ = nullptr;
  std::size_t mask_ = 0;
  std::size_t size_ = 0;
};

}  // namespace creek::mapreduce::detail
