// SPDX-License-Identifier: Apache-2.0
// What the stages of a rank cost where time is simulated: counted work through core's table, and
// the traffic of the rank's private memory where the memory policy has a model of it. On a host a
// statement is one predicted branch or nothing.
#pragma once

#include <creek/core/charge.hpp>
#include <creek/mapreduce/radix_sort.hpp>
#include <cstddef>
#include <cstdint>

namespace creek::mapreduce::detail {

/// A memory policy that knows what private memory costs: `bytes` read or written once, of
/// `working_set` that are used in turn.
template <class Memory>
concept models_private_memory = requires(Memory& m, std::size_t bytes, std::size_t working_set) {
  m.private_read(bytes, working_set);
  m.private_write(bytes, working_set);
};

inline void charge_units(work kind, std::uint64_t number) noexcept {
  charge(kind, static_cast<std::int64_t>(number));
}

/// The statements of one rank.
template <class Memory>
class rank_costs {
 public:
  explicit rank_costs(Memory& memory) noexcept : memory_{&memory} {}

  /// Bytes are read of `working_set` that are used in turn.
  void read(std::size_t bytes, std::size_t working_set) const {
    if constexpr (models_private_memory<Memory>) {
      if (working_set > in_l1) memory_->private_read(bytes, working_set);
    }
  }
  void written(std::size_t bytes, std::size_t working_set) const {
    if constexpr (models_private_memory<Memory>) {
      if (working_set > in_l1) memory_->private_write(bytes, working_set);
    }
  }

  /// Pairs written to the end of a buffer.
  void emitted(std::uint64_t pairs, std::size_t bytes) const {
    charge_units(work::pair_emitted, pairs);
    charge_units(work::byte_copied, bytes);
    written(bytes, bytes);
  }
  /// Bytes gathered from a buffer of `working_set` bytes.
  void copied(std::size_t bytes, std::size_t working_set) const {
    charge_units(work::byte_copied, bytes);
    read(bytes, working_set);
    written(bytes, bytes);
  }
  /// Pairs found in a buffer of `bytes`, and pointers to them, of a word each, sorted by key. A
  /// pass over a digit reads the pointers and the keys, and writes the pointers elsewhere.
  void grouped(std::uint64_t pairs, std::size_t bytes, const sort_effort& effort) const {
    charge_units(work::element_visited, pairs);
    charge_units(work::digit_sorted, effort.digits);
    charge_units(work::comparison, effort.comparisons + pairs);  // and those that find the groups
    read(bytes + effort.digits * 2 * pointer, bytes + 2 * pairs * pointer);
    written(effort.digits * pointer, bytes + 2 * pairs * pointer);
  }
  void reduced(std::uint64_t values, std::size_t bytes) const {
    charge_units(work::value_reduced, values);
    read(bytes, bytes);
  }
  /// Records compared for order.
  void compared(std::uint64_t comparisons, std::size_t bytes_each, std::size_t working_set) const {
    charge_units(work::comparison, comparisons);
    read(comparisons * bytes_each, working_set);
  }

 private:
  static constexpr std::size_t pointer = 4;       // of the simulated core
  static constexpr std::size_t in_l1 = 16 << 10;  // its L1: access to that is part of the work
  Memory* memory_;
};

}  // namespace creek::mapreduce::detail
