// SPDX-License-Identifier: Apache-2.0
// Runs on the ranks of a communicator whose intermediate data may exceed the memory:
// run_on_machines() and run_in_parts() with a limit.
#pragma once

#include <algorithm>
#include <creek/core/error.hpp>
#include <creek/mapreduce/machines.hpp>
#include <creek/mapreduce/machines/spilled_stages.hpp>
#include <creek/mapreduce/memory_limit.hpp>
#include <creek/mapreduce/spill.hpp>
#include <creek/mapreduce/spill/record_runs.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace creek::mapreduce {

/// Result of run_on_machines() with a limit.
template <job Job>
struct spilled_rank_result : rank_result<Job> {
  spill_use spilled;  ///< files of all ranks; the largest peak of a rank
};

namespace detail {

/// Adds up what all ranks have written. All ranks call it.
template <class Communicator>
[[nodiscard]] spill_use use_of_ranks(Communicator& ranks, const spill_use& mine) {
  return {ranks.allreduce(mine.bytes, std::plus{}), ranks.allreduce(mine.runs, std::plus{}),
          ranks.allreduce(mine.peak, [](auto a, auto b) { return std::max(a, b); })};
}

/// Throws usage_error for options that parts in files do not support.
inline void check_parts(const options& chosen, bool by_key) {
  if (chosen.top != 0) {
    throw usage_error("run_in_parts: options.top must be 0: use run_on_machines to select");
  }
  if (chosen.sort && !by_key) {
    throw usage_error(
        "run_in_parts with a memory limit: a job that orders its records by more than their key "
        "needs options.sort = false");
  }
}

}  // namespace detail

/// Records of one rank in a file, after run_in_parts() with a limit. Independent of the input.
template <job Job>
class spilled_part {
 public:
  using record_type = record_of<Job>;

  stage_times times;
  std::uint64_t emitted = 0;     ///< pairs that `map` emitted on all ranks
  std::uint64_t distinct = 0;    ///< different keys of all ranks
  std::uint64_t sent_bytes = 0;  ///< of pairs, by all ranks
  spill_use spilled;             ///< files of all ranks; the largest peak of a rank

  /// Calls `sink(const record_type&)` for the records of this rank, in order if they are sorted,
  /// and returns their number. May be called again; each call reads the file. Views in a record are
  /// valid during the call.
  template <class Sink>
  std::uint64_t for_each(Sink&& sink) {
    static_assert(detail::sink_requirements<Job, Sink>::met);
    return records_->runs->merge(sink);
  }

 private:
  /// The records, with all that they refer to.
  struct state {
    state(const Job& given, const options& how, const memory_limit& limit)
        : one(given), chosen(how), file(limit.directory) {}
    Job one;
    options chosen;
    spill_file file;
    spill_meter meter;
    std::optional<record_runs<Job>> runs;
  };

  template <job Other, class Communicator, input Input>
  friend spilled_part<Other> run_in_parts(const Other&, Communicator&, runtime&, Input&,
                                          const options&, const memory_limit&);

  std::unique_ptr<state> records_;
};

/// Runs a job on all ranks like run_on_machines() without a limit, with the same result, but each
/// rank uses at most `limit.bytes` of memory for pairs on their way from map() to the result, and a
/// message of 4 KiB from each worker to each rank if that is more. All pairs go to files in
/// `limit.directory`, which each rank has; none of them has a name. The result is in the memory of
/// rank 0 and not limited: use `top`, or run_in_parts(). A single rank calls run().
///
/// Throws usage_error if the limit is too small for the workers of a rank. Throws creek::error, on
/// the rank where it happened, if a file cannot be written or read, or for pairs that run() with a
/// limit refuses; the program has to end then.
template <job Job, class Communicator, input Input>
[[nodiscard]] spilled_rank_result<Job> run_on_machines(const Job& job, Communicator& ranks,
                                                       runtime& rt, Input& from,
                                                       const options& chosen,
                                                       const memory_limit& limit) {
  static_assert(detail::machine_requirements<Job>::met);
  spilled_rank_result<Job> made;
  if (ranks.size() == 1) {
    auto alone = rt.run([&] { return run(job, from, chosen, limit); });
    made.spilled = alone.spilled;
    static_cast<result<Job>&>(made) = std::move(alone);
    return made;
  }
  spill_meter meter;
  detail::spilled_stages<Job, Communicator> stages(job, ranks, rt, chosen, limit, meter);
  detail::machine_run<Job, Communicator> on_ranks(job, ranks, rt, chosen);
  static_cast<rank_result<Job>&>(made) =
      on_ranks.run_over(from, [&](auto& mine, detail::rank_totals& totals, stage_times& times) {
        runs<Job> records(job, chosen, stages.partitions());
        detail::records_in_memory<Job> target(records);
        stages.run(mine, false, 0, target, times);
        totals = stages.totals();
        return rt.run([&] { return detail::merged<Job>(records, chosen, times); });
      });
  made.spilled = detail::use_of_ranks(ranks, {stages.file_bytes(), meter.runs(), meter.peak()});
  return made;
}

/// Runs a job like run_in_parts() without a limit, but leaves the records of each rank in a file:
/// pairs and records together stay within the limit, as in run_to(). If records are sorted, the job
/// must order them by key (as without before(), or with orders_by_key()); otherwise throws
/// usage_error. Throws like run_on_machines() with a limit.
template <job Job, class Communicator, input Input>
[[nodiscard]] spilled_part<Job> run_in_parts(const Job& job, Communicator& ranks, runtime& rt,
                                             Input& from, const options& chosen,
                                             const memory_limit& limit) {
  static_assert(detail::machine_requirements<Job>::met);
  detail::check<Job>(chosen, limit, rt.worker_count());
  detail::check_parts(chosen, detail::orders_by_key(job));
  spilled_part<Job> made;
  made.records_ = std::make_unique<typename spilled_part<Job>::state>(job, chosen, limit);
  auto& kept = *made.records_;
  detail::spilled_stages<Job, Communicator> stages(kept.one, ranks, rt, kept.chosen, limit,
                                                   kept.meter);
  const std::size_t room = stages.shares().worker / 3;  // as in run_to()
  kept.runs.emplace(kept.one, kept.chosen, stages.shares(), room, kept.file, kept.meter,
                    stages.workers());
  require_equal_input(ranks, from);
  own_splits<Input> mine(from, ranks.rank(), ranks.size());
  stages.run(mine, chosen.sort, room, *kept.runs, made.times);
  rt.run([&] {
    detail::run_stage(made.times, stage::sort, stages.workers(),
                      [&](std::size_t taker) { kept.runs->finish(taker); });
  });
  const auto all = ranks.allreduce(stages.totals(), std::plus{});
  made.emitted = all.emitted;
  made.distinct = all.distinct;
  made.sent_bytes = all.sent;
  made.spilled = detail::use_of_ranks(
      ranks, {stages.file_bytes() + kept.file.bytes(), kept.meter.runs(), kept.meter.peak()});
  return made;
}

}  // namespace creek::mapreduce
