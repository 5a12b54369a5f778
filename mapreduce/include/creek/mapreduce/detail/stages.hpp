// SPDX-License-Identifier: Apache-2.0
// Parts of a run that do not depend on the job's types. They are compiled once and not for every
// job: each is called once per run, stage, split or piece of a split.
#pragma once

#include <creek/core/function_ref.hpp>
#include <creek/mapreduce/options.hpp>
#include <cstddef>

namespace creek::mapreduce::detail {

/// Calls `f()` in a task of a runtime that is created for the call, configured by the environment.
void in_own_runtime(function_ref<void()> f);

/// Calls `f(i)` for i in [0, n) like for_each_index(), and adds the elapsed time to stage `s`.
void run_stage(stage_times& times, stage s, std::size_t n, function_ref<void(std::size_t)> f);

/// Hands out the splits 0, 1, ... n-1 to `f(mapper, i)` like deal(), counts finished ones and adds
/// the time to stage `map`. Throws creek::error (ECANCELED) once a stop is requested.
void map_splits(stage_times& times, std::size_t n, std::size_t mappers, const options& chosen,
                function_ref<void(std::size_t, std::size_t)> f);

/// Throws creek::error (ECANCELED) once a stop is requested.
void check_stop(const options& chosen);

/// Counts a finished split.
void report_split(const options& chosen) noexcept;

/// Counts mapped bytes of the input.
void report_bytes(const options& chosen, std::size_t bytes) noexcept;

/// Properties of a job that check_options() needs.
struct job_abilities {
  bool sortable, combines, fills;
};

/// Throws usage_error for options that such a job does not support.
void check_options(const options& chosen, job_abilities job);
/// Throws usage_error for strategy emit_and_group, which such a job does not have.
void check_combines(const options& chosen);

}  // namespace creek::mapreduce::detail
