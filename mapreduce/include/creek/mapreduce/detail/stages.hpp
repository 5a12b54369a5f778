// SPDX-License-Identifier: Apache-2.0
// The parts of a run that no job's types are needed for. They are compiled once and not for every
// job: each is called once per run, stage, split or piece of a split.
#pragma once

#include <creek/core/function_ref.hpp>
#include <creek/mapreduce/options.hpp>
#include <cstddef>

namespace creek::mapreduce::detail {

/// Calls `f()` in a task of a runtime that is made for the call, as the environment says.
void in_own_runtime(function_ref<void()> f);

/// Calls `f(i)` for i in [0, n) as for_each_index() does, and adds the time to stage `s`.
void run_stage(stage_times& times, stage s, std::size_t n, function_ref<void(std::size_t)> f);

/// Hands out the splits 0, 1, ... n-1 to `f(mapper, i)` as deal() does, counts those that are done
/// and adds the time to the stage `map`. Throws creek::error (ECANCELED) once a stop is requested.
void map_splits(stage_times& times, std::size_t n, std::size_t mappers, const options& chosen,
                function_ref<void(std::size_t, std::size_t)> f);

/// Throws creek::error (ECANCELED) once a stop is requested.
void check_stop(const options& chosen);

/// Counts a split that is done.
void report_split(const options& chosen) noexcept;

/// Counts bytes that are mapped.
void report_bytes(const options& chosen, std::size_t bytes) noexcept;

/// Properties of a job that check_options() needs.
struct job_abilities {
  bool sortable, combines, fills;
};

/// Throws usage_error for options that such a job cannot have.
void check_options(const options& chosen, job_abilities job);

}  // namespace creek::mapreduce::detail
