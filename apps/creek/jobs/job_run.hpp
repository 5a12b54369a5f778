// SPDX-License-Identifier: Apache-2.0
// Runs a MapReduce job for a command: workers, a clock, and a progress bar.
#pragma once

#include <chrono>
#include <creek/mapreduce/run.hpp>
#include <creek/mapreduce/spill.hpp>
#include <creek/tasking/runtime.hpp>
#include <cstdint>
#include <optional>

#include "job_options.hpp"
#include "job_report.hpp"

namespace creek::tool {

class job_run {
 public:
  /// Starts the workers. Throws usage_error for impossible options.
  explicit job_run(const job_options& given)
      : given_(given), workers_(scheduling(given), backend_name(given)) {}

  [[nodiscard]] runtime& workers() { return workers_; }

  /// Writes the trace of the run and stops the workers. Call it before results are printed: throws
  /// creek::error if the trace cannot be written.
  void end() { workers_.shut_down(); }

  /// Starts the clock here instead of at the construction.
  void start() { start_ = std::chrono::steady_clock::now(); }

  /// Runs a job over an input and returns the result of mapreduce::run.
  template <class Job, class Input>
  auto operator()(const Job& job, Input& from, mapreduce::options chosen = {}) {
    return watched(from, chosen, [&] { return mapreduce::run(job, from, chosen); });
  }

  /// Runs a job as above, within a memory limit.
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

  /// Returns the report; the time until now is the run's time.
  [[nodiscard]] job_report report(const mapreduce::text_files& files) const {
    job_report made = describe(workers_, files);
    made.elapsed = std::chrono::steady_clock::now() - start_;
    made.stages = stages_;
    made.spilled = spilled_;
    return made;
  }

 private:
  /// Runs `work` on the workers with a progress bar, which `chosen` feeds.
  template <class Input, class Work>
  auto watched(const Input& from, mapreduce::options& chosen, Work work) {
    chosen.report = &done_;
    std::optional<progress_bar> bar;
    watch(bar, given_, done_, from.splits());
    auto made = workers_.run(work);
    stages_ = made.times;
    return made;
  }

  const job_options& given_;
  runtime workers_;
  mapreduce::progress done_;
  mapreduce::stage_times stages_;
  std::optional<mapreduce::spill_use> spilled_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace creek::tool
