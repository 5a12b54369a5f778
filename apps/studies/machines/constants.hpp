// SPDX-License-Identifier: Apache-2.0
// Constants of the model of many machines: the network, and the rates at which one rank computes.
// Each is measured by a command of the project or taken from a source; none is fitted to what the
// model predicts. docs/machines.md has the commands.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace creek::tool::machines {

struct constants {
  // --- Messages
  double latency_us = 0;     ///< half a round trip of one byte
  double overhead_us = 0;    ///< processor time of a rank per message that it sends or receives
  double gap_us = 0;         ///< time between two messages that a rank sends, or that it gets
  double bandwidth_GBs = 0;  ///< of one rank, in each direction
  double eager_KiB = 0;      ///< a longer message waits until its receive was posted
  double spin_us = 200;      ///< a wait polls so long, then sleeps (creek/mpi/process.hpp)
  // --- Rates of one worker, by `creek bench machines --rates` on the machine of docs/machines.md.
  // Word count:
  double map_ns_per_byte = 1.65;
  double table_ns_per_pair = 71;   ///< a new word into the table; half of these words into messages
  double group_ns_per_pair = 40;   ///< a pair from another rank into the table
  double reduce_ns_per_pair = 23;  ///< a word of the table after that, for the ten most frequent
  double put_ns_per_pair = 247;    ///< a pair of a whole result: sorted, and into a message
  double merge_ns_per_pair = 197;  ///< the same at rank 0: out of the message, and merged
  double word_bytes = 8;           ///< with its separator
  double pair_bytes = 19;          ///< length, 7 letters, count: creek/mapreduce/wire.hpp
  double vocabulary = 1e6;         ///< different words that the text is drawn from
  // LU, blocks of 64. A rank whose part of the matrix is larger than its cache reads and writes it
  // in memory in each step:
  double cache_MiB = 2;           ///< second level
  double gemm_GFs = 46;           ///< update by a panel
  double cached_gemm_GFs = 68.6;  ///< the same in the cache
  double rows_GBs = 0.79;         ///< rows of the matrix that are exchanged
  double cached_rows_GBs = 2.6;   ///< the same in the cache
  double copy_GBs = 43;           ///< consecutive rows, and messages
  double panel_GFs = 40.8;        ///< panel of one row of ranks
  double split_panel_GFs = 13.8;  ///< panel of several rows of ranks
  // Tree search with stealing:
  double node_ns = 7.8;
  double poll_us = 30;  ///< between two looks for messages, as in tasking/src/movable_pool.cpp
};

/// Name, unit and meaning of each member, for --set and for the head of the output.
struct constant {
  std::string_view name;
  double constants::*member;
  std::string_view meaning;
  double min, max;  ///< allowed values
  /// Returns whether it is a rate of computation, which measured_rates() measures.
  [[nodiscard]] bool is_a_rate() const {
    return name.find("_ns") != name.npos || name.find("_GFs") != name.npos ||
           (name.find("_GBs") != name.npos && name != "bandwidth_GBs");
  }
};
[[nodiscard]] std::span<const constant> all_constants();

/// Returns the constants with the network of that name; throws usage_error for another name.
[[nodiscard]] constants with_network(std::string_view name);
/// Sets "name=value"; throws usage_error that lists the names, or says what values are allowed.
void set_constant(constants& in, const std::string& assignment);

}  // namespace creek::tool::machines
