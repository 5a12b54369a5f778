// SPDX-License-Identifier: Apache-2.0
// A query of TPC-H that is run several times, in this process or on ranks.
#pragma once

#include <chrono>
#include <creek/core/function_ref.hpp>
#include <creek/tasking/runtime.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "chip/chip_options.hpp"
#include "tpch/database.hpp"
#include "tpch/query.hpp"

namespace creek::tool {

struct tpch_arguments {
  std::string folder;
  std::optional<unsigned> workers;
  std::vector<std::string> parameters;
  int repeat = 1;
  bool as_json = false;
  bool explain = false;
  bool answer_only = false;
  bool in_memory = false;
  std::string form = "full";
  std::string backend = "host";
  chip_options chip;
};

struct timed_query {
  tpch::query_run run;
  std::vector<double> each;  ///< seconds
  std::chrono::duration<double> median{};
  std::chrono::duration<double> reading{};
  double bandwidth = 0;  ///< bytes/s; 0 if only the answer is wanted
  unsigned workers = 0;  ///< of all ranks
  int ranks = 0;         ///< 0: this process alone
  std::uint64_t sent_bytes = 0;
  std::vector<tpch::table_source> sources;
};

/// Keeps freed memory, since runs of a query allocate the same memory repeatedly. Kept memory needs
/// no new pages, which took a tenth to a fifth of the time of runs after the first.
void keep_memory();

[[nodiscard]] runtime tpch_runtime(const tpch_arguments& given);

/// Runs a query in this process.
[[nodiscard]] timed_query run_timed(const tpch::query& which, const tpch::parameter_values& values,
                                    const tpch_arguments& given);

/// Runs a query on the ranks of an MPI run and calls `print` on rank 0. Returns the exit code.
/// Throws usage_error, before there are ranks, if the query is not answered by ranks.
[[nodiscard]] int run_on_ranks(const tpch::query& which, const tpch::parameter_values& values,
                               const tpch_arguments& given,
                               function_ref<void(const timed_query&)> print);

/// Calls `run` as often as the user asked and keeps its last result and the times. Throws
/// creek::error if a file of the tables was changed meanwhile.
void run_repeatedly(const tpch::prepared_query& query, const tpch_arguments& given,
                    timed_query& timed, function_ref<tpch::query_run()> run);

}  // namespace creek::tool
