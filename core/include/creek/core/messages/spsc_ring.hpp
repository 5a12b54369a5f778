// SPDX-License-Identifier: Apache-2.0
// A bounded ring of items from one producer to one consumer, with credits: the producer goes on as
// long as it knows of free slots, and looks at the consumer's position only when it knows of none.
// No operation is a read-modify-write, and nothing is allocated. core/README.md has the protocol.
// Sources: the ring is that of [Lamport 1977], with cached positions as in MCRingBuffer [Lee 2010].
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <creek/core/error.hpp>
#include <creek/core/memory.hpp>
#include <creek/core/process_memory.hpp>

namespace creek {

/// The part of a memory policy that a ring needs; every memory_policy has it.
template <class M>
concept ring_memory = std::copyable<M> &&
    requires(M& m, std::size_t size, mpm_ptr<std::byte> block, mpm_ptr<const std::byte> source,
             void* to, const void* from, mpm_ptr<word> flag, word value) {
  { M::line_bytes } -> std::convertible_to<std::size_t>;
  { m.load(flag) } -> std::same_as<word>;
  { m.store(flag, value) } -> std::same_as<void>;
  { m.signal(flag, value) } -> std::same_as<void>;
  { m.read(to, source, size) } -> std::same_as<void>;
  { m.write(block, from, size) } -> std::same_as<void>;
  { m.invalidate() } -> std::same_as<void>;
  { m.flush() } -> std::same_as<void>;
};

/// A memory in which objects can be constructed. In others an item is copied as bytes.
template <class M>
concept object_memory = ring_memory<M> && requires {
  requires M::holds_objects;
};

/// An item that a ring in memory M can carry.
template <class T, class M>
concept ring_item = std::is_object_v<T> && std::is_nothrow_destructible_v<T> &&
    (object_memory<M> || std::is_trivially_copyable_v<T>);

/// The places of a ring's parts. All words are zero at first. Each of them is alone on its line,
/// except for the reason behind `written` and `published`.
///
/// A position counts items in steps of two; the lowest bit says that its writer has closed the
/// ring. Positions wrap at 2^32, so there are at most 2^29 items in a ring.
struct spsc_place {
  mpm_ptr<word> written;    ///< position of the producer, then its reason for closing
  mpm_ptr<word> published;  ///< position of the consumer, by quarters; then its reason
  mpm_ptr<word> taken;      ///< position of the consumer, exact
  mpm_ptr<std::byte> slots;

  /// Returns the number of items in the ring, from any thread; exact while neither end moves.
  template <ring_memory Memory>
  [[nodiscard]] word size(Memory memory) const {
    const word at = memory.load(taken);
    return (memory.load(written) - at) / step;
  }

  static constexpr word step = 2;
  static constexpr word closed_bit = 1;
  static constexpr std::size_t max_capacity = std::size_t{1} << 29;
};

/// Returns the bytes that a ring of `capacity` items takes, at the producer and at the consumer.
template <class T, ring_memory Memory>
[[nodiscard]] constexpr std::size_t spsc_bytes(std::size_t capacity) noexcept {
  return 3 * Memory::line_bytes + capacity * sizeof(T) +
         (alignof(T) > Memory::line_bytes ? alignof(T) : 0);
}

/// Returns the place of a ring within one block of spsc_bytes(), aligned to a line, that both ends
/// can address.
template <class T, ring_memory Memory>
[[nodiscard]] spsc_place spsc_place_in(mpm_ptr<std::byte> block) noexcept {
  constexpr auto line = static_cast<std::ptrdiff_t>(Memory::line_bytes);
  mpm_ptr<std::byte> slots = block + 3 * line;
  if constexpr (alignof(T) > Memory::line_bytes) {
    const auto over = reinterpret_cast<std::uintptr_t>(slots.address()) % alignof(T);
    if (over != 0) slots = slots + static_cast<std::ptrdiff_t>(alignof(T) - over);
  }
  return {block.as<word>(), (block + line).as<word>(), (block + 2 * line).as<word>(), slots};
}

/// Returns the place of a ring from one core to another, at the same offset of both memories: each
/// end waits for a word in its own memory, and the items lie at the consumer.
template <class T, memory_policy Memory>
[[nodiscard]] spsc_place spsc_place_between(const Memory& memory, core_id producer,
                                            core_id consumer, std::size_t offset) {
  static_assert(alignof(T) <= Memory::line_bytes);
  spsc_place where = spsc_place_in<T, Memory>(memory.at(consumer, offset));
  where.published = spsc_place_in<T, Memory>(memory.at(producer, offset)).published;
  return where;
}

namespace detail {

/// State of an end of a ring: its own position, and what it knows of the other end's.
template <class T, ring_memory Memory>
class spsc_end {
 public:
  static_assert(ring_item<T, Memory>,
                "an item must be nothrow destructible, and trivially copyable in a memory that "
                "holds no objects");

  spsc_end(Memory memory, const spsc_place& where, std::size_t capacity)
      : memory_{std::move(memory)}, where_{where}, capacity_{static_cast<word>(capacity)} {
    if (capacity == 0 || capacity > spsc_place::max_capacity) {
      throw usage_error("spsc_ring: the capacity must be between 1 and 2^29, got " +
                        std::to_string(capacity));
    }
  }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

 protected:
  static constexpr word step = spsc_place::step;
  static constexpr word closed_bit = spsc_place::closed_bit;

  [[nodiscard]] mpm_ptr<std::byte> slot(word index) const noexcept {
    return where_.slots + static_cast<std::ptrdiff_t>(index * sizeof(T));
  }
  [[nodiscard]] T* object(word index) const noexcept {
    return reinterpret_cast<T*>(slot(index).address());
  }
  void advance() noexcept {
    next_ += step;
    if (++index_ == capacity_) index_ = 0;
  }
  [[nodiscard]] static mpm_ptr<word> reason_behind(mpm_ptr<word> position) noexcept {
    return position + 1;
  }

  [[no_unique_address]] Memory memory_;
  spsc_place where_;
  word capacity_;
  word index_ = 0;  ///< slot of the next item
  word next_ = 0;   ///< own position
  word known_ = 0;  ///< the other end's position, as far as is known
};

}  // namespace detail

/// The end that adds items. Used by one thread at a time. It does not own the memory.
template <class T, ring_memory Memory = process_memory>
class spsc_producer : detail::spsc_end<T, Memory> {
  using end = detail::spsc_end<T, Memory>;

 public:
  using end::capacity;
  using end::end;

  /// Constructs an item in the ring and publishes it; returns false if the ring is full. If the
  /// constructor throws, the ring is as before.
  template <class... Arguments>
  [[nodiscard]] bool try_emplace(Arguments&&... arguments) {
    if (known_room() == 0 && look_for_room() == 0) return false;
    construct(std::forward<Arguments>(arguments)...);
    this->advance();
    publish();
    return true;
  }

  /// Adds up to `count` items from `first` on, as many as there is room for, and publishes them
  /// together; returns how many. If a constructor throws, the items before it are added.
  template <std::input_iterator Iterator>
  [[nodiscard]] std::size_t try_push(Iterator first, std::size_t count) {
    word room = known_room();
    if (room < count) room = std::max(room, look_for_room());
    const auto pushed = static_cast<word>(std::min<std::size_t>(room, count));
    if (pushed == 0) return 0;
    const end_of_batch ending{*this, this->next_};
    for (word i = 0; i < pushed; ++i, ++first) {
      construct(*first);
      this->advance();
    }
    if constexpr (!object_memory<Memory>) publish();
    return pushed;
  }

  /// Calls f(const T&) for the last `count` items that were added, which the consumer has not
  /// taken.
  template <class F>
  void visit_last(std::size_t count, F&& f) const requires object_memory<Memory> {
    for (std::size_t i = this->capacity_ - count; i < this->capacity_; ++i)
      f(std::as_const(*std::launder(this->object((this->index_ + i) % this->capacity_))));
  }

  /// Returns the number of free slots, or fewer, but 0 only if the ring was full during the call.
  [[nodiscard]] std::size_t room() {
    const word known = known_room();
    return known != 0 ? known : look_for_room();
  }
  /// Returns true if the consumer has published free slots: cheaper to ask again and again than
  /// try_emplace(), as the consumer writes this word by quarters only.
  [[nodiscard]] bool room_is_published() {
    return (this->next_ - position_of_consumer()) / end::step < this->capacity_;
  }

  /// Says that no more items follow, and why: a number that the consumer reads. Once.
  void close(word reason = 0) {
    this->memory_.store(end::reason_behind(this->where_.written), reason);
    closed_ = end::closed_bit;
    publish();
  }
  /// Returns the consumer's reason if it has closed the ring. The producer looks at this only when
  /// it calls this.
  [[nodiscard]] std::optional<word> closed_by_consumer() {
    if ((this->memory_.load(this->where_.published) & end::closed_bit) == 0) return std::nullopt;
    return this->memory_.load(end::reason_behind(this->where_.published));
  }

  /// Waits until there is room; returns false if the consumer has closed the ring. A consumer that
  /// stops to take items must have called publish().
  [[nodiscard]] bool wait_for_room() requires memory_policy<Memory> {
    if (room() != 0) return true;
    // The published position may be older than the exact one that was seen.
    const word full = this->next_ - this->capacity_ * end::step;
    const word seen = this->memory_.wait_until(this->where_.published, [full](word now) {
      return now - full - 1 < std::numeric_limits<word>::max() / 2;
    });
    if ((seen & end::closed_bit) != 0) return false;
    this->known_ = seen;
    return true;
  }

 private:
  /// Publishes a batch, also if a constructor throws. A memory of bytes is a protocol's explorer or
  /// may abort its waits: there nothing is done while an exception passes, and the items before it
  /// are published with the next ones.
  struct end_of_batch {
    spsc_producer& of;
    word before;
    ~end_of_batch() {
      if constexpr (object_memory<Memory>) {
        if (of.next_ != before) of.publish();
      }
    }
  };

  [[nodiscard]] word known_room() const noexcept {
    return this->capacity_ - (this->next_ - this->known_) / end::step;
  }
  [[nodiscard]] word position_of_consumer() {
    return this->memory_.load(this->where_.published) & ~end::closed_bit;
  }
  /// The exact position costs the consumer a miss at its next store.
  [[nodiscard, gnu::noinline]] word look_for_room() {
    const word published = position_of_consumer();
    // The known position may be newer.
    if (this->next_ - published < this->next_ - this->known_) this->known_ = published;
    if (known_room() == 0) this->known_ = this->memory_.load(this->where_.taken);
    return known_room();
  }
  template <class... Arguments>
  void construct(Arguments&&... arguments) {
    if constexpr (object_memory<Memory>) {
      std::construct_at(this->object(this->index_), std::forward<Arguments>(arguments)...);
    } else {
      const T item(std::forward<Arguments>(arguments)...);
      this->memory_.write(this->slot(this->index_), std::addressof(item), sizeof item);
    }
  }
  void publish() {
    this->memory_.flush();
    this->memory_.signal(this->where_.written, this->next_ | closed_);
  }

  word closed_ = 0;
};

/// The end that takes items. Used by one thread at a time. It does not own the memory.
template <class T, ring_memory Memory = process_memory>
class spsc_consumer : detail::spsc_end<T, Memory> {
  using end = detail::spsc_end<T, Memory>;

 public:
  spsc_consumer(Memory memory, const spsc_place& where, std::size_t capacity)
      : end(std::move(memory), where, capacity),
        quarter_{std::max(this->capacity_ / 4, word{1}) * end::step} {}
  using end::capacity;

  /// Calls f(T&&) for up to `limit` items, in order, where they lie, and destroys each of them;
  /// returns how many. If f throws, the item that it was called for stays the next one. `f` must
  /// not use this end.
  template <std::invocable<T&&> F>
  std::size_t consume(F&& f, std::size_t limit = std::numeric_limits<std::size_t>::max()) {
    word there = (this->known_ - this->next_) / end::step;
    if (there == 0 || (there < limit && limit != 1)) {
      if (!look_for_items()) return 0;
      there = (this->known_ - this->next_) / end::step;
    }
    const auto count = static_cast<word>(std::min<std::size_t>(there, limit));
    const end_of_batch ending{*this, this->next_};
    for (word i = 0; i < count; ++i) {
      call(f);
      this->advance();
      if (this->next_ - published_ >= quarter_) publish();
    }
    if constexpr (!object_memory<Memory>) this->memory_.store(this->where_.taken, this->next_);
    return count;
  }
  /// Takes the next item, or returns nothing if the ring is empty.
  [[nodiscard]] std::optional<T> try_pop() requires std::move_constructible<T> {
    std::optional<T> item;
    consume([&](T&& next) { item.emplace(std::move(next)); }, 1);
    return item;
  }

  /// Returns true if there is no item.
  [[nodiscard]] bool empty() { return this->known_ == this->next_ && !look_for_items(); }
  /// Returns the producer's reason if it has closed the ring and all items were taken.
  [[nodiscard]] std::optional<word> closed_by_producer() {
    if (!empty() || !closed_) return std::nullopt;
    return this->memory_.load(end::reason_behind(this->where_.written));
  }
  /// Lets the producer know of all free slots: before this end stops to take items for a while.
  void publish() {
    published_ = this->next_;
    this->memory_.store(this->where_.taken, this->next_);
    this->memory_.signal(this->where_.published, published_ | closed_bit_of_own_);
  }
  /// Says that this end takes no more items, and why. Once.
  void close(word reason = 0) {
    this->memory_.store(end::reason_behind(this->where_.published), reason);
    closed_bit_of_own_ = end::closed_bit;
    publish();
  }

  /// Waits until there is an item; returns false if the producer has closed the ring.
  [[nodiscard]] bool wait_for_item() requires memory_policy<Memory> {
    if (!empty()) return true;
    if (closed_) return false;
    if (published_ != this->next_) publish();
    this->memory_.wait_until(this->where_.written,
                             [known = this->known_](word now) { return now != known; });
    return !empty();
  }

 private:
  struct end_of_batch {  // as the producer's
    spsc_consumer& of;
    word before;
    ~end_of_batch() {
      if constexpr (object_memory<Memory>) {
        if (of.next_ != before) of.memory_.store(of.where_.taken, of.next_);
      }
    }
  };

  [[nodiscard]] bool look_for_items() {
    const word seen = this->memory_.load(this->where_.written);
    this->known_ = seen & ~end::closed_bit;
    closed_ = (seen & end::closed_bit) != 0;
    if (this->known_ == this->next_) return false;
    this->memory_.invalidate();
    return true;
  }
  template <class F>
  void call(F& f) {
    if constexpr (object_memory<Memory>) {
      T* const item = std::launder(this->object(this->index_));
      f(std::move(*item));
      std::destroy_at(item);
    } else {
      alignas(T) std::byte bytes[sizeof(T)];
      this->memory_.read(bytes, this->slot(this->index_), sizeof(T));
      f(std::move(*std::launder(reinterpret_cast<T*>(bytes))));
    }
  }

  word quarter_;
  word published_ = 0;
  word closed_bit_of_own_ = 0;
  bool closed_ = false;  ///< the producer has closed the ring
};

}  // namespace creek
