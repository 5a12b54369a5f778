// SPDX-License-Identifier: Apache-2.0
// Plan for jobs with a combiner: each emitted pair is combined at once with its key's other pairs
// in the mapper's own hash table. Only one pair per key and mapper remains to be moved, already
// partitioned; one task then merges a partition of all mappers, without locks. A job may bring a
// table that all mappers share instead (combine_shared.hpp).
#pragma once

#include <concepts>
#include <creek/core/io/block_pool.hpp>
#include <creek/mapreduce/detail/line_allocator.hpp>
#include <creek/mapreduce/engine/combine_shared.hpp>
#include <creek/mapreduce/engine/runs.hpp>
#include <creek/mapreduce/failures.hpp>
#include <creek/mapreduce/input.hpp>
#include <creek/mapreduce/job.hpp>
#include <creek/mapreduce/options.hpp>
#include <creek/mapreduce/tables/dense_table.hpp>
#include <creek/mapreduce/tables/table.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
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
template <dense Job>
requires(!requires { typename Job::table_type; }) struct table_of<Job> {
  using type = dense_table<Job>;
};
}  // namespace detail

/// Stages of this plan; plan.hpp says when each is called. `combine` is part of `map`, and
/// `partition` does nothing.
template <combines Job>
class combine_on_emit {
 public:
  static_assert(detail::job_requirements<Job>::met);
  using job_type = Job;
  using table_type = typename detail::table_of<Job>::type;
  static_assert(table<table_type>, "table_type of a job must be a table, see tables/table.hpp");

  combine_on_emit(const Job& job, const options& chosen, std::size_t mappers)
      : job_(&job),
        failures_(chosen.failures),
        tables_(mappers),
        runs_(job, chosen, table_type::partitions) {}

  template <class Split>
  void map(std::size_t mapper, const Split& split) {
    if (!tables_[mapper]) make(tables_[mapper]);
    table_type& mine = *tables_[mapper];
    const text_split text = detail::text_of(split);
    mine.source(text.text, text.stable);
    if constexpr (requires { mine.will_read(text.text); }) {
      mine.will_read(detail::memory_of(split));
    }
    detail::call_map(*job_, split, mine);
    mine.flush();
  }

  /// Number of pairs that a mapper emitted, and number of different keys among them.
  struct tally {
    std::uint64_t emitted = 0;
    std::uint64_t keys = 0;
  };
  [[nodiscard]] tally count(std::size_t mapper) const {
    tally made;
    if (const auto& mine = tables_[mapper]) {
      made.emitted = mine->emitted();
      for (std::size_t part = 0; part < table_type::partitions; ++part)
        made.keys += mine->size(part);
    }
    return made;
  }

  /// Calls `f(key, value)` for the combined pairs of a mapper and removes them from this
  /// plan.
  template <class F>
  void hand_over(std::size_t mapper, F&& f) {
    auto& mine = tables_[mapper];
    if (!mine) return;
    for (std::size_t part = 0; part < table_type::partitions; ++part) {
      mine->for_each(part, f);
      mine->clear(part);
    }
  }

  [[nodiscard]] std::size_t partitions() const { return table_type::partitions; }

  /// Merges a partition of all mappers into the first mapper's table.
  void group(std::size_t part) {
    table_type* first = nullptr;
    for (auto& table : tables_) {
      if (!table) continue;
      if (first == nullptr) {
        first = &*table;
      } else {
        first->merge(*table, part);
      }
    }
  }

  /// Calls `f(key, value)` for the pairs of a partition.
  template <class F>
  void for_each(std::size_t part, F&& f) {
    for (auto& table : tables_) {
      if (table) table->for_each(part, f);
    }
  }

  /// Turns a partition into records and frees it.
  void reduce(std::size_t part) {
    if constexpr (!detail::has_part_of_keys<Job>) {
      runs_.expect_all(part, [this](std::size_t i) {
        std::size_t size = 0;
        for (const auto& table : tables_) size += table ? table->size(i) : 0;
        return size;
      });
    }
    for (auto& table : tables_) {
      if (!table || table->size(part) == 0) continue;
      sizes_[part] += table->size(part);
      table->for_each(part, [&](auto&& key, auto&& value) { add(part, key, value); });
      table->clear(part);
    }
  }

  void sort(std::size_t part) { runs_.sort(part); }
  [[nodiscard]] auto merge() { return runs_.merge(); }

  [[nodiscard]] std::uint64_t emitted() const {
    std::uint64_t sum = 0;
    for (const auto& table : tables_) sum += table ? table->emitted() : 0;
    return sum;
  }
  [[nodiscard]] std::uint64_t distinct() const {
    return std::accumulate(sizes_.begin(), sizes_.end(), std::uint64_t{0});
  }
  [[nodiscard]] byte_arena take_arena() {
    byte_arena all = runs_.take_arena();
    for (auto& table : tables_) {
      if (table) all.adopt(table->take_arena());
    }
    return all;
  }

 private:
  void make(detail::unshared<table_type>& table) {
    if constexpr (std::constructible_from<table_type, const Job&, decltype(pool_)>) {
      table.emplace(*job_, pool_);
    } else if constexpr (std::constructible_from<table_type, const Job&>) {
      table.emplace(*job_);
    } else {
      table.emplace();
    }
  }

  template <class Key, class Value>
  void add(std::size_t part, Key& key, Value& value) {
    const bool copy = table_type::must_copy(key);
    if constexpr (reduces<Job>) {
      if constexpr (detail::has_part_of_keys<Job>) {
        if (!job_->belongs_here(key)) return;
      }
      emitted_type pair{std::move(key), std::move(value)};
      auto reduced = detail::call_reduce(*job_, failures_, pair.key,
                                         values<Job>(std::span<const emitted_type>(&pair, 1)));
      runs_.add(part, std::move(pair.key), std::move(reduced), copy);
    } else {
      detail::add_own(*job_, runs_, part, std::move(key), std::move(value), copy);
    }
  }
  using emitted_type = mapreduce::emitted<typename Job::key_type, typename Job::value_type>;

  const Job* job_;
  failure_log* failures_;
  std::shared_ptr<block_pool> pool_ = std::make_shared<block_pool>();
  std::vector<detail::unshared<table_type>>
      tables_;  // created when their mapper gets its first split
  std::vector<std::uint64_t> sizes_ = std::vector<std::uint64_t>(table_type::partitions);
  runs<Job> runs_;
};

/// Same stages for jobs whose mappers share one table.
template <combines Job>
requires shared_table<typename detail::table_of<Job>::type>
class combine_on_emit<Job> : public detail::combine_shared<Job> {
 public:
  using detail::combine_shared<Job>::combine_shared;
};

}  // namespace creek::mapreduce
