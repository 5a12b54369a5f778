// SPDX-License-Identifier: Apache-2.0
// emit_and_group for small pairs with integer keys: they are emitted directly into partitions and
// grouped by moving them, which accesses memory in order; pointers to pairs would not.
#pragma once

#include <algorithm>
#include <creek/mapreduce/detail/line_allocator.hpp>
#include <creek/mapreduce/engine/gather_pairs.hpp>
#include <creek/mapreduce/engine/runs.hpp>
#include <creek/mapreduce/failures.hpp>
#include <creek/mapreduce/input.hpp>
#include <creek/mapreduce/job.hpp>
#include <creek/mapreduce/options.hpp>
#include <creek/mapreduce/tables/input_prefetcher.hpp>
#include <creek/mapreduce/tables/pieces.hpp>
#include <creek/mapreduce/tables/values.hpp>
#include <creek/tasking/hash.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace creek::mapreduce::detail {

/// Jobs whose pairs are moved.
template <class Job>
concept emits_movable_pairs =
    movable_pair<emitted<typename Job::key_type, typename Job::value_type>>;

/// Contiguous pairs; equal keys are adjacent.
template <movable_pair Pair>
class gathered_pairs {
 public:
  gathered_pairs() = default;

  /// Gathers the pairs of all pieces.
  explicit gathered_pairs(std::span<const pieces<Pair>> pieces) {
    digit_counts counts(0, 8);
    for (const auto& piece : pieces) {
      piece.for_each([&](const Pair& pair) { counts.add(spread_key(pair.key)); });
    }
    std::size_t most = 0;
    for (std::size_t digit = 0; digit < counts.digits(); ++digit) {
      size_ += counts.size(digit);
      most = std::max(most, counts.size(digit));
    }
    pairs_ = std::make_unique_for_overwrite<Pair[]>(size_);
    auto next = counts.begins();
    for (const auto& piece : pieces) {
      piece.for_each(
          [&](const Pair& pair) { pairs_[next[counts.digit_of(spread_key(pair.key))]++] = pair; });
    }
    const auto scratch = std::make_unique_for_overwrite<Pair[]>(most);
    for (std::size_t digit = 0; digit < counts.digits(); ++digit) {
      const std::size_t n = counts.size(digit);
      gather_spread(std::span(&pairs_[next[digit] - n], n), std::span(scratch.get(), n), 8, false);
    }
  }

  /// Calls `f(std::span<Pair>)` for the pairs of each key.
  template <class F>
  void for_each_key(F&& f) {
    for (std::size_t from = 0, to = 0; from < size_; from = to) {
      while (to < size_ && pairs_[to].key == pairs_[from].key) ++to;
      f(std::span(&pairs_[from], to - from));
    }
  }

 private:
  std::unique_ptr<Pair[]> pairs_;
  std::size_t size_ = 0;
};

/// Stages of this plan: emit_and_group is this class for such jobs.
template <job Job>
class emit_and_move {
 public:
  using job_type = Job;
  using key_type = typename Job::key_type;
  using value_type = typename Job::value_type;
  using pair = mapreduce::emitted<key_type, value_type>;

  static constexpr std::size_t part_count = 64;

  emit_and_move(const Job& job, const options& chosen, std::size_t mappers)
      : job_(&job),
        failures_(chosen.failures),
        mappers_(mappers),
        groups_(part_count),
        runs_(job, chosen, part_count) {}

  template <class Split>
  void map(std::size_t index, const Split& split) {
    emitter emit = emitter_of(index);
    emit.to.input.begin(memory_of(split));
    call_map(*job_, split, emit);
  }

  /// Adds a mapper's pairs from another source: calls `f` with an `emit(key, value)`.
  template <class F>
  void take(std::size_t index, F&& f) {
    f(emitter_of(index));
  }

  /// A partition much larger than its share has a key that occurs often. If the job combines, every
  /// mapper combines its own pairs of that partition, so that no single task has to do it all.
  void partition(std::size_t index) requires combines<Job> {
    mapper& mine = mappers_[index];
    std::uint64_t all = 0;
    for (const auto& part : mine.parts) all += part.size();
    const std::uint64_t heavy = 4 * all / part_count + 16384;
    for (auto& part : mine.parts) {
      if (part.size() > heavy) mine.combine(*job_, part);
    }
  }

  [[nodiscard]] std::size_t partitions() const { return part_count; }

  /// Gets a partition from all mappers and makes equal keys adjacent.
  void group(std::size_t part) {
    std::vector<pieces<pair>> pieces;
    for (mapper& m : mappers_) {
      if (!m.parts.empty()) pieces.push_back(std::exchange(m.parts[part], {}));
    }
    groups_[part].pairs = gathered_pairs<pair>(pieces);
  }

  /// Reduces every run of equal keys of a partition to a record.
  void reduce(std::size_t part) {
    key_group& all = groups_[part];
    all.pairs.for_each_key([&](std::span<pair> equal) {
      if constexpr (reduces<Job>) {
        const std::span<const pair> same = equal;
        runs_.add(part, equal[0].key,
                  call_reduce(*job_, failures_, equal[0].key, values<Job>(same)));
      } else {
        runs_.add(part, equal[0].key, combined(*job_, equal));
      }
      ++all.keys;
    });
    all.pairs = {};
  }

  void sort(std::size_t part) { runs_.sort(part); }
  [[nodiscard]] auto merge() { return runs_.merge(); }

  [[nodiscard]] std::uint64_t emitted() const {
    std::uint64_t sum = 0;
    for (const mapper& m : mappers_) sum += m.input.pairs();
    return sum;
  }
  [[nodiscard]] std::uint64_t distinct() const {
    std::uint64_t sum = 0;
    for (const key_group& g : groups_) sum += g.keys;
    return sum;
  }
  [[nodiscard]] byte_arena take_arena() { return runs_.take_arena(); }

 private:
  static value_type combined(const Job& job, std::span<pair> equal) requires combines<Job> {
    value_type sum = equal[0].value;
    for (pair& more : equal.subspan(1)) job.combine(sum, std::move(more.value));
    return sum;
  }

  /// Pairs that a mapper emitted. If the job combines, a part is combined whenever its size has
  /// doubled, so memory grows with the number of different keys, not of pairs.
  struct alignas(line_bytes) mapper {
    static constexpr std::size_t worth_combining = std::size_t{1} << 17;  // pairs

    std::vector<pieces<pair>, line_allocator<pieces<pair>>> parts;
    std::vector<std::size_t> limits;  // sizes at which parts are combined
    input_prefetcher input;

    void combine(const Job& job, pieces<pair>& part) requires combines<Job> {
      std::vector<pair> sums;
      gathered_pairs<pair>({&part, 1}).for_each_key([&](std::span<pair> equal) {
        sums.push_back({equal[0].key, combined(job, equal)});
      });
      part.assign(std::move(sums));
    }
    void make_room(const Job& job, std::size_t index) {
      if constexpr (combines<Job>) {
        if (parts[index].size() >= limits[index]) {
          combine(job, parts[index]);
          limits[index] = std::max(worth_combining, 2 * parts[index].size());
        }
      }
      parts[index].make_room();
    }
  };
  struct key_group {
    gathered_pairs<pair> pairs;
    std::uint64_t keys = 0;
  };
  struct emitter {
    const Job& job;
    const hash_secret& secret;
    mapper& to;
    void operator()(key_type key, value_type value) {
      const std::size_t index = hash_of(job, key, secret) >> 58;
      to.input.count_pair();
      if (!to.parts[index].has_room()) to.make_room(job, index);
      to.parts[index].push_back({key, value});
    }
  };

  emitter emitter_of(std::size_t index) {
    mapper& mine = mappers_[index];
    if (mine.parts.empty()) {
      mine.limits.assign(part_count, mapper::worth_combining);
      mine.parts.resize(part_count);
    }
    return {*job_, *secret_, mine};
  }

  const Job* job_;
  failure_log* failures_;
  const hash_secret* secret_ = &current_hash_secret();
  std::vector<mapper> mappers_;
  std::vector<key_group> groups_;
  runs<Job> runs_;
};

}  // namespace creek::mapreduce::detail
