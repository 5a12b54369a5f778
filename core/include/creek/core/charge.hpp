// SPDX-License-Identifier: Apache-2.0
// Cost of computation where time is simulated. Programs and creek's own kernels state the work that
// they have done. On a simulated core its clock advances by what that work takes there; everywhere
// else a statement costs one predicted branch and does nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <creek/core/units.hpp>

namespace creek {

/// Receives the statements of one thread; installed by a backend that simulates time.
class charge_sink {
 public:
  /// Advances the clock of the core that runs on the calling thread by `length` cycles.
  virtual void charge(cycles length) noexcept = 0;
  /// Charges that core for reading or writing `bytes` of memory that all cores share. `block`
  /// numbers its pieces from 0: neighbouring ones may lie at different controllers.
  virtual void move_block(std::uint64_t /*block*/, std::size_t /*bytes*/,
                          bool /*written*/) noexcept {}

 protected:
  ~charge_sink() = default;
};

namespace detail {

inline constinit thread_local charge_sink* charged_to = nullptr;

}  // namespace detail

/// Charges the caller for `length` cycles of its core's clock spent computing.
inline void charge(cycles length) noexcept {
  if (charge_sink* sink = detail::charged_to) [[unlikely]] {
    sink->charge(length);
  }
}

/// Charges the caller for reading, or writing, `bytes` of a block where cores lack coherent caches
/// and the block lies in memory that they share: see charge_sink::move_block().
inline void charge_shared_read(std::uint64_t block, std::size_t bytes) noexcept {
  if (charge_sink* sink = detail::charged_to) [[unlikely]] {
    sink->move_block(block, bytes, false);
  }
}
inline void charge_shared_write(std::uint64_t block, std::size_t bytes) noexcept {
  if (charge_sink* sink = detail::charged_to) [[unlikely]] {
    sink->move_block(block, bytes, true);
  }
}

/// Units of work that creek's kernels count.
enum class work : std::uint8_t {
  byte_scanned,     ///< of text, looked at for borders
  byte_copied,      ///< memory to memory, both in L1
  byte_hashed,      ///< djb2: h * 33 + c
  pair_emitted,     ///< into a contiguous buffer, without the bytes of its key
  table_probe,      ///< of a hash table, found at once or not
  digit_sorted,     ///< one pointer through one pass of a radix sort
  comparison,       ///< of two keys, with the branch that follows
  value_reduced,    ///< an integer addition with its load and store
  element_visited,  ///< loop overhead per element: load, index, branch
  flop,             ///< double precision, in a blocked kernel
  count             ///< number of kinds
};

/// Cost per kind in thousandths of a cycle of an in-order Pentium core (P54C), which retires up
/// to two simple instructions per cycle. All are estimates, counted from the inner loops as g++ -O2
/// -m32 compiles them, with memory in L1: one cycle for two instructions that can be issued at once
/// and one more for a branch that is mispredicted half of the time. `flop`: a multiplication and an
/// addition take 3 cycles each and overlap to one result every two cycles [Intel 241430], in a
/// kernel that keeps a block of registers.
inline constexpr std::array<std::int64_t, static_cast<std::size_t>(work::count)> work_costs{
    3'000,   // byte_scanned: load, table look-up, test, branch
    500,     // byte_copied: 4 bytes by load and store, two cycles
    2'500,   // byte_hashed: load, shift, two additions, loop
    12'000,  // pair_emitted: bounds test, three stores, two pointer steps
    30'000,  // table_probe: mask, load, compare, mispredicted branch, compare of the key
    14'000,  // digit_sorted: load pointer, load digit, load count, store, increment
    10'000,  // comparison: two loads, compare, mispredicted branch
    4'000,   // value_reduced
    3'000,   // element_visited
    2'000,   // flop
};

/// Returns the cost of `number` units of work, rounded up to whole cycles.
constexpr cycles cost_of(work kind, std::int64_t number) noexcept {
  return {(work_costs[static_cast<std::size_t>(kind)] * number + 999) / 1000};
}

/// States that the caller has done `number` units of work. Kernels call it per piece, not element.
inline void charge(work kind, std::int64_t number) noexcept {
  if (charge_sink* sink = detail::charged_to) [[unlikely]] {
    sink->charge(cost_of(kind, number));
  }
}

}  // namespace creek
