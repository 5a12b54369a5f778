// SPDX-License-Identifier: Apache-2.0
// Hash table of key-value pairs in one array of slots: open addressing with linear probing from the
// first slot of a cache line, so that finding most keys takes one access to memory that is not in a
// cache, which can be prefetched, and no branch that depends on the slot.
#pragma once

#include <algorithm>
#include <bit>
#include <creek/core/io/block_pool.hpp>
#include <creek/core/threads/prefetch.hpp>
#include <creek/tasking/hash.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

namespace creek::mapreduce::detail {

/// Returns the tag of a key's hash. Its lowest bits are the position near which a search begins; 0
/// is no tag.
[[nodiscard]] constexpr std::uint32_t tag_of(std::uint64_t hash) noexcept {
  return std::max(static_cast<std::uint32_t>(hash), std::uint32_t{1});
}

/// Tags that are kept in the slots.
struct kept_tags {};

/// Tags that are computed from keys which are integers, so that four pairs of 16 bytes are in a
/// line.
template <class Key>
struct computed_tags {
  const hash_secret* secret = &current_hash_secret();

  [[nodiscard]] std::uint32_t operator()(const Key& key) const { return tag_of(key.hash(*secret)); }
};

/// Place of a value in a slot. One without data takes no memory, so that eight integers are in a
/// line.
template <class Value>
struct value_place {
  union {
    Value value;
  };

  ~value_place() {}  // NOLINT: clear() of the table destroys the value

  void put(Value&& from) { std::construct_at(&value, std::move(from)); }
};
template <class Value>
requires(std::is_empty_v<Value>&& std::is_default_constructible_v<Value>&&
             std::is_trivially_destructible_v<Value>) struct value_place<Value> {
  static inline Value value;

  static void put(Value&& /*from*/) noexcept {}
};

/// Not synchronised. A key comes with the tag of its hash.
template <class Key, class Value, class Tags = kept_tags>
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
    if constexpr (computes) {
      std::swap(tags_, other.tags_);
      std::swap(of_zero_, other.of_zero_);
    }
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_ + (has_zero() ? 1 : 0); }

  /// Removes all pairs and frees the memory.
  void clear() noexcept {
    if constexpr (computes) of_zero_.reset();
    if (!has_memory()) return;
    if constexpr (!std::is_trivially_destructible_v<Key> ||
                  !std::is_trivially_destructible_v<Value>) {
      for_each_slot([](slot& here) {
        std::destroy_at(&here.key);
        std::destroy_at(&here.value);
      });
    }
    pool_->free(std::exchange(slots_, free_slots()), capacity() * sizeof(slot));
    mask_ = size_ = 0;
  }

  /// Fetches the slots where a search for a key with this tag begins.
  void prefetch(std::uint32_t tag) const noexcept { prefetch_to_read(slots_ + home_of(tag)); }
  /// Fetches the text of the key with this tag, if it is in one of those slots.
  void prefetch_text(std::uint32_t tag) const noexcept {
    const slot* const home = slots_ + home_of(tag);
    for (std::size_t i = 0; i < line_slots; ++i) {
      if (home[i].has_tag(tag) && !home[i].key.is_inside()) home[i].key.prefetch_text();
    }
  }

  /// Calls `combine(Value&, Value&&)` if the key is there; otherwise calls `keep(Key&)` and adds
  /// the pair. Throws what these throw, and std::bad_alloc; then nothing was added.
  template <class Combine, class Keep>
  void add(std::uint32_t tag, Key&& key, Value&& value, Combine&& combine, Keep&& keep) {
    if constexpr (computes) {
      if (slot::marks_free(key)) [[unlikely]] {
        if (of_zero_) return combine(*of_zero_, std::move(value));
        of_zero_.emplace(std::move(value));
        return;
      }
    }
    slot* const home = slots_ + home_of(tag);
    unsigned having = 0;  // a bit per slot: nobody can predict which
    for (unsigned i = 0; i < line_slots; ++i) having |= unsigned{home[i].may_have(tag, key)} << i;
    const auto in = static_cast<std::size_t>(std::countr_zero(having | 1u << line_slots));
    if (in != line_slots && (computes || home[in].has(tag, key))) [[likely]] {
      return combine(home[in].value, std::move(value));
    }
    add_anywhere(tag, std::move(key), std::move(value), combine, keep);
  }

  /// Calls `f(tag, Key&, Value&)` for each pair, in no order.
  template <class F>
  void for_each(F&& f) {
    for_each_slot([&](slot& here) { f(tag_in(here), here.key, here.value); });
    if constexpr (computes) {
      if (!of_zero_) return;
      Key zero = slot::free_mark();
      f(tags_(zero), zero, *of_zero_);
    }
  }

  /// Returns whether the number of pairs is right, `fits(tag, const Key&)` holds for each, and a
  /// search finds its slot.
  template <class Fits>
  [[nodiscard]] bool verify(Fits&& fits) const {
    std::size_t used = 0;
    for (std::size_t at = 0; at <= mask_; ++at) {
      const slot& here = slots_[at];
      if (here.is_free()) continue;
      ++used;
      if (!fits(tag_in(here), here.key)) return false;
      for (std::size_t on = home_of(tag_in(here)); on != at; on = (on + 1) & mask_) {
        if (slots_[on].is_free()) return false;
      }
    }
    if constexpr (computes) {
      const Key zero = slot::free_mark();
      if (of_zero_ && !fits(tags_(zero), zero)) return false;
    }
    return used == size_ && 8 * used <= max_eighths * capacity();
  }

 private:
  static constexpr bool computes = !std::is_same_v<Tags, kept_tags>;

  struct tagged_parts {
    std::uint32_t tag;
    Key key;
    Value value;
  };
  /// Rounded up to a part of a line if at most an eighth of the slot is unused then.
  static constexpr std::size_t tagged_part = std::bit_ceil(sizeof(tagged_parts));
  struct alignas(tagged_part <= 64 && 7 * tagged_part <= 8 * sizeof(tagged_parts)
                     ? tagged_part
                     : alignof(tagged_parts)) tagged_slot {
    std::uint32_t tag;  // 0: free
    union {
      Key key;
    };
    union {
      Value value;
    };

    ~tagged_slot() {}  // NOLINT: clear() destroys key and value

    [[nodiscard]] bool is_free() const noexcept { return tag == 0; }
    [[nodiscard]] bool has_tag(std::uint32_t wanted) const noexcept { return tag == wanted; }
    [[nodiscard]] bool may_have(std::uint32_t wanted, const Key& /*other*/) const noexcept {
      return has_tag(wanted);
    }
    [[nodiscard]] bool has(std::uint32_t wanted, const Key& other) const {
      return tag == wanted && key == other;
    }
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

  /// A key of 0 says that the slot is free.
  struct integer_slot : value_place<Value> {
    Key key;

    [[nodiscard]] static Key free_mark() noexcept { return Key(0, {}); }
    [[nodiscard]] static bool marks_free(const Key& key) noexcept { return key.get() == 0; }
    [[nodiscard]] bool is_free() const noexcept { return marks_free(key); }
    [[nodiscard]] bool may_have(std::uint32_t tag, const Key& other) const noexcept {
      return has(tag, other);
    }
    [[nodiscard]] bool has(std::uint32_t /*tag*/, const Key& other) const noexcept {
      return key == other;
    }
    void fill(std::uint32_t /*tag*/, Key&& new_key, Value&& new_value) {
      this->put(std::move(new_value));
      key = new_key;
    }
  };

  using slot = std::conditional_t<computes, integer_slot, tagged_slot>;
  static constexpr std::size_t min_slots = 8;
  /// Slots of a line that are looked at together, if none lies in two lines.
  static constexpr std::size_t line_slots =
      64 % sizeof(slot) == 0 ? std::min<std::size_t>(64 / sizeof(slot), 4) : 1;
  /// Eighths of the slots that may be used. Fewer: more searches end in the line where they begin,
  /// which no branch predictor knows. More: less memory has to be cleared and fetched.
  static constexpr std::size_t max_eighths = computes ? 4 : line_slots > 1 ? 6 : 5;
  static_assert(alignof(slot) <= 64, "keys and values must not be aligned to more than 64 bytes");

  /// Returns slots to search in before there is memory: nothing is ever written there.
  [[nodiscard]] static slot* free_slots() noexcept {
    alignas(64) static constexpr std::byte zeros[line_slots * sizeof(slot)] = {};
    return reinterpret_cast<slot*>(const_cast<std::byte*>(zeros));  // NOLINT
  }
  /// Returns the number of slots, or 1 if there is no memory yet.
  [[nodiscard]] std::size_t capacity() const noexcept { return mask_ + 1; }
  [[nodiscard]] bool has_memory() const noexcept { return mask_ != 0; }

  [[nodiscard]] bool has_zero() const noexcept {
    if constexpr (computes) return of_zero_.has_value();
    return false;
  }
  [[nodiscard]] std::uint32_t tag_in(const slot& here) const {
    if constexpr (computes) {
      return tags_(here.key);
    } else {
      return here.tag;
    }
  }

  template <class F>
  void for_each_slot(F&& f) {
    for (std::size_t at = 0; size_ != 0 && at <= mask_; ++at) {
      if (!slots_[at].is_free()) f(slots_[at]);
    }
  }

  /// Returns the number of the slot where a search begins, a multiple of line_slots.
  [[nodiscard]] std::size_t home_of(std::uint32_t tag) const noexcept {
    return tag & mask_ & ~(line_slots - 1);
  }
  [[nodiscard]] std::size_t free_slot(std::uint32_t tag) const noexcept {
    std::size_t at = home_of(tag);
    while (!slots_[at].is_free()) at = (at + 1) & mask_;
    return at;
  }

  /// Implements add() for a key that is not in the first line, or new.
  template <class Combine, class Keep>
  [[gnu::noinline]] void add_anywhere(std::uint32_t tag, Key&& key, Value&& value, Combine& combine,
                                      Keep& keep) {
    std::size_t at = home_of(tag);
    for (; !slots_[at].has(tag, key); at = (at + 1) & mask_) {
      if (slots_[at].is_free()) return insert(at, tag, std::move(key), std::move(value), keep);
    }
    combine(slots_[at].value, std::move(value));
  }
  template <class Keep>
  void insert(std::size_t at, std::uint32_t tag, Key&& key, Value&& value, Keep&& keep) {
    if (8 * (size_ + 1) > max_eighths * capacity()) [[unlikely]] {
      grow();
      at = free_slot(tag);
    }
    keep(key);
    slots_[at].fill(tag, std::move(key), std::move(value));
    ++size_;
  }

  [[gnu::cold]] void grow() {
    hash_slots larger(pool_);
    const std::size_t slots = has_memory() ? 2 * capacity() : min_slots;
    larger.slots_ = static_cast<slot*>(pool_->allocate(slots * sizeof(slot)));  // zeros are free
    larger.mask_ = slots - 1;
    for_each_slot([&](slot& here) {
      const std::uint32_t tag = tag_in(here);
      larger.slots_[larger.free_slot(tag)].fill(tag, std::move(here.key), std::move(here.value));
      ++larger.size_;
    });
    std::swap(slots_, larger.slots_);
    std::swap(mask_, larger.mask_);
    std::swap(size_, larger.size_);
  }

  struct nothing {};

  std::shared_ptr<block_pool> pool_;
  slot* slots_ = free_slots();
  std::size_t mask_ = 0;
  std::size_t size_ = 0;  // used slots
  [[no_unique_address]] Tags tags_;
  [[no_unique_address]] std::conditional_t<computes, std::optional<Value>, nothing> of_zero_;
};

}  // namespace creek::mapreduce::detail
