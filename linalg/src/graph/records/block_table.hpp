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
    std::size_t extents = 0;
    bool commutes = false;
    for (const operand& each : operands) {
      // Large tables exceed the cache: prefetch all slots, so that the misses overlap.
      __builtin_prefetch(&slots_[home_of(each.block)], 1);
      extents |= each.extent.columns;
      commutes |= each.how == access::commutative;
    }
    commutes_ = commutes;
    if (commutes) [[unlikely]]
      users_.make_room_to_commute(operands.size());
    if (extents != 0 || regions_ != nullptr) [[unlikely]] {
      look_up_regions(operands, live);
      return;
    }
    if (2 * (used_ + operands.size()) > slots_.size()) rebuild(operands.size(), live);
    if (!users_.has_room(operands.size())) {
      users_.make_room(operands.size(), slots_.size(), [&] {
        for (entry& each : slots_) users_.prune(each, live);
      });
    }
    found_.reserve(operands.size());
    found_.clear();
    for (const operand& each : operands) found_.push_back(&slot_of(each.block));
  }
  /// Returns whether one of the operands of the latest look_up() is commutative.
  bool commutes() const noexcept { return commutes_; }
  /// Returns the entries found by the latest look_up(), one per operand; none if there are regions.
  std::span<entry* const> entries() const noexcept { return found_; }
  /// Returns the maximum number of edges that enter() reports.
  std::size_t max_edges() const noexcept {
    if (regions_ != nullptr) return regions_->max_edges();
    std::size_t edges = 0;
    for (const entry* each : found_) edges += users_.max_edges(*each);
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
      users_.find_dependences(at, how, true, [&](Node on, dependence kind, bool affine) {
        if (on != self) edge(on, kind, affine);
      });
      if (how == access::commutative) [[unlikely]] {
        users_.become_commuter(at, self, live);
      } else if (writes(how)) {
        users_.become_writer(at, self);
      } else if (at.writer != self) {
        users_.become_reader(at, self, live);
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
      if (found_[i]->spoilt || users_.any_writer(*found_[i], operands[i].how, true, has_failed)) {
        return true;
      }
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
      users_.forget(each);
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
      if (&slots_[find(each.block)] != &each || !user_lists<Node>::verify(each)) {
        return false;
      }
    }
    return used == used_ && 2 * used <= slots_.size();
  }
  std::size_t peak_bytes() const noexcept {
    return peak_slots_ * sizeof(entry) + users_.bytes() +
           std::max(peak_region_bytes_, regions_ != nullptr ? regions_->peak_bytes() : 0);
  }

 private:
  static constexpr std::size_t first_size = 64;
  // Below (1.5 MB), forgetting costs more than it saves.
  static constexpr std::size_t enough_slots = 32768;

  template <class Live>
  [[gnu::noinline]] void look_up_regions(std::span<const operand> operands, Live& live) {
    if (regions_ == nullptr) make_regions();
    regions_->look_up(operands, live);
  }
  void make_regions() {
    auto regions = std::make_unique<region_table<Node>>(users_);
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
      users_.prune(each, live);
      kept += users_.is_needed(each, live) ? 1 : 0;
    }
    // At most a quarter full, so the next rebuild is that many new blocks away.
    std::vector<entry> old(std::bit_ceil(std::max(first_size, 4 * (kept + more))));
    peak_slots_ = std::max(peak_slots_, old.size());
    slots_.swap(old);
    used_ = 0;
    for (const entry& each : old) {
      if (each.used && (!forgets || users_.is_needed(each, live))) slot_of(each.block) = each;
    }
    assert(verify());
  }

  std::vector<entry> slots_;  ///< open addressing; the size is a power of two
  std::size_t used_ = 0;
  std::size_t peak_slots_ = first_size;
  user_lists<Node> users_;
  std::unique_ptr<region_table<Node>> regions_;
  std::size_t peak_region_bytes_ = 0;  ///< of former regions_
  std::vector<entry*> found_;
  bool commutes_ = false;
};

}  // namespace creek::linalg::detail
