// SPDX-License-Identifier: Apache-2.0
// The memory policy: what a protocol may ask of the memory that cores share. Locks, barriers,
// messages and deques are written against this and against nothing else, and so run unchanged on
// coherent host memory, on a backend without coherent caches, and under the explorer of
// tests/model.
//
// The rules a protocol lives by, whatever the policy:
//  - A *word* (1, 2 or 4 bytes) is read and written in one step, past every cache. A core's own
//    word accesses take effect in program order, except that a load may overtake an earlier store
//    to another word.
//    No protocol here counts on that order (one that needs it takes a lock).
//  - A *block* goes line by line through the core's private cache and its write-combine buffer.
//    Bytes that were read once may be read again, stale, until `invalidate()`.
//    Bytes that were written may stay unseen by every core, the writer included, until
//    `flush()`.
//  - After a block write, `flush()` and a word store, a core that loads the new word and then calls
//    `invalidate()` reads the new block.
//  - Words and blocks do not share a line, unless the reader invalidates before each word load.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include <creek/core/core_id.hpp>
#include <creek/core/mpm_ptr.hpp>
#include <creek/core/units.hpp>
#include <creek/core/work.hpp>

namespace creek {

/// A type that shared memory moves in one step: an unsigned integer of 1, 2 or 4 bytes.
template <class T>
concept memory_word = std::unsigned_integral<T> && sizeof(T) <= 4 && !std::same_as<T, bool>;

/// The word protocols use for flags, tickets and positions.
using word = std::uint32_t;

/// One of the atomic counters that cores share: 0 .. counters() - 1.
struct counter_id {
  int value = 0;
};

namespace detail {
/// A stand-in predicate for stating that waits take any `bool(word)`.
struct word_predicate {
  bool operator()(word) const noexcept;
};
/// A stand-in for the progress function of `wait_poll`.
struct poll_function {
  bool operator()() const;
};
}  // namespace detail

/// Requirements on a memory policy. A policy object is one core's view: it knows which core it
/// is, and is used by that core only. Cheap to copy.
template <class M>
concept memory_policy = std::copyable<M> &&
    requires(M& m, const M& view, core_id core, std::size_t size, mpm_ptr<std::byte> block,
             mpm_ptr<const std::byte> source, void* to, const void* from, mpm_ptr<word> flag,
             mpm_ptr<std::uint8_t> byte, std::uint8_t* bytes, word value, counter_id counter,
             cycles cost, work kind, std::int64_t number) {
  // Bytes of a line: the unit of caching, of write combining and of allocation.
  { M::line_bytes } -> std::convertible_to<std::size_t>;
  // True if a pointer of one core means the same to all others, so that objects can be moved from
  // core to core and large messages copied once, past the message-passing memory.
  { M::shares_addresses } -> std::convertible_to<bool>;

  // Return the calling core, and the number of cores.
  { view.self() } -> std::same_as<core_id>;
  { view.cores() } -> std::same_as<int>;
  // Return the bytes of message-passing memory per core, and the address at an offset in `core`'s.
  { view.mpm_bytes() } -> std::same_as<std::size_t>;
  { view.at(core, size) } -> std::same_as<mpm_ptr<std::byte>>;

  // Read and write a word in any core's memory. What was stored (and flushed) before a store is
  // visible to a core that loads the stored value.
  { m.load(flag) } -> std::same_as<word>;
  { m.load(byte) } -> std::same_as<std::uint8_t>;
  // Reads words that lie side by side, a line at a time: each as a load would have seen it at some
  // time during the call. Invalidates first.
  { m.load_row(bytes, byte, size) } -> std::same_as<void>;
  { m.store(flag, value) } -> std::same_as<void>;
  // Like store, for a word that another core may wait for with wait_until or wait_poll: a policy
  // whose waits sleep wakes them here, so that plain stores need not ask.
  { m.signal(flag, value) } -> std::same_as<void>;

  // Read a block through the private cache, and write one through the write-combine buffer.
  { m.read(to, source, size) } -> std::same_as<void>;
  { m.write(block, from, size) } -> std::same_as<void>;
  // Forgets all cached copies. Before reading a block that others write.
  { m.invalidate() } -> std::same_as<void>;
  // Sends what the write-combine buffer holds. Before announcing a block.
  { m.flush() } -> std::same_as<void>;

  // Takes the test-and-set register of a core; returns true if it was free and now is the caller's.
  { m.test_and_set(core) } -> std::same_as<bool>;
  { m.clear(core) } -> std::same_as<void>;
  // Atomic counters: how many; add one, returning the old value (wraps at 2^32); a plain write.
  { view.counters() } -> std::same_as<int>;
  { m.fetch_increment(counter) } -> std::same_as<word>;
  { m.set_counter(counter, value) } -> std::same_as<void>;

  // Waits until the word satisfies the predicate; returns the word that did. Sees every value that
  // stays; may miss one that is soon replaced. Invalidates as needed. Throws `creek::error` when
  // the run has been aborted, as the next two may.
  { m.wait_until(flag, detail::word_predicate{}) } -> std::same_as<word>;
  // Calls the function again and again until it returns true. Only a signal to a word in this
  // core's own message-passing memory may make it true, as the policy may sleep until there is one.
  { m.wait_poll(detail::poll_function{}) } -> std::same_as<void>;
  // Waits for about that time between two tries for something that another core will change.
  { m.pause(cost) } -> std::same_as<void>;
  // States work done by a protocol: nothing on a host, time where work is given a cost.
  { m.charge(kind, number) } -> std::same_as<void>;
};

/// A memory that can also swap words atomically, which a machine with test-and-set registers alone
/// cannot.
template <class M>
concept swapping_memory = memory_policy<M> && requires(M& m, mpm_ptr<word> p, word w) {
  { m.exchange(p, w) } -> std::same_as<word>;
  { m.compare_exchange(p, w, w) } -> std::same_as<bool>;
};

/// Returns `bytes` rounded up to whole lines of the memory.
template <memory_policy M>
[[nodiscard]] constexpr std::size_t whole_lines(std::size_t bytes) noexcept {
  return (bytes + M::line_bytes - 1) / M::line_bytes * M::line_bytes;
}

}  // namespace creek
