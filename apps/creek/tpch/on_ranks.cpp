// SPDX-License-Identifier: Apache-2.0
// A query of TPC-H on the ranks of an MPI run, each with a share of every table.
#include <fmt/format.h>

#include <cerrno>
#include <creek/core/error.hpp>

#include "jobs/rank_group.hpp"
#include "tpch/ranks/query_ranks.hpp"
#include "tpch/read_bandwidth.hpp"
#include "tpch/timed_query.hpp"

namespace creek::tool {
namespace {

/// Throws usage_error that names the queries that ranks answer.
[[noreturn]] void refuse_ranks(const tpch::query& which) {
  std::string names;
  for (const tpch::query* each : tpch::queries()) {
    if (each->on_ranks) names += fmt::format("{}{}", names.empty() ? "" : ", ", each->name);
  }
  throw usage_error(
      fmt::format("--backend mpi: {} runs in one process; ranks answer {}", which.name, names));
}

/// Throws creek::error unless all ranks have shares of the same files.
void check_sources(tpch::query_ranks& ranks, const tpch::database& from) {
  for (const tpch::table_source& source : from.sources()) {
    const std::uint64_t first =
        ranks.combine(source.version, [](std::uint64_t a, std::uint64_t) { return a; });
    const int others = ranks.sum(source.version == first ? 0 : 1);
    if (others == 0) continue;
    throw error(EINVAL, fmt::format("the files of {} differ between ranks; let all ranks see the "
                                    "same files, or equal copies",
                                    source.table));
  }
}

timed_query run_share(const tpch::query& which, const tpch::parameter_values& values,
                      const tpch_arguments& given, rank_group& all) {
  keep_memory();
  tpch::database from(given.folder,
                      given.in_memory ? tpch::residence::memory : tpch::residence::file,
                      {static_cast<unsigned>(all.rank()), static_cast<unsigned>(all.size())});
  runtime workers = tpch_runtime(given);
  tpch::query_ranks ranks(all, workers);
  timed_query timed;
  const auto prepared = ranks.compute([&] { return which.prepare(from, values); });
  check_sources(ranks, from);
  std::uint64_t sent = 0;
  run_repeatedly(*prepared, given, timed, [&] {
    static_cast<void>(ranks.sum(0));  // all begin together, so that rank 0 has the time of all
    const std::uint64_t before = ranks.sent_bytes();
    tpch::query_run run = prepared->run_on(ranks);
    sent = ranks.sent_bytes() - before;
    return run;
  });
  timed.sent_bytes = ranks.sum(sent);
  timed.ranks = ranks.size();
  timed.workers = ranks.sum(workers.worker_count());
  timed.run.rows = ranks.sum(timed.run.rows);
  timed.run.bytes = ranks.sum(timed.run.bytes);
  timed.run.steps.insert(timed.run.steps.begin(),
                         fmt::format("rank 0 of {}, with its share of the tables", ranks.size()));
  if (!given.answer_only) {
    timed.bandwidth = ranks.sum(ranks.compute([] { return tpch::read_bandwidth(); }));
  }
  timed.sources = from.sources();
  for (const tpch::table_source& source : timed.sources) timed.reading += source.reading;
  return timed;
}

}  // namespace

int run_on_ranks(const tpch::query& which, const tpch::parameter_values& values,
                 const tpch_arguments& given, function_ref<void(const timed_query&)> print) {
  if (!which.on_ranks) refuse_ranks(which);
  return on_ranks_of_mpi([&](rank_group* all) {
    const timed_query timed = run_share(which, values, given, *all);
    if (all->rank() == 0) print(timed);
  });
}

}  // namespace creek::tool
