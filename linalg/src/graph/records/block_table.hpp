// SPDX-License-Identifier: Apache-2.0
// Table of the last writer of each block and of its readers since then: the dependences of the next
// task follow from it. Used by the enqueuing thread only.
#pragma once

#include <creek/linalg/task_graph.hpp>

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "recycling_pool.hpp"

namespace creek::linalg::detail {

enum class dependence : std::uint8_t {
  flow,    ///< the later task reads what the earlier one writes
  anti,    ///< ... writes what the earlier one reads
  output,  ///< ... writes what the earlier one writes
};

constexpr bool reads(access how) noexcept {
  return how != access::out;
}
constexpr bool writes(access how) noexcept {
  return how != access::in;
}

/// `Node` identifies a task: cheap to copy, comparable; `Node{}` is no task. A function's `live`
/// argument tells whether a task may still be unfinished; other tasks are forgotten, so the memory
/// is bounded by the unfinished tasks, not by the number of blocks.
template <class Node>
class block_table {
  struct reader {
    Node task;
    reader* next;
  };

 public:
  struct entry {
    const void* block = nullptr;
    Node writer{};
    /// The writer was dropped before it became a task: the block holds no valid result.
    bool spoilt = false;
    bool used = false;
    std::uint32_t readers_count = 0;
    reader* readers = nullptr;  ///< since the last writer, newest first
    std::uint32_t prune_at = first_prune;
  };

  block_table() : slots_(first_size) {}

  /// Finds the entries of the operands, see entries(), and reserves room for enter(). Throws
  /// std::bad_alloc, after which the contents of the table are unchanged.
  template <class Live>
  void look_up(std::span<const operand> operands, Live live) {
    if (2 * (used_ + operands.size()) > slots_.size()) rebuild(operands.size(), live);
    if (readers_.available() < operands.size()) make_reader_room(operands.size(), live);
    found_.reserve(operands.size());
    found_.clear();
    // Large tables exceed the cache: prefetch all slots, so that the misses overlap.
    for (const operand& each : operands) __builtin_prefetch(&slots_[home_of(each.block)], 1);
    for (const operand& each : operands) found_.push_back(&slot_of(each.block));
  }
  /// Returns the entries found by the latest look_up(), one per operand.
  std::span<entry* const> entries() const noexcept { return found_; }
  /// Returns the maximum number of edges that enter() reports.
  std::size_t max_edges() const noexcept {
    std::size_t edges = 0;
    for (const entry* each : found_) edges += 1 + each->readers_count;
    return edges;
  }
  /// Enters `self` as reader and writer of the operands of the latest look_up(). Calls edge(Node,
  /// dependence, bool affine) for each task that `self` depends on, possibly several times per
  /// task; `affine` marks the writer of a block that `self` changes.
  template <class Live, class Edge>
  void enter(Node self, std::span<const operand> operands, Live live, Edge edge) noexcept {
    for (std::size_t i = 0; i < operands.size(); ++i) {
      entry& at = *found_[i];
      const access how = operands[i].how;
      if (reads(how) && at.writer != Node{} && at.writer != self) {
        edge(at.writer, dependence::flow, writes(how));
      }
      if (writes(how)) {
        become_writer(at, self, reads(how), edge);
      } else if (at.writer != self) {
        become_reader(at, self, live);
      }
    }
  }

  void clear() noexcept {
    for (entry& each : slots_) {
      if (!each.used) continue;
      forget_readers(each);
      each = entry{};
    }
    used_ = 0;
  }
  /// Returns whether every block is found where it is searched for, and the counts of blocks and of
  /// readers are right.
  bool verify() const noexcept {
    std::size_t used = 0;
    for (const entry& each : slots_) {
      if (!each.used) continue;
      ++used;
      if (&slots_[find(each.block)] != &each || count_readers(each) != each.readers_count) {
        return false;
      }
    }
    return used == used_ && 2 * used <= slots_.size();
  }
  std::size_t peak_bytes() const noexcept { return peak_slots_ * sizeof(entry) + readers_.bytes(); }

 private:
  static constexpr std::size_t first_size = 64;
  static constexpr std::uint32_t first_prune = 16;
  // Below these sizes (1.5 MB each), forgetting costs more than it saves.
  static constexpr std::size_t enough_slots = 32768;
  static constexpr std::size_t enough_readers = 65536;

  template <class Edge>
  void become_writer(entry& at, Node self, bool has_read, Edge& edge) noexcept {
    // Each reader already waits for the earlier writer: with readers, no output edge is needed.
    if (at.readers == nullptr && !has_read && at.writer != Node{} && at.writer != self) {
      edge(at.writer, dependence::output, true);
    }
    for (const reader* each = at.readers; each != nullptr; each = each->next) {
      if (each->task != self) edge(each->task, dependence::anti, false);
    }
    forget_readers(at);
    at.prune_at = first_prune;
    at.writer = self;
    at.spoilt = false;
  }

  template <class Live>
  void become_reader(entry& at, Node self, Live& live) noexcept {
    if (at.readers != nullptr && at.readers->task == self) return;
    // For blocks that are only read: keeps the list within twice the unfinished readers.
    if (at.readers_count >= at.prune_at) {
      prune(at, live);
      at.prune_at = 2 * at.readers_count + first_prune;
    }
    reader* added = readers_.take();
    added->task = self;
    added->next = std::exchange(at.readers, added);
    ++at.readers_count;
  }

  template <class Live>
  void prune(entry& at, Live& live) noexcept {
    for (reader** link = &at.readers; *link != nullptr;) {
      reader* each = *link;
      if (live(each->task)) {
        link = &each->next;
        continue;
      }
      *link = each->next;
      readers_.put(each);
      --at.readers_count;
    }
  }

  /// Reclaims the finished readers of blocks that are never written again. Runs when there are as
  /// many readers as slots to scan, and grows if that frees little: so there are at most twice the
  /// unfinished readers, or one per slot, or a megabyte.
  template <class Live>
  void make_reader_room(std::size_t count, Live& live) {
    if (readers_.capacity() >= std::max(slots_.size(), enough_readers)) {
      for (entry& each : slots_) prune(each, live);
    }
    if (readers_.available() < std::max(count, readers_.capacity() / 2)) {
      readers_.reserve(readers_.available() + std::max(count, readers_.capacity() / 2));
    }
  }

  void forget_readers(entry& at) noexcept {
    while (at.readers != nullptr) {
      reader* gone = at.readers;
      at.readers = gone->next;
      readers_.put(gone);
    }
    at.readers_count = 0;
  }

  std::size_t home_of(const void* block) const noexcept {
    // Fibonacci hashing, because block addresses often differ by a power of two.
    const auto bits = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(block));
    return (bits * 0x9E3779B97F4A7C15u) >> (64 - std::countr_zero(slots_.size()));
  }
  /// Returns the index of the block's slot, or of a free one if it has none.
  std::size_t find(const void* block) const noexcept {
    std::size_t at = home_of(block);
    while (slots_[at].used && slots_[at].block != block) at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  static std::uint32_t count_readers(const entry& at) noexcept {
    std::uint32_t count = 0;
    for (const reader* each = at.readers; each != nullptr; each = each->next) ++count;
    return count;
  }
  entry& slot_of(const void* block) noexcept {
    const std::size_t at = find(block);
    if (!slots_[at].used) {
      slots_[at].used = true;
      slots_[at].block = block;
      ++used_;
    }
    return slots_[at];
  }

  /// Drops the blocks that no unfinished task uses, and makes room for `more` new ones.
  template <class Live>
  void rebuild(std::size_t more, Live& live) {
    const bool forgets = slots_.size() >= enough_slots;
    std::size_t kept = forgets ? 0 : used_;
    for (entry& each : slots_) {
      if (!each.used || !forgets) continue;
      prune(each, live);
      kept += is_needed(each, live) ? 1 : 0;
    }
    // At most a quarter full, so the next rebuild is that many new blocks away.
    std::vector<entry> old(std::bit_ceil(std::max(first_size, 4 * (kept + more))));
    peak_slots_ = std::max(peak_slots_, old.size());
    slots_.swap(old);
    used_ = 0;
    for (const entry& each : old) {
      if (each.used && (!forgets || is_needed(each, live))) slot_of(each.block) = each;
    }
    assert(verify());
  }
  template <class Live>
  static bool is_needed(const entry& at, Live& live) noexcept {
    return at.readers != nullptr || at.spoilt || (at.writer != Node{} && live(at.writer));
  }

  std::vector<entry> slots_;  ///< open addressing; the size is a power of two
  std::size_t used_ = 0;
  std::size_t peak_slots_ = first_size;
  recycling_pool<reader, &reader::next> readers_;
  std::vector<entry*> found_;
};

}  // namespace creek::linalg::detail
