// SPDX-License-Identifier: Apache-2.0
#include "tpch/timed_query.hpp"

#include <cerrno>
#include <creek/core/error.hpp>
#include <support/median.hpp>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "options/runtime_choice.hpp"
#include "tpch/read_bandwidth.hpp"

namespace creek::tool {

void keep_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the maximum that it accepts
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

runtime tpch_runtime(const tpch_arguments& given) {
  scheduler_options chosen = scheduler_options::from_environment();
  if (given.workers) chosen.workers = *given.workers;
  return runtime(chosen, backend_of_environment());
}

void run_repeatedly(const tpch::prepared_query& query, const tpch_arguments& given,
                    timed_query& timed, function_ref<tpch::query_run()> run) {
  using clock = std::chrono::steady_clock;
  const auto check_unchanged = [&] {
    if (query.lost()) throw error(EIO, "a file of the tables was changed while it was read");
  };
  try {
    for (int i = 0; i < given.repeat; ++i) {
      const auto start = clock::now();
      timed.run = run();
      timed.each.push_back(std::chrono::duration<double>(clock::now() - start).count());
    }
  } catch (...) {
    check_unchanged();  // a changed file may be the cause of the error
    throw;
  }
  check_unchanged();
  timed.median = std::chrono::duration<double>(::bench::median(timed.each));
}

timed_query run_timed(const tpch::query& which, const tpch::parameter_values& values,
                      const tpch_arguments& given) {
  keep_memory();
  tpch::database from(given.folder,
                      given.in_memory ? tpch::residence::memory : tpch::residence::file);
  runtime workers = tpch_runtime(given);
  timed_query timed;
  timed.workers = workers.worker_count();
  workers.run([&] {
    const auto prepared = which.prepare(from, values);
    run_repeatedly(*prepared, given, timed, [&] { return prepared->run(); });
    if (!given.answer_only) timed.bandwidth = tpch::read_bandwidth();
  });
  timed.sources = from.sources();
  for (const tpch::table_source& source : timed.sources) timed.reading += source.reading;
  return timed;
}

}  // namespace creek::tool
