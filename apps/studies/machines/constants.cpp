// SPDX-License-Identifier: Apache-2.0
#include "constants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include <creek/core/error.hpp>

namespace creek::tool::machines {
namespace {

constexpr double tiny = 1e-6, huge = 1e9;

constexpr constant table[] = {
    {"latency_us", &constants::latency_us, "half a round trip of one byte", 0, huge},
    {"overhead_us", &constants::overhead_us, "of a rank, per message sent or received", 0, huge},
    {"gap_us", &constants::gap_us, "between two messages of one rank", 0, huge},
    {"bandwidth_GBs", &constants::bandwidth_GBs, "of one rank, in each direction", tiny, huge},
    {"eager_KiB", &constants::eager_KiB, "longer messages wait for their receive", 0, huge},
    {"spin_us", &constants::spin_us, "polling, before a wait sleeps", 0, huge},
    {"map_ns_per_byte", &constants::map_ns_per_byte, "word count: text through the table", 0, huge},
    {"table_ns_per_pair", &constants::table_ns_per_pair, "word count: new word, half of them sent",
     0, huge},
    {"group_ns_per_pair", &constants::group_ns_per_pair, "word count: received pair", 0, huge},
    {"reduce_ns_per_pair", &constants::reduce_ns_per_pair,
     "word count: word of the table, after the pairs were received", 0, huge},
    {"put_ns_per_pair", &constants::put_ns_per_pair, "word count: pair of the result, at its rank",
     0, huge},
    {"merge_ns_per_pair", &constants::merge_ns_per_pair, "word count: the same at rank 0", 0, huge},
    {"word_bytes", &constants::word_bytes, "a word of the text, with its separator", 1, huge},
    {"pair_bytes", &constants::pair_bytes, "a word and its count in a message", 1, huge},
    {"vocabulary", &constants::vocabulary, "different words, drawn by Zipf's law", 1, 1e8},
    {"cache_MiB", &constants::cache_MiB, "LU: a part of the matrix that stays in a cache", 0, huge},
    {"gemm_GFs", &constants::gemm_GFs, "LU: update by a panel", tiny, huge},
    {"cached_gemm_GFs", &constants::cached_gemm_GFs, "LU: the same in the cache", tiny, huge},
    {"rows_GBs", &constants::rows_GBs, "LU: rows of the matrix that are exchanged", tiny, huge},
    {"cached_rows_GBs", &constants::cached_rows_GBs, "LU: the same in the cache", tiny, huge},
    {"copy_GBs", &constants::copy_GBs, "LU: consecutive rows, and messages", tiny, huge},
    {"panel_GFs", &constants::panel_GFs, "LU: panel, one row of ranks", tiny, huge},
    {"split_panel_GFs", &constants::split_panel_GFs, "LU: panel, several rows of ranks", tiny,
     huge},
    {"node_ns", &constants::node_ns, "stealing: a node of the tree", tiny, huge},
    {"poll_us", &constants::poll_us, "stealing: between two looks for messages", 0, huge},
};

struct named_network {
  std::string_view name;
  double latency_us, overhead_us, gap_us, bandwidth_GBs, eager_KiB;
};

// aries: Open MPI between two nodes of a Cray XC [Pritchard 2016]: osu_latency, the inverse of
// the message rate of osu_mbw_mr, its bandwidth; the eager limit where the latency jumps. The
// overhead is half of the gap, an estimate.
// tcp, memory: bench/mpi on this machine, Open MPI's TCP and MPICH's shared memory; the overhead
// is half of the latency, an upper bound, since both ranks copy.
constexpr named_network networks[] = {
    {"aries", 1.2, 0.35, 0.70, 9.96, 8},
    {"tcp", 12, 6, 6, 1.0, 64},
    {"memory", 0.34, 0.17, 0.17, 8.7, 64},
};

}  // namespace

std::span<const constant> all_constants() {
  return table;
}

constants with_network(std::string_view name) {
  const auto* const found = std::ranges::find(networks, name, &named_network::name);
  if (found == std::end(networks)) {
    throw usage_error("--network must be aries, tcp or memory, got '" + std::string(name) + "'");
  }
  constants made;
  made.latency_us = found->latency_us;
  made.overhead_us = found->overhead_us;
  made.gap_us = found->gap_us;
  made.bandwidth_GBs = found->bandwidth_GBs;
  made.eager_KiB = found->eager_KiB;
  return made;
}

void set_constant(constants& in, const std::string& assignment) {
  const std::size_t equals = assignment.find('=');
  const auto* const found =
      std::ranges::find(table, std::string_view(assignment).substr(0, equals), &constant::name);
  if (equals == std::string::npos || found == std::end(table)) {
    std::string names;
    for (const constant& each : table) names += " " + std::string(each.name);
    throw usage_error("--set takes NAME=VALUE, got '" + assignment + "'; names:" + names);
  }
  const std::string text = assignment.substr(equals + 1);
  double value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size() ||
      !(value >= found->min && value <= found->max)) {
    throw usage_error(fmt::format("--set {} must be from {} to {}, got '{}'", found->name,
                                  found->min, found->max, text));
  }
  in.*(found->member) = value;
}

}  // namespace creek::tool::machines
