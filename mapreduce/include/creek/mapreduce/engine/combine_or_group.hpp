// SPDX-License-Identifier: Apache-2.0
// Plan of jobs that allow either strategy, with the one that the options name or, if they name
// none, one chosen by the input: it starts by combining on emission, best while mappers have few
// keys, and switches to grouping when the pairs so far show that they have many: most keys would be
// in the tables of all mappers, which must be merged.
// Measured break-even (`bench_mapreduce`): three million keys for one mapper, 700 000 for two.
#pragma once

#include <algorithm>
#include <atomic>
#include <concepts>
#include <creek/mapreduce/engine/combine_on_emit.hpp>
#include <creek/mapreduce/engine/emit_and_group.hpp>
#include <creek/mapreduce/job.hpp>
#include <creek/mapreduce/options.hpp>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace creek::mapreduce {

/// Jobs for which grouping can be faster than combining: their pairs are moved, and their table is
/// the general one.
template <class Job>
concept combines_or_groups = combines<Job> && detail::emits_movable_pairs<Job> &&
    std::same_as<typename detail::table_of<Job>::type, flat_table<Job>>;

/// Stages of this plan; plan.hpp says when each is called.
template <combines_or_groups Job>
class combine_or_group {
 public:
  using job_type = Job;

  combine_or_group(const Job& job, const options& chosen, std::size_t mappers)
      : combining_(job, chosen, mappers),
        grouping_(job, chosen, mappers),
        last_(mappers),
        may_switch_(chosen.how == strategy::automatic),
        groups_(chosen.how == strategy::emit_and_group) {}

  template <class Split>
  void map(std::size_t mapper, const Split& split) {
    if (groups()) {
      hand_over(mapper);
      grouping_.map(mapper, split);
    } else {
      combining_.map(mapper, split);
      if (may_switch_) look(mapper);
    }
  }

  /// Returns whether the plan groups.
  [[nodiscard]] bool groups() const { return groups_.load(std::memory_order_relaxed); }

  /// Hands over the tables of mappers that had no split after the switch.
  void combine(std::size_t mapper) {
    if (groups()) hand_over(mapper);
  }
  void partition(std::size_t mapper) {
    if (groups()) grouping_.partition(mapper);
  }

  [[nodiscard]] std::size_t partitions() const {
    return groups() ? grouping_.partitions() : combining_.partitions();
  }
  void group(std::size_t part) { groups() ? grouping_.group(part) : combining_.group(part); }
  void reduce(std::size_t part) { groups() ? grouping_.reduce(part) : combining_.reduce(part); }
  void sort(std::size_t part) { groups() ? grouping_.sort(part) : combining_.sort(part); }
  [[nodiscard]] auto merge() { return groups() ? grouping_.merge() : combining_.merge(); }

  [[nodiscard]] std::uint64_t emitted() const {
    std::uint64_t sum = combining_.emitted() + grouping_.emitted();
    for (const auto& one : last_) sum -= one.handed_over;  // counted by both
    return sum;
  }
  [[nodiscard]] std::uint64_t distinct() const {
    return groups() ? grouping_.distinct() : combining_.distinct();
  }
  [[nodiscard]] byte_arena take_arena() {
    return groups() ? grouping_.take_arena() : combining_.take_arena();
  }

 private:
  using tally = typename combine_on_emit<Job>::tally;

  static constexpr std::uint64_t many_keys = std::uint64_t{1} << 20;    // of all mappers
  static constexpr std::uint64_t large_table = std::uint64_t{1} << 17;  // exceeds a cache of 4 MB
  static constexpr std::uint64_t new_keys = 16;  // a new key per this many pairs: it keeps growing

  struct alignas(64) mapper_state {
    tally seen;
    std::uint64_t handed_over = 0;
  };

  /// After a split: switches to grouping if this mapper's table has too many keys and grows.
  void look(std::size_t mapper) {
    const tally now = combining_.count(mapper);
    const tally before = std::exchange(last_[mapper].seen, now);
    if (now.keys > std::max(many_keys / last_.size(), large_table) &&
        (now.keys - before.keys) * new_keys > now.emitted - before.emitted) {
      groups_.store(true, std::memory_order_relaxed);
    }
  }

  void hand_over(std::size_t mapper) {
    grouping_.take(mapper, [&](auto emit) {
      combining_.hand_over(mapper, [&](auto& key, auto& value) {
        emit(key, value);
        ++last_[mapper].handed_over;
      });
    });
  }

  combine_on_emit<Job> combining_;
  emit_and_group<Job> grouping_;
  std::vector<mapper_state> last_;
  const bool may_switch_;
  std::atomic<bool> groups_;
};

}  // namespace creek::mapreduce
