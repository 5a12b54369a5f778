// SPDX-License-Identifier: Apache-2.0
// Modelled cost of a rank's stages: counted work through core's table, and the traffic of the
// rank's private memory if the memory policy models it. On a host a charge is one predicted branch
// or nothing.
//
// Traffic is charged for caches that allocate on reads only, so data written to a
// fresh buffer goes to memory and is read from there the first time; after that the cost depends on
// the size of the working set. Access to data in L1 is part of the work.
#pragma once

#include <algorithm>
#include <creek/core/charge.hpp>
#include <creek/mapreduce/engine/radix_sort.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace creek::mapreduce {

namespace detail {

/// Memory policy with a cost model of private memory: for `bytes` read or written once, out of a
/// `working_set` of bytes in use by turns.
template <class Memory>
concept models_private_memory = requires(Memory& m, std::size_t bytes, std::size_t working_set) {
  m.private_read(bytes, working_set);
  m.private_write(bytes, working_set);
};

inline void charge_units(work kind, std::uint64_t number) noexcept {
  charge(kind, static_cast<std::int64_t>(number));
}

}  // namespace detail

/// Charges the work of one rank.
template <class Memory>
class rank_costs {
 public:
  explicit rank_costs(Memory& memory) noexcept : memory_{&memory} {}

  /// Charges reading `bytes` bytes of input once.
  void scanned(std::size_t bytes) const { read(bytes, cold); }

  /// Charges pairs or records appended to a buffer.
  void emitted(std::uint64_t pairs, std::size_t bytes) const {
    detail::charge_units(work::pair_emitted, pairs);
    detail::charge_units(work::byte_copied, bytes);
    written(bytes, cold);
  }

  /// Charges grouping of `pairs` pairs in a buffer of `bytes`: sorting pointers to them by key. A
  /// pass moves pointers to another array and back.
  void grouped(std::uint64_t pairs, std::size_t bytes, const sort_effort& effort) const {
    detail::charge_units(work::element_visited, pairs);
    read(bytes, cold);
    written(pairs * ref_bytes, cold);
    for (std::size_t size = 0; size < effort.counted.size(); ++size) {
      const std::uint64_t counted = effort.counted[size], moved = effort.moved[size];
      const std::size_t in_turn = (std::size_t{2} << size) * ref_bytes;
      detail::charge_units(work::element_visited, counted);
      detail::charge_units(work::digit_sorted, moved);
      read((counted + 2 * moved) * ref_bytes, in_turn);
      written(2 * moved * ref_bytes, in_turn);
    }
    detail::charge_units(work::comparison, effort.comparisons + pairs);  // and to find the groups
  }

  /// Charges values read through sorted pointers, which point to arbitrary lines of the buffer.
  void reduced(std::uint64_t values, std::size_t buffer_bytes) const {
    detail::charge_units(work::value_reduced, values);
    read(values * line_bytes, buffer_bytes);
  }

  /// Charges bytes gathered from a buffer into a message that is sent.
  void sent(std::size_t bytes, std::size_t buffer_bytes) const {
    detail::charge_units(work::byte_copied, bytes);
    read(bytes, buffer_bytes);
    written(bytes, bytes);
    read(bytes, bytes);
  }
  void received(std::size_t bytes) const { written(bytes, cold); }

  /// Charges records sorted by comparisons, by merging halves.
  void sorted(std::size_t records, std::size_t record_bytes, std::uint64_t comparisons) const {
    detail::charge_units(work::comparison, comparisons);
    for (std::size_t part = records; part > 1; part /= 2) {
      read(records * record_bytes, part * record_bytes);
      written(records * record_bytes / 2, part * record_bytes);
    }
  }

  /// Charges a merge of two sequences, written earlier, into a third one.
  void merged(std::size_t records, std::size_t record_bytes, std::uint64_t comparisons) const {
    detail::charge_units(work::comparison, comparisons);
    detail::charge_units(work::byte_copied, records * record_bytes);
    read(records * record_bytes, cold);
    written(records * record_bytes, cold);
  }

 private:
  static constexpr std::size_t cold = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t in_l1 = 16 << 10;  // [Mattson 2010]
  static constexpr std::size_t line_bytes = 32;
  static constexpr std::size_t ref_bytes = 12;  // eight bytes of key and a pointer of 32 bits

  void read(std::size_t bytes, std::size_t working_set) const {
    if constexpr (detail::models_private_memory<Memory>) {
      if (bytes > 0 && working_set > in_l1) memory_->private_read(bytes, working_set);
    }
  }
  void written(std::size_t bytes, std::size_t working_set) const {
    if constexpr (detail::models_private_memory<Memory>) {
      if (bytes > 0 && working_set > in_l1) memory_->private_write(bytes, working_set);
    }
  }

  Memory* memory_;
};

}  // namespace creek::mapreduce
