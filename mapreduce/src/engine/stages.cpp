// SPDX-License-Identifier: Apache-2.0
#include <creek/mapreduce/detail/stages.hpp>

#include <cerrno>
#include <creek/core/error.hpp>
#include <creek/mapreduce/detail/parallel.hpp>
#include <creek/mapreduce/detail/stopwatch.hpp>
#include <creek/tasking/runtime.hpp>

namespace creek::mapreduce::detail {

void in_own_runtime(function_ref<void()> f) {
  runtime own;
  own.run([f] { f(); });
}

void run_stage(stage_times& times, stage s, std::size_t n, function_ref<void(std::size_t)> f) {
  const stopwatch watch(times, s);
  for_each_index(n, f);
}

void map_splits(stage_times& times, std::size_t n, std::size_t mappers, const options& chosen,
                function_ref<void(std::size_t, std::size_t)> f) {
  const stopwatch watch(times, stage::map);
  deal(n, mappers, [&](std::size_t mapper, std::size_t i) {
    check_stop(chosen);
    f(mapper, i);
    report_split(chosen);
  });
}

void check_stop(const options& chosen) {
  if (chosen.stop.stop_requested()) throw error(ECANCELED, "MapReduce run stopped");
}

void report_split(const options& chosen) noexcept {
  if (chosen.report == nullptr) return;
  chosen.report->splits_done.fetch_add(1, std::memory_order_relaxed);
}

void report_bytes(const options& chosen, std::size_t bytes) noexcept {
  if (chosen.report == nullptr) return;
  chosen.report->bytes_done.fetch_add(bytes, std::memory_order_relaxed);
}

void check_options(const options& chosen, job_abilities job) {
  if (chosen.top != 0 && !chosen.sort) {
    throw usage_error("mapreduce: options.top needs options.sort");
  }
  if (!job.sortable && chosen.sort) {
    throw usage_error("mapreduce: keys without an order: give the job before(), or sort = false");
  }
  if (!job.combines && chosen.how == strategy::combine_on_emit) {
    throw usage_error("mapreduce: strategy combine_on_emit needs a job with combine()");
  }
  if (job.fills && chosen.how == strategy::emit_and_group) {
    throw usage_error("mapreduce: strategy emit_and_group needs a job with map(), not fill()");
  }
}

void check_combines(const options& chosen) {
  if (chosen.how == strategy::emit_and_group) {
    throw usage_error(
        "mapreduce: strategy emit_and_group: this job combines; to group instead, give it "
        "`static constexpr bool may_group = true`");
  }
}

}  // namespace creek::mapreduce::detail
