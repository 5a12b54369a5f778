// SPDX-License-Identifier: Apache-2.0
// Table of the last writer of each block and of its readers since then: the dependences of the next
// task follow from it. Used by the enqueuing thread only.
#pragma once

#include <creek/linalg/task_graph.hpp>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "block_uses.hpp"
#include "region_table.hpp"

namespace creek::linalg::detail {

/// A function's `live` argument tells whether a task may still be unfinished; other tasks are
/// forgotten, so the memory is bounded by the unfinished tasks, not by the number of blocks. Blocks
/// are told apart by their addresses, until an operand has an extent: from then on they are
/// regions.
template <class Node>
class block_table {
 public:
  struct entry : block_uses<Node> {
    bool used = false;
    const void* block = nullptr;
  };

  block_table() : slots_(first_size) {}

  /// Finds the entries of the operands, see entries(), and reserves room for enter(). Throws
  /// std::bad_alloc, after which the contents of the table are unchanged.
  template <class Live>
  void look_up(std::span<const operand> operands, Live live) {
    if (regions_ != nullptr || names_extent(operands)) [[unlikely]] {
      look_up_regions(operands, live);
      return;
    }
    if (2 * (used_ + operands.size()) > slots_.size()) rebuild(operands.size(), live);
    if (!readers_.has_room(operands.size())) {
      readers_.make_room(operands.size(), slots_.size(), [&] {
        for (entry& each : slots_) readers_.prune(each, live);
      });
    }
    found_.reserve(operands.size());
    found_.clear();
    // Large tables exceed the cache: prefetch all slots, so that the misses overlap.
    for (const operand& each : operands) __builtin_prefetch(&slots_[home_of(each.block)], 1);
    for (const operand& each : operands) found_.push_back(&slot_of(each.block));
  }
  /// Returns the entries found by the latest look_up(), one per operand; none if there are regions.
  std::span<entry* const> entries() const noexcept { return found_; }
  /// Returns the maximum number of edges that enter() reports.
  std::size_t max_edges() const noexcept {
    if (regions_ != nullptr) return regions_->max_edges();
    std::size_t edges = 0;
    for (const entry* each : found_) edges += 1 + each->readers_count;
    return edges;
  }
  /// Enters `self` as reader and writer of the operands of the latest look_up(). Calls edge(Node,
  /// dependence, bool affine) for each task that `self` depends on, possibly several times per
  /// task; `affine` marks the writer of a block that `self` changes.
  template <class Live, class Edge>
  void enter(Node self, std::span<const operand> operands, Live live, Edge edge) noexcept {
    if (regions_ != nullptr) [[unlikely]] {
      regions_->enter(self, operands, live, edge);
      return;
    }
    for (std::size_t i = 0; i < operands.size(); ++i) {
      entry& at = *found_[i];
      const access how = operands[i].how;
      if (reads(how) && at.writer != Node{} && at.writer != self) {
        edge(at.writer, dependence::flow, writes(how));
      }
      if (writes(how)) {
        become_writer(at, self, reads(how), edge);
      } else if (at.writer != self) {
        readers_.become_reader(at, self, live);
      }
    }
  }
  /// Returns whether the operands of the latest look_up() read what a dropped task, or one that
  /// `has_failed`, should have written.
  template <class HasFailed>
  bool reads_spoilt(std::span<const operand> operands, HasFailed has_failed) const {
    if (regions_ != nullptr) return regions_->reads_spoilt(operands, has_failed);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (!reads(operands[i].how)) continue;
      if (found_[i]->spoilt || has_failed(found_[i]->writer)) return true;
    }
    return false;
  }
  /// Marks the blocks that the task of age `age` would have written: it is dropped.
  void spoil(std::span<const operand> operands, std::uint64_t age) noexcept {
    if (regions_ != nullptr) return regions_->spoil(operands, age);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (writes(operands[i].how)) found_[i]->spoilt = true;
    }
  }

  void clear() noexcept {
    if (regions_ != nullptr) {
      peak_region_bytes_ = std::max(peak_region_bytes_, regions_->peak_bytes());
      regions_->clear();
      regions_.reset();
    }
    for (entry& each : slots_) {
      if (!each.used) continue;
      readers_.forget(each);
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
      if (&slots_[find(each.block)] != &each || !reader_lists<Node>::verify(each)) {
        return false;
      }
    }
    return used == used_ && 2 * used <= slots_.size();
  }
  std::size_t peak_bytes() const noexcept {
    return peak_slots_ * sizeof(entry) + readers_.bytes() +
           std::max(peak_region_bytes_, regions_ != nullptr ? regions_->peak_bytes() : 0);
  }

 private:
  static constexpr std::size_t first_size = 64;
  // Below (1.5 MB), forgetting costs more than it saves.
  static constexpr std::size_t enough_slots = 32768;

  static bool names_extent(std::span<const operand> operands) noexcept {
    for (const operand& each : operands) {
      if (each.extent.columns != 0) return true;
    }
    return false;
  }
  template <class Live>
  [[gnu::noinline]] void look_up_regions(std::span<const operand> operands, Live& live) {
    if (regions_ == nullptr) make_regions();
    regions_->look_up(operands, live);
  }
  void make_regions() {
    auto regions = std::make_unique<region_table<Node>>(readers_);
    for (const entry& each : slots_) {
      if (each.used) regions->make(each.block);
    }
    for (entry& each : slots_) {
      if (!each.used) continue;
      regions->adopt(each.block, each);
      each = entry{};
    }
    used_ = 0;
    found_.clear();
    regions_ = std::move(regions);
  }

  template <class Edge>
  void become_writer(entry& at, Node self, bool has_read, Edge& edge) noexcept {
    // Each reader already waits for the earlier writer: with readers, no output edge is needed.
    if (at.readers == nullptr && !has_read && at.writer != Node{} && at.writer != self) {
      edge(at.writer, dependence::output, true);
    }
    for (const auto* each = at.readers; each != nullptr; each = each->next) {
      if (each->task != self) edge(each->task, dependence::anti, false);
    }
    readers_.become_writer(at, self);
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
      readers_.prune(each, live);
      kept += readers_.is_needed(each, live) ? 1 : 0;
    }
    // At most a quarter full, so the next rebuild is that many new blocks away.
    std::vector<entry> old(std::bit_ceil(std::max(first_size, 4 * (kept + more))));
    peak_slots_ = std::max(peak_slots_, old.size());
    slots_.swap(old);
    used_ = 0;
    for (const entry& each : old) {
      if (each.used && (!forgets || readers_.is_needed(each, live))) slot_of(each.block) = each;
    }
    assert(verify());
  }

  std::vector<entry> slots_;  ///< open addressing; the size is a power of two
  std::size_t used_ = 0;
  std::size_t peak_slots_ = first_size;
  reader_lists<Node> readers_;
  std::unique_ptr<region_table<Node>> regions_;
  std::size_t peak_region_bytes_ = 0;  ///< of former regions_
  std::vector<entry*> found_;
};

}  // namespace creek::linalg::detail
