// SPDX-License-Identifier: Apache-2.0
// Runs the seven stages of a plan and times them. A plan is a class whose members are the stages;
// to replace a stage, derive from a plan and hide that member; a missing stage is skipped.
//
//     map(mapper, split)   called per piece of input, one call at a time per mapper
//     combine(mapper)      optional: shrink the pairs of a mapper
//     partition(mapper)    optional: split the pairs of a mapper by the keys' hash
//     group(part)          bring a partition's pairs together, equal keys adjacent
//     reduce(part)         optional: turn a partition's groups into records
//     sort(part)           order a partition's records, or leave that to merge() (skipped without
//                          options.sort)
//     merge()              returns the records of all partitions
//
// Calls with different arguments run concurrently; a stage begins when the previous one has
// ended.
#pragma once

#include <concepts>
#include <creek/core/function_ref.hpp>
#include <creek/mapreduce/detail/stages.hpp>
#include <creek/mapreduce/detail/stopwatch.hpp>
#include <creek/mapreduce/failures.hpp>
#include <creek/mapreduce/input.hpp>
#include <creek/mapreduce/job.hpp>
#include <creek/mapreduce/options.hpp>
#include <creek/mapreduce/tables/byte_arena.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace creek::mapreduce {

/// Result of run(). Keys that are views point into the input (which must outlive them) or into
/// copies owned by this object; after a move the views stay valid.
template <job Job>
struct result {
  using record_type = record_of<Job>;

  record_vector<record_type> records;
  stage_times times;
  std::uint64_t emitted = 0;   ///< pairs that `map` emitted
  std::uint64_t distinct = 0;  ///< different keys among them
  byte_arena keys;

  [[nodiscard]] auto begin() const { return records.begin(); }
  [[nodiscard]] auto end() const { return records.end(); }
  [[nodiscard]] std::size_t size() const { return records.size(); }
  [[nodiscard]] const record_type& operator[](std::size_t i) const { return records[i]; }
};

namespace detail {

/// Describes split i, or a piece of it.
template <class Input, class Split>
[[nodiscard]] std::string describe_split(const Input& from, const Split& split, std::size_t i) {
  if constexpr (std::derived_from<Split, text_split>) {
    return describe_piece(file_name(from, split.from.file), split.from.offset);
  } else {
    return describe_piece(i);
  }
}

/// Maps split i.
template <class Plan, class Input>
void map_split(Plan& plan, Input& from, const options& chosen, std::size_t mapper, std::size_t i) {
  from.visit(i, [&](const auto& split) {
    with_place<typename Plan::job_type>(
        chosen.failures, "map", [&] { plan.map(mapper, split); },
        [&] { return describe_split(from, split, i); });
    report_bytes(chosen, size_in_bytes(split));
  });
}

/// Runs the stage `map`.
template <class Plan, class Input>
void map_all(stage_times& times, Plan& plan, Input& from, const options& chosen,
             std::size_t mappers) {
  map_splits(times, from.splits(), mappers, chosen,
             [&](std::size_t mapper, std::size_t i) { map_split(plan, from, chosen, mapper, i); });
}

}  // namespace detail

/// Runs `plan` over `from` with `mappers` mappers: in a task of a runtime, otherwise serially.
template <class Plan, input Input>
[[nodiscard]] auto run_plan(Plan& plan, Input& from, const options& chosen, std::size_t mappers) {
  result<typename Plan::job_type> made;
  const auto timed = [&](stage s, std::size_t n, function_ref<void(std::size_t)> f) {
    detail::run_stage(made.times, s, n, f);
  };
  detail::map_all(made.times, plan, from, chosen, mappers);
  if constexpr (requires { plan.combine(mappers); }) {
    timed(stage::combine, mappers, [&](std::size_t i) { plan.combine(i); });
  }
  if constexpr (requires { plan.partition(mappers); }) {
    timed(stage::partition, mappers, [&](std::size_t i) { plan.partition(i); });
  }
  const std::size_t parts = plan.partitions();
  made.emitted = plan.emitted();
  timed(stage::group, parts, [&](std::size_t i) { plan.group(i); });
  if constexpr (requires { plan.reduce(parts); }) {
    timed(stage::reduce, parts, [&](std::size_t i) { plan.reduce(i); });
  }
  made.distinct = plan.distinct();
  if constexpr (requires { plan.sort(parts); }) {
    if (chosen.sort) timed(stage::sort, parts, [&](std::size_t i) { plan.sort(i); });
  }
  {
    const detail::stopwatch watch(made.times, stage::merge);
    made.records = plan.merge();
    made.keys = plan.take_arena();
  }
  return made;
}

}  // namespace creek::mapreduce
