// SPDX-License-Identifier: Apache-2.0
// Runs a MapReduce job for a command: workers, a clock, and a progress bar.
#pragma once

#include <chrono>
#include <creek/mapreduce/machines.hpp>
#include <creek/mapreduce/run.hpp>
#include <creek/mapreduce/spill.hpp>
#include <creek/mapreduce/spill_on_machines.hpp>
#include <creek/tasking/runtime.hpp>
#include <cstdint>
#include <optional>
#include <utility>

#include "job_options.hpp"
#include "job_report.hpp"
#include "rank_group.hpp"

namespace creek::tool {

class job_run {
 public:
  /// Starts the workers, those of one rank if there are ranks. Throws usage_error for impossible
  /// options.
  explicit job_run(const job_options& given, rank_group* ranks = nullptr)
      : given_(given),
        ranks_(ranks),
        workers_(scheduling(given), ranks == nullptr ? backend_name(given) : "host") {}

  /// Returns whether this process has the results and prints them.
  [[nodiscard]] bool has_results() const { return ranks_ == nullptr || ranks_->rank() == 0; }

  [[nodiscard]] runtime& workers() { return workers_; }

  /// Writes the trace of the run and stops the workers. Call it before results are printed: throws
  /// creek::error if the trace cannot be written.
  void end() { workers_.shut_down(); }

  /// Starts the clock here instead of at the construction.
  void start() { start_ = std::chrono::steady_clock::now(); }

  /// Runs a job over an input in this process and returns the result of mapreduce::run.
  template <class Job, class Input>
  mapreduce::result<Job> operator()(const Job& job, Input& from, mapreduce::options chosen = {}) {
    return watched(from, chosen, [&] { return mapreduce::run(job, from, chosen); });
  }

  /// Runs a job on all ranks, if there are ranks, else in this process. All ranks call it; rank 0
  /// has the result.
  template <class Job, class Input>
  mapreduce::rank_result<Job> on_all(const Job& job, Input& from, mapreduce::options chosen = {}) {
    if (ranks_ != nullptr) return on_ranks(job, from, chosen);
    return {(*this)(job, from, chosen)};
  }

  /// Runs a job on all ranks and leaves each a part of the result. All ranks call it; there must
  /// be ranks.
  template <class Job, class Input>
  mapreduce::rank_result<Job> in_parts(const Job& job, Input& from,
                                       mapreduce::options chosen = {}) {
    chosen.report = &done_;
    return counted(mapreduce::run_in_parts(job, *ranks_, workers_, from, chosen));
  }

  /// Same within a memory limit of each rank.
  template <class Job, class Input>
  mapreduce::rank_result<Job> on_all(const Job& job, Input& from, mapreduce::options chosen,
                                     const mapreduce::memory_limit& limit) {
    if (ranks_ == nullptr) return {(*this)(job, from, chosen, limit)};
    chosen.report = &done_;
    return within_limit(mapreduce::run_on_machines(job, *ranks_, workers_, from, chosen, limit));
  }

  /// Runs a job on all ranks and leaves each a part of the result in a file, within a memory limit
  /// of each rank. All ranks call it; there must be ranks.
  template <class Job, class Input>
  mapreduce::spilled_part<Job> in_parts(const Job& job, Input& from, mapreduce::options chosen,
                                        const mapreduce::memory_limit& limit) {
    chosen.report = &done_;
    return within_limit(mapreduce::run_in_parts(job, *ranks_, workers_, from, chosen, limit));
  }

  /// Runs a job in this process, within a memory limit.
  template <class Job, class Input>
  mapreduce::result<Job> operator()(const Job& job, Input& from, mapreduce::options chosen,
                                    const mapreduce::memory_limit& limit) {
    auto made = watched(from, chosen, [&] { return mapreduce::run(job, from, chosen, limit); });
    spilled_ = made.spilled;
    return made;
  }

  /// Runs a job as above and hands the records to `sink`, whose time is part of the merge.
  template <class Job, class Input, class Sink>
  mapreduce::run_summary to(const Job& job, Input& from, mapreduce::options chosen,
                            const mapreduce::memory_limit& limit, Sink&& sink) {
    auto made =
        watched(from, chosen, [&] { return mapreduce::run_to(job, from, chosen, limit, sink); });
    spilled_ = made.spilled;
    return made;
  }

  /// Returns the total size of the splits that were mapped, as the jobs got them.
  [[nodiscard]] std::uint64_t bytes_done() const { return done_.bytes_done; }

  /// Returns the report; the time until now is the run's time. All ranks call it.
  [[nodiscard]] job_report report(const mapreduce::text_files& files) const {
    job_report made = describe(workers_, files);
    if (ranks_ != nullptr) gather_report(*ranks_, made);
    made.elapsed = std::chrono::steady_clock::now() - start_;
    made.stages = stages_;
    made.spilled = spilled_;
    return made;
  }

 private:
  template <class Job, class Input>
  mapreduce::rank_result<Job> on_ranks(const Job& job, Input& from, mapreduce::options chosen) {
    chosen.report = &done_;
    return counted(mapreduce::run_on_machines(job, *ranks_, workers_, from, chosen));
  }
  template <class Result>
  Result counted(Result made) {
    done_.bytes_done = ranks_->reduce(done_.bytes_done.load(), std::plus{}, 0);
    stages_ = made.times;
    return made;
  }

  template <class Result>
  Result within_limit(Result made) {
    spilled_ = made.spilled;
    return counted(std::move(made));
  }

  /// Runs `work` on the workers with a progress bar, which `chosen` feeds.
  template <class Input, class Work>
  auto watched(const Input& from, mapreduce::options& chosen, Work work) {
    chosen.report = &done_;
    std::optional<progress_bar> bar;
    if (ranks_ == nullptr) watch(bar, given_.quiet, done_, from.splits());
    auto made = workers_.run(work);
    stages_ = made.times;
    return made;
  }

  const job_options& given_;
  rank_group* ranks_;
  runtime workers_;
  mapreduce::progress done_;
  mapreduce::stage_times stages_;
  std::optional<mapreduce::spill_use> spilled_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace creek::tool
