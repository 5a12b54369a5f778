// SPDX-License-Identifier: Apache-2.0
// Plan for jobs whose `table_type` is one table for all mappers (shared_table): each mapper emits
// through a writer, which combines part of the pairs itself and hands over the rest one partition
// at a time. Nothing is left to merge, and memory does not grow with the mappers.
#pragma once

#include <creek/mapreduce/detail/line_allocator.hpp>
#include <creek/mapreduce/engine/runs.hpp>
#include <creek/mapreduce/input.hpp>
#include <creek/mapreduce/job.hpp>
#include <creek/mapreduce/options.hpp>
#include <creek/mapreduce/tables/table.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace creek::mapreduce::detail {

/// Stages of this plan: combine_on_emit is this class for such jobs.
template <class Job>
class combine_shared {
 public:
  static_assert(detail::job_requirements<Job>::met);
  using job_type = Job;
  using table_type = typename Job::table_type;
  using writer_type = typename table_type::writer;

  combine_shared(const Job& job, const options& chosen, std::size_t mappers)
      : job_(&job), writers_(mappers), runs_(job, chosen, table_type::partitions) {
    static_assert(!reduces<Job>, "jobs with a shared table combine only");
  }

  template <class Split>
  void map(std::size_t mapper, const Split& split) {
    if (!writers_[mapper]) writers_[mapper].emplace(table_);
    writer_type& mine = *writers_[mapper];
    const text_split text = detail::text_of(split);
    mine.source(text.text, text.stable);
    detail::call_map(*job_, split, mine);
    mine.flush();
  }

  /// Moves the pairs that a writer combined itself out of its cache.
  void combine(std::size_t mapper) {
    if (writers_[mapper]) writers_[mapper]->finish();
  }

  [[nodiscard]] std::size_t partitions() const { return table_type::partitions; }

  /// Moves the rest of a partition from all writers to the table.
  void group(std::size_t part) {
    for (auto& writer : writers_) {
      if (writer) writer->drain(part);
    }
  }

  /// Calls `f(key, value)` for the pairs of a partition.
  template <class F>
  void for_each(std::size_t part, F&& f) {
    table_.for_each(part, f);
  }

  /// Turns a partition into records.
  void reduce(std::size_t part) {
    if constexpr (!has_part_of_keys<Job>) {
      runs_.expect_all(part, [this](std::size_t i) -> std::size_t { return table_.size(i); });
    }
    table_.for_each(part, [&](auto&& key, auto&& value) {
      const bool copy = table_type::must_copy(key);
      add_own(*job_, runs_, part, std::move(key), std::move(value), copy);
    });
  }

  void sort(std::size_t part) { runs_.sort(part); }
  [[nodiscard]] auto merge() { return runs_.merge(); }

  [[nodiscard]] std::uint64_t emitted() const {
    std::uint64_t sum = 0;
    for (const auto& writer : writers_) sum += writer ? writer->emitted() : 0;
    return sum;
  }
  [[nodiscard]] std::uint64_t distinct() const { return table_.size(); }
  [[nodiscard]] byte_arena take_arena() {
    byte_arena all = runs_.take_arena();
    all.adopt(table_.take_arena());
    return all;
  }

 private:
  const Job* job_;
  table_type table_;
  std::vector<unshared<writer_type>> writers_;  // created at their mapper's first split
  runs<Job> runs_;
};

}  // namespace creek::mapreduce::detail
