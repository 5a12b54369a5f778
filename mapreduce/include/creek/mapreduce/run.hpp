// SPDX-License-Identifier: Apache-2.0
// run(): runs a job over an input with the strategy that fits.
#pragma once

#include <algorithm>
#include <creek/mapreduce/detail/check_options.hpp>
#include <creek/mapreduce/detail/stages.hpp>
#include <creek/mapreduce/engine/combine_on_emit.hpp>
#include <creek/mapreduce/engine/combine_or_group.hpp>
#include <creek/mapreduce/engine/emit_and_group.hpp>
#include <creek/mapreduce/engine/plan.hpp>
#include <creek/mapreduce/engine/split_source.hpp>
#include <creek/mapreduce/input.hpp>
#include <creek/mapreduce/job.hpp>
#include <creek/mapreduce/options.hpp>
#include <creek/mapreduce/rounds.hpp>
#include <creek/tasking/runtime.hpp>
#include <creek/tasking/this_worker.hpp>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

namespace creek::mapreduce {

namespace detail {

template <class Plan, class Job, class Input>
result<Job> run_with(const Job& job, Input& from, const options& chosen) {
  const std::size_t mappers = worker_count();
  Plan plan(job, chosen, mappers);
  return run_plan(plan, from, chosen, mappers);
}

/// Runs a job that fills arrays, as a single round.
template <fills Job, class Input>
result<Job> run_filling(const Job& job, Input& from, const options& chosen) {
  rounds<Job, Input> once(from, chosen);
  const auto values = once.run(job);
  result<Job> made;
  made.times = once.times();
  made.distinct = values.size();
  {
    const stopwatch watch(made.times, stage::sort);
    made.records.reserve(values.size());
    for (std::size_t key = 0; key < values.size(); ++key) {
      made.records.push_back({static_cast<typename Job::key_type>(key), std::move(values[key])});
    }
    if constexpr (orders<Job>) {
      if (chosen.sort) {
        std::ranges::sort(made.records,
                          [&](const auto& a, const auto& b) { return job.before(a, b); });
      }
    }
    if (chosen.top != 0 && chosen.top < made.records.size()) {
      made.records.erase(made.records.begin() + static_cast<std::ptrdiff_t>(chosen.top),
                         made.records.end());
    }
  }
  return made;
}

/// Implements run() in a task of a runtime.
template <class Job, class Input>
result<Job> run_here(const Job& job, Input& from, const options& chosen) {
  if constexpr (fills<Job>) {
    return run_filling(job, from, chosen);
  } else if constexpr (combines_or_groups<Job>) {
    return run_with<combine_or_group<Job>>(job, from, chosen);
  } else if constexpr (combines<Job>) {
    if constexpr (may_group<Job>) {
      if (chosen.how == strategy::emit_and_group) {
        return run_with<emit_and_group<Job>>(job, from, chosen);
      }
    }
    return run_with<combine_on_emit<Job>>(job, from, chosen);
  } else {
    return run_with<emit_and_group<Job>>(job, from, chosen);
  }
}

/// Implements run() over this type of input.
template <class Job, class Input>
result<Job> run_over(const Job& job, Input& from, const options& chosen) {
  check<Job>(chosen);
  if (combines<Job> && !combines_or_groups<Job> && !may_group<Job>) check_combines(chosen);
  if (this_worker() >= 0) return run_here(job, from, chosen);
  result<Job> made;
  in_own_runtime([&] { made = run_here(job, from, chosen); });
  return made;
}

/// Names the result of a job, and checks that it is one.
template <class Job>
struct checked_job {
  static_assert(job<Job>, "a job needs a key_type and a value_type, both movable");
  using result_type = result<Job>;
};
template <class Job>
using checked_result = typename checked_job<Job>::result_type;

template <names_split Job>
result<Job> run_source(const Job& job, source_for<Job> from, const options& chosen) {
  return run_over(job, from, chosen);
}

}  // namespace detail

/// Runs a job over an input on the workers of the caller's runtime; outside a runtime, on those of
/// one created for this call, configured by the environment. Blocks like a wait. Throws usage_error
/// for options that do not fit the job, before any work; rethrows exceptions of the input or the
/// job after every mapper has stopped.
template <class Job, input Input>
[[nodiscard]] detail::checked_result<Job> run(const Job& job, Input& from,
                                              const options& chosen = {}) {
  if constexpr (detail::gives_splits_for<Input, Job>) {
    return detail::run_source(job, detail::source_for<Job>(from), chosen);
  } else {
    return detail::run_over(job, from, chosen);
  }
}

/// Same over text in memory, cut at white space.
template <class Job>
[[nodiscard]] detail::checked_result<Job> run(const Job& job, std::string_view text,
                                              const options& chosen = {}) {
  text_view from(text, chosen.split);
  return run(job, from, chosen);
}

/// Same over an array; `map` gets subspans of `options.split` elements.
template <class Job, class T>
[[nodiscard]] detail::checked_result<Job> run(const Job& job, std::span<const T> data,
                                              const options& chosen = {}) {
  span_input<T> from(data, chosen.split);
  return run(job, from, chosen);
}

}  // namespace creek::mapreduce
