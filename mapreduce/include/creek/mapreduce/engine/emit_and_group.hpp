// SPDX-License-Identifier: Apache-2.0
// Plan for jobs without a combiner, or that do not use it: pairs are emitted into contiguous
// buffers, pointers to them are partitioned by hash, exchanged all-to-all and radix-sorted by key,
// and every key is reduced with all its values at once: the stages of MapReduce on the SCC. Small
// pairs with integer keys are moved instead.
#pragma once

#include <algorithm>
#include <creek/mapreduce/engine/emit_and_move.hpp>
#include <creek/mapreduce/engine/radix_sort.hpp>
#include <creek/mapreduce/engine/runs.hpp>
#include <creek/mapreduce/input.hpp>
#include <creek/mapreduce/job.hpp>
#include <creek/mapreduce/options.hpp>
#include <creek/mapreduce/tables/key_store.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace creek::mapreduce {

/// Stages of this plan; plan.hpp says when each is called.
template <job Job>
class emit_and_group {
 public:
  using job_type = Job;
  using key_type = typename Job::key_type;
  using value_type = typename Job::value_type;
  using pair = mapreduce::emitted<key_type, value_type>;
  using ref = pair_ref<key_type, value_type>;

  static_assert(detail::job_requirements<Job>::met);
  static_assert(key_digits<key_type>::available || std::totally_ordered<key_type>,
                "grouping needs keys that are integers, byte strings or ordered");

  static constexpr std::size_t part_count = 64;

  emit_and_group(const Job& job, const options& chosen, std::size_t mappers)
      : job_(&job), mappers_(mappers), groups_(part_count), runs_(job, chosen, part_count) {}

  template <class Split>
  void map(std::size_t index, const Split& split) {
    mapper& mine = mappers_[index];
    if constexpr (std::is_same_v<Split, text_split>) mine.keys.source(split.text, split.stable);
    emitter emit{mine};
    detail::call_map(*job_, split, emit);
  }

  /// Sorts pointers to a mapper's pairs into partitions.
  void partition(std::size_t index) {
    mapper& mine = mappers_[index];
    mine.parts.resize(part_count);
    for (std::vector<pair>& buffer : mine.buffers) {
      for (pair& p : buffer) mine.parts[hash_of(*job_, p.key, *secret_) >> 58].push_back({0, &p});
    }
  }

  [[nodiscard]] std::size_t partitions() const { return part_count; }

  /// Fetches a partition from all mappers and sorts it by key.
  void group(std::size_t part) {
    std::vector<ref>& all = groups_[part].refs;
    std::size_t count = 0;
    for (const mapper& m : mappers_) count += m.parts[part].size();
    all.reserve(count);
    for (mapper& m : mappers_) {
      all.insert(all.end(), m.parts[part].begin(), m.parts[part].end());
      m.parts[part] = {};
    }
    sort_refs(all);
  }

  /// Reduces every run of equal keys of a partition to a record.
  void reduce(std::size_t part) {
    const std::vector<ref>& refs = groups_[part].refs;
    for (std::size_t from = 0, to = 0; from < refs.size(); from = to) {
      const key_type& key = refs[from].pair->key;
      while (to < refs.size() && refs[to].pair->key == key) ++to;
      reduce_run(part, std::span(refs).subspan(from, to - from));
      ++groups_[part].keys;
    }
    groups_[part].refs = {};
  }

  void sort(std::size_t part) { runs_.sort(part); }
  [[nodiscard]] auto merge() { return runs_.merge(); }

  [[nodiscard]] std::uint64_t emitted() const {
    std::uint64_t sum = 0;
    for (const mapper& m : mappers_) {
      for (const auto& buffer : m.buffers) sum += buffer.size();
    }
    return sum;
  }
  [[nodiscard]] std::uint64_t distinct() const {
    std::uint64_t sum = 0;
    for (const key_group& g : groups_) sum += g.keys;
    return sum;
  }
  [[nodiscard]] byte_arena take_arena() {
    byte_arena all = runs_.take_arena();
    for (mapper& m : mappers_) all.adopt(m.keys.take_arena());
    return all;
  }

 private:
  static constexpr std::size_t buffer_pairs = std::size_t{1} << 14;

  /// Pairs that a mapper emitted. A full buffer is never reallocated, so pairs stay in place.
  struct mapper {
    std::deque<std::vector<pair>> buffers;
    std::vector<std::vector<ref>> parts;
    key_store<key_type> keys;
  };

  struct key_group {
    std::vector<ref> refs;
    std::uint64_t keys = 0;
  };

  struct emitter {
    mapper& to;
    void operator()(key_type key, value_type value) {
      if (to.buffers.empty() || to.buffers.back().size() == buffer_pairs) {
        to.buffers.emplace_back().reserve(buffer_pairs);
      }
      to.keys.keep(key);
      to.buffers.back().push_back({std::move(key), std::move(value)});
    }
  };

  void reduce_run(std::size_t part, std::span<const ref> run) {
    if constexpr (reduces<Job>) {
      auto reduced = job_->reduce(run[0].pair->key, values<Job>(run));
      runs_.add(part, run[0].pair->key, std::move(reduced));
    } else {
      value_type sum = std::move(run[0].pair->value);
      for (const ref& r : run.subspan(1)) job_->combine(sum, std::move(r.pair->value));
      runs_.add(part, run[0].pair->key, std::move(sum));
    }
  }

  const Job* job_;
  const hash_secret* secret_ = &current_hash_secret();
  std::vector<mapper> mappers_;
  std::vector<key_group> groups_;
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
