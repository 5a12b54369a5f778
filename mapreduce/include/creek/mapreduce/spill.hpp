// SPDX-License-Identifier: Apache-2.0
// Runs whose intermediate data may exceed the memory: run() with a limit, and run_to(), which
// passes on the records one by one instead of keeping them.
#pragma once

#include <creek/mapreduce/dense.hpp>
#include <creek/mapreduce/detail/check_options.hpp>
#include <creek/mapreduce/detail/parallel.hpp>
#include <creek/mapreduce/detail/stages.hpp>
#include <creek/mapreduce/detail/stopwatch.hpp>
#include <creek/mapreduce/engine/plan.hpp>
#include <creek/mapreduce/engine/runs.hpp>
#include <creek/mapreduce/engine/split_source.hpp>
#include <creek/mapreduce/input.hpp>
#include <creek/mapreduce/job.hpp>
#include <creek/mapreduce/memory_limit.hpp>
#include <creek/mapreduce/options.hpp>
#include <creek/mapreduce/run.hpp>
#include <creek/mapreduce/spill/record_runs.hpp>
#include <creek/mapreduce/spill/spill_file.hpp>
#include <creek/mapreduce/spill/spill_plan.hpp>
#include <creek/tasking/runtime.hpp>
#include <creek/tasking/this_worker.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace creek::mapreduce {

/// Result of run() with a limit; keys that are views point into `keys`.
template <job Job>
struct spilled_result : result<Job> {
  spill_use spilled;
};

/// Result of run_to().
struct run_summary {
  stage_times times;
  std::uint64_t emitted = 0;   ///< pairs that `map` emitted
  std::uint64_t distinct = 0;  ///< different keys among them
  std::uint64_t records = 0;   ///< passed to the sink
  spill_use spilled;
};

namespace detail {

template <job Job, class Sink>
struct sink_requirements {
  static_assert(std::is_invocable_v<Sink&, const record_of<Job>&>,
                "run_to calls sink(record) with a const record_of<Job>& for each record");
  static constexpr bool met = true;
};

/// Target that keeps all records in memory.
template <job Job>
class records_in_memory final : public record_target<Job> {
 public:
  explicit records_in_memory(runs<Job>& to) : to_(&to) {}
  void add(std::size_t, std::size_t part, typename Job::key_type&& key,
           typename result_value<Job>::type&& value) override {
    to_->add(part, std::move(key), std::move(value), holds_views<typename Job::key_type>());
  }
  void release(std::size_t) override {}

 private:
  runs<Job>* to_;
};

/// Makes records of the pairs that a plan has.
template <job Job>
void group_spilled(spill_plan<Job>& plan, std::size_t workers, record_target<Job>& target,
                   stage_times& times) {
  {
    const stopwatch watch(times, stage::partition);
    plan.gather();
  }
  const stopwatch watch(times, stage::group);
  deal(plan.partitions(), workers,
       [&](std::size_t taker, std::size_t part) { plan.group(taker, part, target); });
  plan.group_heavy(target);
}

/// Runs the stages from the input to the records in `target`. `Report` is a result or a summary.
template <job Job, class Input, class Report>
void run_spilling(spill_plan<Job>& plan, Input& from, const options& chosen, std::size_t workers,
                  record_target<Job>& target, Report& report) {
  map_all(report.times, plan, from, chosen, workers);
  group_spilled(plan, workers, target, report.times);
  report.emitted = plan.emitted();
  report.distinct = plan.distinct();
}

/// Throws usage_error for options or a limit that do not fit the job.
template <job Job>
void check(const options& chosen, const memory_limit& limit, std::size_t workers) {
  static_assert(!fills<Job>, "jobs that fill arrays have nothing to spill");
  check<Job>(chosen);
  check_limit(limit, workers);
}

/// Returns the records of a run, sorted if requested.
template <job Job>
[[nodiscard]] result<Job> merged(runs<Job>& records, const options& chosen, stage_times& times) {
  if (chosen.sort) {
    run_stage(times, stage::sort, records.partitions(),
              [&](std::size_t part) { records.sort(part); });
  }
  const stopwatch watch(times, stage::merge);
  result<Job> made;
  made.records = records.merge();
  made.keys = records.take_arena();
  return made;
}

/// Implements run() with a limit in a task of a runtime.
template <class Job, class Input>
spilled_result<Job> run_here(const Job& job, Input& from, const options& chosen,
                             const memory_limit& limit) {
  const std::size_t workers = worker_count();
  check<Job>(chosen, limit, workers);
  const spill_shares shares(limit, workers);
  spill_file file(limit.directory);
  spill_meter meter;
  spill_plan<Job> plan(job, chosen, shares, shares.worker, file, meter, workers);
  runs<Job> records(job, chosen, plan.partitions());
  records_in_memory<Job> target(records);
  spilled_result<Job> made;
  run_spilling(plan, from, chosen, workers, target, made);
  result<Job> all = merged<Job>(records, chosen, made.times);
  made.records = std::move(all.records);
  made.keys = std::move(all.keys);
  made.spilled = {file.bytes(), meter.runs(), meter.peak()};
  return made;
}

/// Implements run_to() in a task of a runtime.
template <class Job, class Input, class Sink>
run_summary run_here_to(const Job& job, Input& from, const options& chosen,
                        const memory_limit& limit, Sink& sink) {
  const std::size_t workers = worker_count();
  check<Job>(chosen, limit, workers);
  const spill_shares shares(limit, workers);
  spill_file sorted(limit.directory);
  spill_meter meter;
  run_summary made;
  const std::size_t room =
      shares.worker / 3;  // for records, which take less room than a table of them
  record_runs<Job> records(job, chosen, shares, room, sorted, meter, workers);
  {
    spill_file file(limit.directory);
    spill_plan<Job> plan(job, chosen, shares, shares.worker - room, file, meter, workers);
    run_spilling(plan, from, chosen, workers, records, made);
    made.spilled.bytes = file.bytes();
  }
  run_stage(made.times, stage::sort, workers, [&](std::size_t taker) { records.finish(taker); });
  {
    const stopwatch watch(made.times, stage::merge);
    made.records = records.merge(sink);
  }
  made.spilled = {made.spilled.bytes + sorted.bytes(), meter.runs(), meter.peak()};
  return made;
}

/// Implements run() with a limit over this type of input.
template <class Job, class Input>
spilled_result<Job> run_over(const Job& job, Input& from, const options& chosen,
                             const memory_limit& limit) {
  if (this_worker() >= 0) return run_here(job, from, chosen, limit);
  spilled_result<Job> made;
  in_own_runtime([&] { made = run_here(job, from, chosen, limit); });
  return made;
}

/// Implements run_to() over this type of input.
template <class Job, class Input, class Sink>
run_summary run_over_to(const Job& job, Input& from, const options& chosen,
                        const memory_limit& limit, Sink& sink) {
  if (this_worker() >= 0) return run_here_to(job, from, chosen, limit, sink);
  run_summary made;
  in_own_runtime([&] { made = run_here_to(job, from, chosen, limit, sink); });
  return made;
}

template <names_split Job>
spilled_result<Job> run_source(const Job& job, source_for<Job> from, const options& chosen,
                               const memory_limit& limit) {
  return run_over(job, from, chosen, limit);
}
template <names_split Job>
run_summary run_source_to(const Job& job, source_for<Job> from, const options& chosen,
                          const memory_limit& limit,
                          function_ref<void(const record_of<Job>&)> sink) {
  return run_over_to(job, from, chosen, limit, sink);
}

}  // namespace detail

/// Runs the job like run() without a limit, with the same result, but uses at most `limit.bytes` of
/// memory for pairs on their way from map() to the result; pairs that do not fit go to files in
/// `limit.directory`. Keys and values need a byte form (wire.hpp); values must not be views. The
/// result is in memory and not limited: use `top` or run_to() for large results.
///
/// Throws usage_error if the limit is too small for the workers. Throws creek::error, after every
/// mapper has stopped, if a file cannot be written or read, if a pair does not fit or is to be
/// written and larger than an eighth of a worker's share, or if a job that does not combine has a
/// key whose values alone exceed the limit.
template <job Job, input Input>
[[nodiscard]] spilled_result<Job> run(const Job& job, Input& from, const options& chosen,
                                      const memory_limit& limit) {
  if constexpr (detail::gives_splits_for<Input, Job>) {
    return detail::run_source(job, detail::source_for<Job>(from), chosen, limit);
  } else {
    return detail::run_over(job, from, chosen, limit);
  }
}

/// Same over text in memory, cut at white space.
template <job Job>
[[nodiscard]] spilled_result<Job> run(const Job& job, std::string_view text, const options& chosen,
                                      const memory_limit& limit) {
  text_view from(text, chosen.split);
  return run(job, from, chosen, limit);
}

/// Same over an array.
template <job Job, class T>
[[nodiscard]] spilled_result<Job> run(const Job& job, std::span<const T> data,
                                      const options& chosen, const memory_limit& limit) {
  span_input<T> from(data, chosen.split);
  return run(job, from, chosen, limit);
}

/// Runs a job and calls `sink(const record_of<Job>&)` for each record, in the calling task, in
/// order if `options.sort`, else in no order. With a limit the records go through a file, so that
/// the result may exceed the memory as well; records need a byte form, too. Views in a record are
/// valid during the call. An exception of `sink` ends the run; otherwise like run().
template <job Job, input Input, class Sink>
run_summary run_to(const Job& job, Input& from, const options& chosen, const memory_limit& limit,
                   Sink&& sink) {
  static_assert(detail::sink_requirements<Job, Sink>::met);
  if constexpr (detail::gives_splits_for<Input, Job>) {
    return detail::run_source_to(job, detail::source_for<Job>(from), chosen, limit, sink);
  } else {
    return detail::run_over_to(job, from, chosen, limit, sink);
  }
}

/// Same without a limit: calls run(), then `sink` for each record.
template <job Job, input Input, class Sink>
run_summary run_to(const Job& job, Input& from, const options& chosen, Sink&& sink) {
  static_assert(detail::sink_requirements<Job, Sink>::met);
  if (this_worker() < 0) {
    run_summary made;
    detail::in_own_runtime([&] { made = run_to(job, from, chosen, sink); });
    return made;
  }
  const result<Job> all = run(job, from, chosen);
  for (const auto& record : all) sink(record);
  run_summary made;
  made.times = all.times;
  made.emitted = all.emitted;
  made.distinct = all.distinct;
  made.records = all.size();
  return made;
}

}  // namespace creek::mapreduce
