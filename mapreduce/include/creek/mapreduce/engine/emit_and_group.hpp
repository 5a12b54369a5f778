// SPDX-License-Identifier: Apache-2.0
// Plan for jobs without a combiner, or that do not use it: a mapper numbers the keys that it meets
// and keeps each value with the number of its key, by partition. One task then numbers the keys of
// a partition of all mappers and moves the values of each key together, for `reduce`. Small pairs
// with integer keys are moved whole instead.
#pragma once

#include <creek/core/io/block_pool.hpp>
#include <creek/mapreduce/detail/line_allocator.hpp>
#include <creek/mapreduce/engine/emit_and_move.hpp>
#include <creek/mapreduce/engine/runs.hpp>
#include <creek/mapreduce/failures.hpp>
#include <creek/mapreduce/input.hpp>
#include <creek/mapreduce/job.hpp>
#include <creek/mapreduce/options.hpp>
#include <creek/mapreduce/tables/grouped_values.hpp>
#include <creek/mapreduce/tables/hash_slots.hpp>
#include <creek/mapreduce/tables/input_prefetcher.hpp>
#include <creek/mapreduce/tables/key_store.hpp>
#include <creek/mapreduce/tables/pieces.hpp>
#include <creek/mapreduce/tables/waiting_pairs.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace creek::mapreduce {

/// Stages of this plan; plan.hpp says when each is called. `combine` and `partition` do nothing.
template <job Job>
class emit_and_group {
 public:
  using job_type = Job;
  using key_type = typename Job::key_type;
  using value_type = typename Job::value_type;

  static_assert(detail::job_requirements<Job>::met);

  emit_and_group(const Job& job, const options& chosen, std::size_t mappers)
      : job_(&job),
        failures_(chosen.failures),
        mappers_(mappers),
        groups_(detail::hash_partitions),
        sizes_(detail::hash_partitions),
        runs_(job, chosen, detail::hash_partitions) {}

  template <class Split>
  void map(std::size_t index, const Split& split) {
    if (!mappers_[index]) mappers_[index].emplace(*job_, pool_);
    mapper& mine = *mappers_[index];
    const text_split text = detail::text_of(split);
    mine.source(text.text, text.stable);
    mine.will_read(detail::memory_of(split));
    detail::call_map(*job_, split, mine);
    mine.flush();
  }

  [[nodiscard]] std::size_t partitions() const { return detail::hash_partitions; }

  /// Brings the values of each key of a partition together.
  void group(std::size_t part) {
    grouped& here = groups_[part];
    std::vector<std::vector<std::uint32_t>> numbers(mappers_.size());
    for (std::size_t i = 0; i < mappers_.size(); ++i) {
      if (mappers_[i]) numbers[i] = here.take_keys(mappers_[i]->keys_of(part));
    }
    sizes_[part] = here.keys ? here.keys->size() : 0;
    if (sizes_[part] == 0) return;
    here.values = grouped_values(sizes_[part]);
    for_each_value(part,
                   [&](std::size_t i, numbered& one) { here.values.expect(numbers[i][one.key]); });
    here.values.allocate();
    for_each_value(part, [&](std::size_t i, numbered& one) {
      here.values.add(numbers[i][one.key], std::move(one.value));
    });
    for (auto& each : mappers_) {
      if (each) each->values_of(part) = {};
    }
  }

  /// Reduces the values of every key of a partition to a record.
  void reduce(std::size_t part) {
    grouped& here = groups_[part];
    if (!here.keys) return;
    runs_.expect(part, sizes_[part]);
    here.keys->for_each([&](std::uint32_t, stored& key, std::uint32_t number) {
      key.visit([&](key_type& visited) { reduce_key(part, visited, here.values[number]); });
    });
    here = {};
  }

  void sort(std::size_t part) { runs_.sort(part); }
  [[nodiscard]] auto merge() { return runs_.merge(); }

  [[nodiscard]] std::uint64_t emitted() const {
    std::uint64_t sum = 0;
    for (const auto& each : mappers_) sum += each ? each->emitted() : 0;
    return sum;
  }
  [[nodiscard]] std::uint64_t distinct() const {
    return std::accumulate(sizes_.begin(), sizes_.end(), std::uint64_t{0});
  }
  [[nodiscard]] byte_arena take_arena() {
    byte_arena all = runs_.take_arena();
    for (auto& each : mappers_) {
      if (each) all.adopt(each->take_arena());
    }
    return all;
  }

 private:
  using pairs = detail::waiting_pairs<Job>;
  using stored = typename pairs::stored;
  using key_numbers = detail::hash_slots<stored, std::uint32_t>;
  using grouped_values = detail::grouped_values<value_type>;

  struct numbered {
    std::uint32_t key;
    value_type value;
  };

  /// Pairs that a mapper emitted.
  class mapper {
   public:
    mapper(const Job& job, const std::shared_ptr<block_pool>& pool)
        : keys_(detail::make_partitions<key_numbers>(pool)), waiting_(job) {}

    void source(std::string_view text, bool stable) {
      waiting_.source(text);
      store_.source(text, stable);
    }
    void operator()(key_type key, value_type value) {
      input_.count_pair();
      waiting_.add(waiting_.make(waiting_.store(std::move(key)), std::move(value)), *this);
    }
    void flush() { waiting_.flush(*this); }
    void will_read(std::string_view memory) noexcept { input_.begin(memory); }

    [[nodiscard]] key_numbers& keys_of(std::size_t part) noexcept { return keys_[part]; }
    [[nodiscard]] auto& values_of(std::size_t part) noexcept { return values_[part]; }
    [[nodiscard]] std::uint64_t emitted() const noexcept { return input_.pairs(); }
    [[nodiscard]] byte_arena take_arena() { return store_.take_arena(); }

   private:
    friend pairs;

    [[nodiscard]] key_numbers& slots(std::size_t part) noexcept { return keys_[part]; }
    void add(typename pairs::hashed_pair&& pair) {
      auto& values = values_[pair.part()];
      if (!values.has_room()) values.make_room();
      key_numbers& keys = keys_[pair.part()];
      auto number = static_cast<std::uint32_t>(keys.size());
      keys.add(
          pair.tag(), std::move(pair.key), std::uint32_t{number},
          [&](std::uint32_t& known, std::uint32_t) { number = known; },
          [&](stored& key) { key.keep(store_); });
      values.push_back({number, std::move(pair.value)});
    }

    detail::input_prefetcher input_;
    std::vector<key_numbers> keys_;
    std::vector<detail::pieces<numbered>> values_{detail::hash_partitions};
    pairs waiting_;
    key_store<key_type> store_;
  };

  /// A partition of all mappers.
  struct grouped {
    std::optional<key_numbers> keys;
    grouped_values values;

    /// Takes over the keys of a mapper; returns their new numbers.
    [[nodiscard]] std::vector<std::uint32_t> take_keys(key_numbers& from) {
      std::vector<std::uint32_t> numbers(from.size());
      if (!keys) {
        std::iota(numbers.begin(), numbers.end(), 0u);
        keys.emplace(std::move(from));
        return numbers;
      }
      from.for_each([&](std::uint32_t tag, stored& key, std::uint32_t old) {
        numbers[old] = static_cast<std::uint32_t>(keys->size());
        keys->add(
            tag, std::move(key), std::uint32_t{numbers[old]},
            [&](std::uint32_t& known, std::uint32_t) { numbers[old] = known; }, [](stored&) {});
      });
      from.clear();
      return numbers;
    }
  };

  /// Calls `f(mapper, numbered&)` for each value of a partition.
  template <class F>
  void for_each_value(std::size_t part, F&& f) {
    for (std::size_t i = 0; i < mappers_.size(); ++i) {
      if (mappers_[i]) mappers_[i]->values_of(part).for_each([&](numbered& one) { f(i, one); });
    }
  }

  void reduce_key(std::size_t part, key_type& key, std::span<value_type> all) {
    const bool copy = stored::is_inside(key);
    if constexpr (reduces<Job>) {
      auto reduced = detail::call_reduce(*job_, failures_, std::as_const(key),
                                         values<Job>(std::span<const value_type>(all)));
      runs_.add(part, std::move(key), std::move(reduced), copy);
    } else {
      value_type sum = std::move(all[0]);
      for (value_type& more : all.subspan(1)) job_->combine(sum, std::move(more));
      runs_.add(part, std::move(key), std::move(sum), copy);
    }
  }

  const Job* job_;
  failure_log* failures_;
  std::shared_ptr<block_pool> pool_ = std::make_shared<block_pool>();
  std::vector<detail::unshared<mapper>> mappers_;  // created when they get their first split
  std::vector<grouped> groups_;
  std::vector<std::uint64_t> sizes_;  // keys of each partition
  runs<Job> runs_;
};

/// Same stages for jobs whose pairs are moved.
template <job Job>
requires detail::emits_movable_pairs<Job>
class emit_and_group<Job> : public detail::emit_and_move<Job> {
 public:
  static_assert(detail::job_requirements<Job>::met);
  using detail::emit_and_move<Job>::emit_and_move;
};

}  // namespace creek::mapreduce
