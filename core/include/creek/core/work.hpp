// SPDX-License-Identifier: Apache-2.0
// Kinds of work that creek's code counts, for an observer that counts, traces or prices them.
#pragma once

#include <cstdint>

#include <creek/core/language.hpp>

namespace creek {

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
  flags_tested,     ///< four bytes that flag messages, looked at together
  task_recorded,    ///< a record of a task graph filled, and its body moved there
  operand_found,    ///< of a recorded task: the block's table probed, its readers looked at
  edge_found,       ///< between a recorded task and one that it waits for
  task_queued,      ///< a ready task put into a shared queue, or taken out
  edge_changed,     ///< in lists that workers share: linked, or its successor told of an end
  count             ///< number of kinds
};

/// A number of units of one kind.
struct work_amount {
  work kind;
  std::int64_t number = 1;
};

}  // namespace creek
