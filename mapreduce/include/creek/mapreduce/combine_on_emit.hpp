// SPDX-License-Identifier: Apache-2.0
// The plan for jobs with a combiner: a pair is combined with its key's others in the mapper's own
// hash table the moment it is emitted. What is left to move is one pair a key and mapper, already
// partitioned; a partition of all mappers is then merged by one task, without locks.
#pragma once

#include <creek/mapreduce/input.hpp>
#include <creek/mapreduce/job.hpp>
#include <creek/mapreduce/options.hpp>
#include <creek/mapreduce/runs.hpp>
#include <creek/mapreduce/table.hpp>
#include <cstddef>
#include <utility>
#include <vector>

namespace creek::mapreduce {

namespace detail {
template <class Job>
struct table_of {
  using type = flat_table<Job>;
};
template <class Job>
requires requires {
  typename Job::table_type;
}
struct table_of<Job> {
  using type = typename Job::table_type;
};
}  // namespace detail

/// The stages of this plan; see plan.hpp for what calls them when. `combine` is part of `map`, and
/// `partition` has nothing to do.
template <combines Job>
class combine_on_emit {
 public:
  using job_type = Job;
  using table_type = typename detail::table_of<Job>::type;

  combine_on_emit(const Job& job, const options& chosen, std::size_t mappers)
      : job_(&job), runs_(job, chosen, table_type::partitions) {
    static_assert(table<table_type>);
    tables_.reserve(mappers);
    for (std::size_t i = 0; i < mappers; ++i) {
      if constexpr (std::constructible_from<table_type, const Job&>) {
        tables_.emplace_back(job);
      } else {
        tables_.emplace_back();
      }
    }
  }

  template <class Split>
  void map(std::size_t mapper, const Split& split) {
    table_type& mine = tables_[mapper];
    if constexpr (std::is_same_v<Split, text_split>) mine.source(split.text, split.stable);
    job_->map(split, mine);
    mine.flush();
  }

  [[nodiscard]] std::size_t partitions() const { return table_type::partitions; }

  /// Merges a partition of all mappers into the first table.
  void group(std::size_t part) {
    for (std::size_t i = 1; i < tables_.size(); ++i) tables_[0].merge(tables_[i], part);
  }

  /// Turns a partition into records and frees it.
  void reduce(std::size_t part) {
    runs_.expect(part, tables_[0].size(part));
    tables_[0].for_each(part, [&](auto&& key, auto&& value) { add(part, key, value); });
    sizes_[part] = tables_[0].size(part);
    tables_[0].clear(part);
  }

  void sort(std::size_t part) { runs_.sort(part); }
  [[nodiscard]] auto merge() { return runs_.merge(); }

  [[nodiscard]] std::uint64_t emitted() const {
    std::uint64_t sum = 0;
    for (const table_type& t : tables_) sum += t.emitted();
    return sum;
  }
  [[nodiscard]] std::uint64_t distinct() const {
    return std::accumulate(sizes_.begin(), sizes_.end(), std::uint64_t{0});
  }
  [[nodiscard]] byte_arena take_arena() {
    byte_arena all = runs_.take_arena();
    for (table_type& t : tables_) all.adopt(t.take_arena());
    return all;
  }

 private:
  template <class Key, class Value>
  void add(std::size_t part, Key& key, Value& value) {
    const bool copy = table_type::must_copy(key);
    if constexpr (reduces<Job>) {
      emitted_type pair{std::move(key), std::move(value)};
      const pair_ref<typename Job::key_type, typename Job::value_type> ref{0, &pair};
      auto reduced = job_->reduce(pair.key, values<Job>({&ref, 1}));
      runs_.add(part, std::move(pair.key), std::move(reduced), copy);
    } else {
      runs_.add(part, std::move(key), std::move(value), copy);
    }
  }
  using emitted_type = mapreduce::emitted<typename Job::key_type, typename Job::value_type>;

  const Job* job_;
  std::vector<table_type> tables_;
  std::vector<std::uint64_t> sizes_ = std::vector<std::uint64_t>(table_type::partitions);
  runs<Job> runs_;
};

}  // namespace creek::mapreduce
