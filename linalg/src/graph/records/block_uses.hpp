// SPDX-License-Identifier: Apache-2.0
// The last writer of a block and its readers since then. Used by the enqueuing thread only.
#pragma once

#include <creek/linalg/task_graph.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

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

/// `Node` identifies a task: cheap to copy, comparable; `Node{}` is no task. age_of() is 0 for no
/// task and grows in the order of add().
constexpr std::uint64_t age_of(std::integral auto node) noexcept {
  return static_cast<std::uint64_t>(node);
}

template <class Node>
struct block_reader {
  Node task;
  block_reader* next;
};

template <class Node>
struct block_uses {
  static constexpr std::uint32_t first_prune = 16;

  Node writer{};
  block_reader<Node>* readers = nullptr;  ///< since the last writer, newest first
  std::uint32_t readers_count = 0;
  std::uint32_t prune_at = first_prune;
  /// The writer was dropped before it became a task: the block holds no valid result.
  bool spoilt = false;
};

/// The lists of readers of all blocks, with their memory. A function's `live` argument tells
/// whether a task may still be unfinished; other tasks are forgotten.
template <class Node>
class reader_lists {
 public:
  using uses = block_uses<Node>;
  using reader = block_reader<Node>;

  /// Replaces the writer; forgets the readers.
  void become_writer(uses& at, Node self) noexcept {
    forget(at);
    at.prune_at = uses::first_prune;
    at.writer = self;
    at.spoilt = false;
  }

  template <class Live>
  void become_reader(uses& at, Node self, Live& live) noexcept {
    if (at.readers != nullptr && at.readers->task == self) return;
    // For blocks that are only read: keeps the list within twice the unfinished readers.
    if (at.readers_count >= at.prune_at) {
      prune(at, live);
      at.prune_at = 2 * at.readers_count + uses::first_prune;
    }
    reader* added = pool_.take();
    added->task = self;
    added->next = std::exchange(at.readers, added);
    ++at.readers_count;
  }

  template <class Live>
  void prune(uses& at, Live& live) noexcept {
    for (reader** link = &at.readers; *link != nullptr;) {
      reader* each = *link;
      if (live(each->task)) {
        link = &each->next;
        continue;
      }
      *link = each->next;
      pool_.put(each);
      --at.readers_count;
    }
  }

  void forget(uses& at) noexcept {
    while (at.readers != nullptr) {
      reader* gone = at.readers;
      at.readers = gone->next;
      pool_.put(gone);
    }
    at.readers_count = 0;
  }

  /// Returns whether `count` calls of become_reader() do not allocate.
  bool has_room(std::size_t count) const noexcept { return pool_.available() >= count; }
  /// Makes room for `count` readers. Reclaims the finished readers of blocks that are never written
  /// again by `prune_all`, when there are as many readers as `blocks` to scan, and grows if that
  /// frees little: so there are at most twice the unfinished readers, or one per block, or a
  /// megabyte.
  template <class PruneAll>
  void make_room(std::size_t count, std::size_t blocks, PruneAll prune_all) {
    if (pool_.capacity() >= std::max(blocks, enough)) prune_all();
    if (pool_.available() < std::max(count, pool_.capacity() / 2)) {
      pool_.reserve(pool_.available() + std::max(count, pool_.capacity() / 2));
    }
  }

  /// Returns whether a task may depend on what the block holds, or on its uses.
  template <class Live>
  static bool is_needed(const uses& at, Live& live) noexcept {
    return at.readers != nullptr || at.spoilt || (at.writer != Node{} && live(at.writer));
  }
  /// Returns whether the count of the readers is right.
  static bool verify(const uses& at) noexcept {
    std::uint32_t count = 0;
    for (const reader* each = at.readers; each != nullptr; each = each->next) ++count;
    return count == at.readers_count;
  }
  std::size_t bytes() const noexcept { return pool_.bytes(); }

 private:
  static constexpr std::size_t enough =
      65536;  // below (1.5 MB), forgetting costs more than it saves

  recycling_pool<reader, &reader::next> pool_;
};

}  // namespace creek::linalg::detail
