// SPDX-License-Identifier: Apache-2.0
// Uses of blocks that may overlap: the dependences of the next task follow from them. Used by the
// enqueuing thread only, for graphs that name the extent of a block.
#pragma once

#include <creek/linalg/task_graph.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "block_uses.hpp"
#include "byte_block.hpp"

namespace creek::linalg::detail {

/// Each block, by address and extent, is a region. Invariant: the writer of a region is the last
/// task that wrote all of it, as its own block or within a larger one. So a task that uses the
/// region depends on this writer and on the younger uses of regions that overlap, and on no other
/// task: the writer waited for all older ones.
template <class Node>
class region_table {
 public:
  using uses = block_uses<Node>;
  struct found_use {
    Node task;
    dependence kind;
    bool affine;
  };

  explicit region_table(user_lists<Node>& lists) noexcept : lists_(lists) {}

  /// Finds the regions of the operands, the uses of theirs that the task depends on, and room for
  /// enter(). Throws std::bad_alloc, after which no use has changed.
  template <class Live>
  void look_up(std::span<const operand> operands, Live live) {
    if (regions_.size() + operands.size() > forget_above_) forget(live);
    if (!lists_.has_room(operands.size())) {
      lists_.make_room(operands.size(), regions_.size(), [&] {
        for (auto& [bytes, each] : regions_) lists_.prune(each, live);
      });
    }
    found_.clear();
    edges_.clear();
    for (const operand& each : operands) found_.push_back(&region_of(byte_block::of(each)));
    for (std::size_t i = 0; i < operands.size(); ++i) collect(*found_[i], operands[i].how);
  }
  std::size_t max_edges() const noexcept { return edges_.size(); }

  /// Like block_table::enter().
  template <class Live, class Edge>
  void enter(Node self, std::span<const operand> operands, Live live, Edge edge) noexcept {
    for (const found_use& each : edges_) edge(each.task, each.kind, each.affine);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      region& at = *found_[i];
      if (operands[i].how == access::commutative) {
        lists_.become_commuter(at, self, live);
        continue;
      }
      if (!writes(operands[i].how)) {
        if (at.writer != self) lists_.become_reader(at, self, live);
        continue;
      }
      write(at, self);
      for (const neighbour& each : at.neighbours) {
        if (each.is_inside) write(*each.other, self);
      }
    }
  }

  template <class HasFailed>
  bool reads_spoilt(std::span<const operand> operands, HasFailed has_failed) const {
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const region& at = *found_[i];
      if (!reads(operands[i].how)) continue;
      const std::uint64_t oldest = age_of(at.writer);
      const auto is_spoilt = [&](const region& each, bool joins) {
        return each.spoilt_by > oldest ||
               lists_.any_writer(each, operands[i].how, joins, [&](const Node& writer) {
                 return age_of(writer) >= oldest && has_failed(writer);
               });
      };
      if (is_spoilt(at, true)) return true;
      for (const neighbour& each : at.neighbours) {
        if (is_spoilt(*each.other, false)) return true;
      }
    }
    return false;
  }
  /// The task of age `age` is dropped.
  void spoil(std::span<const operand> operands, std::uint64_t age) noexcept {
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (!writes(operands[i].how)) continue;
      found_[i]->spoilt = true;
      found_[i]->spoilt_by = age;
    }
  }

  /// Makes the region of a block without an extent.
  void make(const void* block) { region_of(byte_block::of({block, access::in})); }
  /// Takes over the uses of a block, before that of any other region: see make().
  void adopt(const void* block, const uses& of) noexcept {
    region& at = regions_.find(byte_block::of({block, access::in}))->second;
    static_cast<uses&>(at) = of;
    if (at.spoilt) at.spoilt_by = age_of(at.writer) + 1;
  }

  void clear() noexcept {
    for (auto& [bytes, each] : regions_) lists_.forget(each);
    regions_.clear();
    for (auto& each : by_span_) each.clear();
  }
  /// Returns whether the lists of neighbours are those that a look at all pairs finds.
  bool verify() const {
    std::size_t listed = 0;
    for (const auto& each : by_span_) listed += each.size();
    if (listed != regions_.size()) return false;
    for (const auto& [bytes, at] : regions_) {
      std::size_t neighbours = 0;
      for (const auto& other : regions_) {
        if (&other.second != &at && overlap(bytes, other.first)) ++neighbours;
      }
      if (neighbours != at.neighbours.size() || !user_lists<Node>::verify(at)) return false;
    }
    return true;
  }
  std::size_t size() const noexcept { return regions_.size(); }
  std::size_t peak_bytes() const noexcept { return peak_bytes_; }

 private:
  struct region;
  struct neighbour {
    region* other;
    bool is_inside;  ///< all of it is in this region
  };
  struct region : uses {
    byte_block bytes;
    std::uint64_t spoilt_by = 0;        ///< age of the dropped task, if it is `spoilt`
    bool is_dropped = false;            ///< used by forget()
    std::vector<neighbour> neighbours;  ///< the regions that overlap this one
  };
  /// Below so many regions, forgetting costs more than it saves.
  static constexpr std::size_t enough = 32768;

  void collect(const region& at, access how) {
    lists_.find_dependences(at, how, true, [&](Node on, dependence kind, bool affine) {
      edges_.push_back({on, kind, affine});
    });
    const std::uint64_t oldest = age_of(at.writer);
    for (const neighbour& each : at.neighbours) {
      lists_.find_dependences(*each.other, how, false, [&](Node on, dependence kind, bool) {
        if (age_of(on) > oldest) edges_.push_back({on, kind, false});
      });
    }
  }
  void write(region& at, Node self) noexcept {
    lists_.become_writer(at, self);
    at.spoilt_by = 0;
  }

  region& region_of(const byte_block& bytes) {
    const auto known = regions_.find(bytes);
    return known != regions_.end() ? known->second : add(bytes);
  }
  /// Class of the regions that are smaller than 2^class bytes, and at least half as large.
  static std::size_t span_class(const byte_block& bytes) noexcept {
    return static_cast<std::size_t>(std::bit_width(bytes.span()));
  }

  region& add(const byte_block& bytes) {
    find_neighbours(bytes);
    for (region* each : overlapping_) {
      std::vector<neighbour>& theirs = each->neighbours;
      if (theirs.size() == theirs.capacity()) theirs.reserve(2 * theirs.size() + 4);
    }
    std::vector<neighbour> neighbours;
    neighbours.reserve(overlapping_.size());
    const auto added = regions_.try_emplace(bytes).first;
    region& at = added->second;
    try {
      by_span_[span_class(bytes)].emplace(bytes.first, &at);
    } catch (...) {
      regions_.erase(added);
      throw;
    }
    at.bytes = bytes;
    at.neighbours = std::move(neighbours);
    for (region* each : overlapping_) {
      at.neighbours.push_back({each, contains(bytes, each->bytes)});
      const bool is_inside = contains(each->bytes, bytes);
      each->neighbours.push_back({&at, is_inside});
      if (is_inside && age_of(each->writer) > age_of(at.writer)) at.writer = each->writer;
    }
    links_ += 2 * overlapping_.size();
    peak_bytes_ = std::max(peak_bytes_, bytes_now());
    return at;
  }
  /// Finds the regions that overlap a new one: those in each class that begin near enough.
  void find_neighbours(const byte_block& bytes) {
    overlapping_.clear();
    for (std::size_t k = 1; k < by_span_.size(); ++k) {
      if (by_span_[k].empty()) continue;
      const std::uint64_t reach = ~std::uint64_t{0} >> (64 - k);
      const std::uint64_t from = bytes.first - std::min(bytes.first, reach);
      for (auto each = by_span_[k].lower_bound(from);
           each != by_span_[k].end() && each->first < bytes.end(); ++each) {
        if (overlap(bytes, each->second->bytes)) overlapping_.push_back(each->second);
      }
    }
  }

  /// Drops the regions that no unfinished task uses.
  template <class Live>
  void forget(Live& live) {
    for (auto& [bytes, each] : regions_) {
      lists_.prune(each, live);
      each.is_dropped = !lists_.is_needed(each, live);
    }
    links_ = 0;
    for (auto& [bytes, each] : regions_) {
      if (each.is_dropped) continue;
      std::erase_if(each.neighbours, [](const neighbour& of) { return of.other->is_dropped; });
      links_ += each.neighbours.size();
    }
    for (auto& spans : by_span_) {
      std::erase_if(spans, [](const auto& each) { return each.second->is_dropped; });
    }
    std::erase_if(regions_, [](const auto& each) { return each.second.is_dropped; });
    forget_above_ = std::max(enough, 2 * regions_.size());
  }

  std::size_t bytes_now() const noexcept {
    constexpr std::size_t links_of_nodes = 8 * sizeof(void*);
    return regions_.size() * (sizeof(byte_block) + sizeof(region) + links_of_nodes) +
           links_ * sizeof(neighbour);
  }

  user_lists<Node>& lists_;
  std::unordered_map<byte_block, region, byte_block_hash> regions_;
  std::array<std::multimap<std::uint64_t, region*>, 65> by_span_;  ///< by class, then by address
  std::size_t forget_above_ = enough;                              ///< regions
  std::size_t links_ = 0;                                          ///< neighbours of all regions
  std::size_t peak_bytes_ = 0;
  std::vector<region*> overlapping_;
  std::vector<region*> found_;
  std::vector<found_use> edges_;
};

}  // namespace creek::linalg::detail
