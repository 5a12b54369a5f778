// SPDX-License-Identifier: Apache-2.0
// Sorted runs made into one sequence: cut by keys into ranges for the workers, each range merged
// from all runs at once by a tournament of losers (Knuth, The Art of Computer Programming
// 3, 5.4.1).
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <creek/mapreduce/detail/parallel.hpp>
#include <creek/tasking/this_worker.hpp>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

namespace creek::mapreduce::detail {

/// Records in order. `digits`, if there are any, are the first 64 bits of the order of each: where
/// those of two records differ, they say which comes first.
template <class Record>
struct sorted_run {
  std::span<Record> records;
  const std::uint64_t* digits = nullptr;

  [[nodiscard]] sorted_run part(std::size_t from, std::size_t to) const {
    return {records.subspan(from, to - from), digits == nullptr ? nullptr : digits + from};
  }
};

/// Takes records in order from several runs; of equal ones that of the first run. One thread.
template <class Record, class Before>
class run_merger {
 public:
  run_merger(std::span<const sorted_run<Record>> runs, Before before)
      : leaves_(std::bit_ceil(std::max<std::size_t>(runs.size(), 2))),
        heads_(leaves_),
        losers_(leaves_),
        before_(std::move(before)) {
    for (std::size_t i = 0; i < runs.size(); ++i) heads_[i] = {runs[i], 0};
    winner_ = play(1);
  }

  /// Moves the next `count` records, of which there are as many, to `out`.
  template <class Out>
  void move_to(Out out, std::size_t count) {
    for (; count != 0; --count) {
      head& first = heads_[winner_];
      *out++ = std::move(first.run.records[first.at++]);
      replay();
    }
  }

 private:
  struct head {
    sorted_run<Record> run{};
    std::size_t at = 0;

    [[nodiscard]] bool ended() const { return at == run.records.size(); }
  };

  /// The winner among the leaves below a node; leaves the losers in the nodes.
  std::size_t play(std::size_t node) {
    if (node >= leaves_) return node - leaves_;
    std::size_t left = play(2 * node), right = play(2 * node + 1);
    if (wins(right, left)) std::swap(left, right);
    losers_[node] = right;
    return left;
  }

  /// After the winner has moved on: only those that it has beaten can follow it.
  void replay() {
    std::size_t best = winner_;
    for (std::size_t node = (best + leaves_) / 2; node != 0; node /= 2) {
      if (wins(losers_[node], best)) std::swap(losers_[node], best);
    }
    winner_ = best;
  }

  [[nodiscard]] bool wins(std::size_t a, std::size_t b) const {
    const head &x = heads_[a], &y = heads_[b];
    if (x.ended() || y.ended()) return !x.ended();
    if (x.run.digits != nullptr && x.run.digits[x.at] != y.run.digits[y.at]) {
      return x.run.digits[x.at] < y.run.digits[y.at];
    }
    const Record &first = x.run.records[x.at], &second = y.run.records[y.at];
    return before_(first, second) || (a < b && !before_(second, first));
  }

  std::size_t leaves_;
  std::vector<head> heads_;
  std::vector<std::size_t> losers_;  // by node: 1 is the root, the children of n are 2n and 2n + 1
  std::size_t winner_ = 0;
  Before before_;
};

/// Where to cut runs so that `ranges` ranges of keys are about as long: by range, after all its
/// records, the position in each run.
template <class Record, class Before>
std::vector<std::vector<std::size_t>> cuts_of(std::span<const sorted_run<Record>> runs,
                                              std::size_t total, std::size_t ranges,
                                              const Before& before) {
  const std::size_t step = std::max<std::size_t>(1, total / (32 * ranges));
  std::vector<const Record*> sample;
  for (const auto& run : runs) {
    for (std::size_t i = step / 2; i < run.records.size(); i += step) {
      sample.push_back(&run.records[i]);
    }
  }
  std::ranges::sort(sample, [&](const Record* a, const Record* b) { return before(*a, *b); });
  std::vector cuts(ranges, std::vector<std::size_t>(runs.size()));
  for_each_index(ranges, [&](std::size_t range) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const std::span<Record> records = runs[i].records;
      cuts[range][i] = records.size();
      if (range + 1 == ranges) continue;
      const Record& splitter = *sample[(range + 1) * sample.size() / ranges];
      const auto cut = std::ranges::lower_bound(records, splitter, before);
      cuts[range][i] = static_cast<std::size_t>(cut - records.begin());
    }
  });
  return cuts;
}

/// The first `wanted` records of all runs, in order, on the workers of the caller's runtime. The
/// runs are left moved from.
template <class Record, class Before>
std::vector<Record> merge_runs(std::span<const sorted_run<Record>> runs, std::size_t wanted,
                               const Before& before) {
  std::size_t total = 0;
  for (const auto& run : runs) total += run.records.size();
  wanted = std::min(wanted, total);
  constexpr std::size_t worth_a_task = 4096;  // records
  std::vector<Record> all;
  if constexpr (std::default_initializable<Record>) {
    const std::size_t ranges = std::min(total / worth_a_task, std::size_t{8} * worker_count());
    if (wanted == total && ranges > 1) {
      const auto cuts = cuts_of(runs, total, ranges, before);
      all.resize(total);
      for_each_index(ranges, [&](std::size_t range) {
        std::vector<sorted_run<Record>> parts;
        std::size_t begin = 0, size = 0;
        for (std::size_t i = 0; i < runs.size(); ++i) {
          const std::size_t from = range == 0 ? 0 : cuts[range - 1][i], to = cuts[range][i];
          begin += from;
          size += to - from;
          if (from != to) parts.push_back(runs[i].part(from, to));
        }
        run_merger<Record, Before>(parts, before)
            .move_to(all.begin() + static_cast<std::ptrdiff_t>(begin), size);
      });
      return all;
    }
  }
  all.reserve(wanted);
  run_merger<Record, Before>(runs, before).move_to(std::back_inserter(all), wanted);
  return all;
}

}  // namespace creek::mapreduce::detail
