// SPDX-License-Identifier: Apache-2.0
// Cost of stated work on a simulated core.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <creek/core/units.hpp>
#include <creek/core/work.hpp>

namespace creek::scc_backend {

/// Cost of one unit of work.
struct work_cost {
  std::int64_t thousandths;   ///< of a cycle
  std::int64_t words_shared;  ///< read and written in a turn at shared data, in uncached memory
};

/// Cost per kind on an in-order Pentium core (P54C), which retires up to two simple instructions
/// per cycle. All are estimates, counted from the inner loops as g++ -O2 -m32 compiles them, with
/// memory in L1: one cycle for two instructions that can be issued at once and one more for a
/// branch that is mispredicted half of the time. `flop`: a multiplication and an addition take 3
/// cycles each and overlap to one result every two cycles [Intel 241430], in a kernel that keeps a
/// block of registers. Those of a task graph's records: two cycles per source line.
inline constexpr std::array<work_cost, static_cast<std::size_t>(work::count)> work_costs{{
    {3'000, 0},    // byte_scanned: load, table look-up, test, branch
    {500, 0},      // byte_copied: 4 bytes by load and store, two cycles
    {2'500, 0},    // byte_hashed: load, shift, two additions, loop
    {12'000, 0},   // pair_emitted: bounds test, three stores, two pointer steps
    {30'000, 0},   // table_probe: mask, load, compare, mispredicted branch, compare of the key
    {14'000, 0},   // digit_sorted: load pointer, load digit, load count, store, increment
    {10'000, 0},   // comparison: two loads, compare, mispredicted branch
    {4'000, 0},    // value_reduced
    {3'000, 0},    // element_visited
    {2'000, 0},    // flop
    {3'000, 0},    // flags_tested: load, test, branch
    {120'000, 0},  // task_recorded: filling a record and moving its body
    {60'000, 0},   // operand_found: a hash, a probe, a look at the readers
    {30'000, 0},   // edge_found
    {0, 4},        // task_queued: key, record, its slot in the heap and the one below
    {0, 2},        // edge_changed: successor, its number of predecessors
}};

/// Words of a turn at shared data besides those of its work: how many tasks are unfinished, and how
/// many are ready.
inline constexpr std::int64_t words_per_turn = 2;

constexpr const work_cost& unit_cost(work kind) noexcept {
  return work_costs[static_cast<std::size_t>(kind)];
}

/// Returns the cost of work done together, rounded up to whole cycles.
constexpr cycles cost_of(std::span<const work_amount> done) noexcept {
  std::int64_t thousandths = 0;
  for (const work_amount& each : done)
    thousandths += unit_cost(each.kind).thousandths * each.number;
  return {(thousandths + 999) / 1000};
}
constexpr cycles cost_of(work kind, std::int64_t number) noexcept {
  const work_amount done{kind, number};
  return cost_of({&done, 1});
}

/// Returns how many words a turn at shared data reads and writes.
constexpr std::int64_t words_of_turn(std::span<const work_amount> done) noexcept {
  std::int64_t words = words_per_turn;
  for (const work_amount& each : done) words += unit_cost(each.kind).words_shared * each.number;
  return words;
}

}  // namespace creek::scc_backend
