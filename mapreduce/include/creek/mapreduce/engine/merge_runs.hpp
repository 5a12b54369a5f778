// SPDX-License-Identifier: Apache-2.0
// Merge of sorted runs into one sequence: the runs are cut by keys into ranges for the workers.
// Each range is merged from all runs at once by a loser tree ([Knuth 1998], section 5.4.1) or, if
// records have digits, radix-sorted by these.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <creek/mapreduce/detail/heap_sort.hpp>
#include <creek/mapreduce/detail/merge_sort.hpp>
#include <creek/mapreduce/detail/parallel.hpp>
#include <creek/mapreduce/engine/radix_sort.hpp>
#include <creek/mapreduce/job.hpp>
#include <creek/tasking/this_worker.hpp>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

namespace creek::mapreduce::detail {

/// Sorted records; in any order if they have digits and sorts_at_once(). `digits`, if present, are
/// the first 64 bits of each record's order: if those of two records differ, they decide which
/// comes first.
template <class Record>
struct sorted_run {
  std::span<Record> records;
  const std::uint64_t* digits = nullptr;

  [[nodiscard]] sorted_run part(std::size_t from, std::size_t to) const {
    return {records.subspan(from, to - from), digits == nullptr ? nullptr : digits + from};
  }
};

/// Merges several runs in order; of equal records, those of the earlier run come first. One thread.
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

  /// Moves the next `count` records to `out`; at least `count` must be left.
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

  /// Returns the winner among the leaves below a node and stores the losers in the nodes.
  std::size_t play(std::size_t node) {
    if (node >= leaves_) return node - leaves_;
    std::size_t left = play(2 * node), right = play(2 * node + 1);
    if (wins(right, left)) std::swap(left, right);
    losers_[node] = right;
    return left;
  }

  /// After the winner's run advanced: only runs that it has beaten can win next.
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
  std::vector<std::size_t> losers_;  // by node: 1 is the root, the children of n are 2n, 2n + 1
  std::size_t winner_ = 0;
  Before before_;
};

/// Order by byte strings, no two of which are equal and whose first eight bytes are the digits: see
/// sort_from.
template <class Before>
concept orders_by_bytes = requires {
  requires Before::by_bytes;
};

/// Sorts records by their digits, which is faster than comparing them if they fit the core's cache.
/// One thread; reuses its memory.
template <class Record, class Before>
class alignas(64) digit_sorter {  // neighbours share no cache line
 public:
  explicit digit_sorter(Before before) : before_(std::move(before)) {}

  /// Moves the records of `runs`, which have digits and may be in any order, to `out`; of equal
  /// ones those of the earlier run come first. Stores their digits in `digits` unless it is null.
  template <class Out>
  void move_to(Out out, std::span<const sorted_run<Record>> runs, std::uint64_t* digits = nullptr) {
    std::size_t size = 0;
    for (const auto& run : runs) size += run.records.size();
    order_.resize(size);
    scratch_.resize(size);
    place* next = order_.data();
    for (std::size_t run = 0; run < runs.size(); ++run) {
      for (std::size_t at = 0; at < runs[run].records.size(); ++at) {
        *next++ = {runs[run].digits[at], run, at};
      }
    }
    sort_effort effort;
    sort_by_digits(std::span(order_), std::span(scratch_), effort);
    if (digits != nullptr) std::ranges::transform(order_, digits, &place::digits);
    const auto record = [&](const place& one) -> Record& { return runs[one.run].records[one.at]; };
    if constexpr (orders_by_bytes<Before>) {
      sort_ties(std::span(order_), std::span(scratch_), effort, 8, bytes_of_places{before_, runs});
    } else {
      for_each_run(std::span(order_), [&](std::span<place> equal) {
        if (equal.size() == 1) return;
        std::ranges::sort(equal, [](const place& a, const place& b) {
          return a.run != b.run ? a.run < b.run : a.at < b.at;
        });
        merge_sort(equal, std::span(scratch_),
                   [&](const place& a, const place& b) { return before_(record(a), record(b)); });
      });
    }
    for (const place& one : order_) *out++ = std::move(record(one));
  }

 private:
  struct place {
    std::uint64_t digits;
    std::uint64_t run : 16, at : 48;
  };
  struct bytes_of_places {
    const Before& order;
    std::span<const sorted_run<Record>> runs;

    const Record& record(const place& one) const { return runs[one.run].records[one.at]; }
    std::uint64_t digits(const place& one, std::size_t from) const {
      return order.digits(record(one), from);
    }
    std::size_t size(const place& one) const { return order.size(record(one)); }
    bool before(const place& a, const place& b) const { return order(record(a), record(b)); }
  };

  Before before_;
  std::vector<place> order_, scratch_;
};

/// Number of records worth a task of its own.
inline constexpr std::size_t worth_a_task = 4096;
/// Number of records with digits that fit the core's cache while they are sorted.
inline constexpr std::size_t in_cache = 16384;

/// Returns whether merge_runs() sorts so many records with digits at once, whatever their order:
/// with several workers if they are not worth two tasks.
inline bool sorts_at_once(std::size_t total) {
  return total > 0 && total <= (worker_count() == 1 ? in_cache : 2 * worth_a_task - 1);
}

/// Returns the cuts of the runs into `ranges` ranges of keys of similar length: per range, the end
/// position in each run.
template <class Record, class Before>
std::vector<std::vector<std::size_t>> cuts_of(std::span<const sorted_run<Record>> runs,
                                              std::size_t total, std::size_t ranges,
                                              const Before& before) {
  struct splitter {
    const Record* record;
    std::uint64_t digits;
  };
  const auto at = [](const sorted_run<Record>& run, std::size_t i) {
    return splitter{&run.records[i], run.digits == nullptr ? 0 : run.digits[i]};
  };
  const auto precedes = [&](const splitter& a, const splitter& b) {
    return a.digits != b.digits ? a.digits < b.digits : before(*a.record, *b.record);
  };
  const std::size_t step = std::max<std::size_t>(1, total / (32 * ranges));
  std::vector<splitter> sample;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    // Samples start at a different position in each run, because runs are similar to each other.
    const std::uint64_t spread = static_cast<std::uint32_t>(run * 0x9E3779B9u);
    const auto first = static_cast<std::size_t>(spread * step >> 32);
    for (std::size_t i = first; i < runs[run].records.size(); i += step) {
      sample.push_back(at(runs[run], i));
    }
  }
  heap_sort(sample, precedes);
  std::vector cuts(ranges, std::vector<std::size_t>(runs.size()));
  for_each_index(ranges, [&](std::size_t range) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      cuts[range][i] = runs[i].records.size();
      if (range + 1 == ranges || sample.empty()) continue;
      const splitter& wanted = sample[(range + 1) * sample.size() / ranges];
      std::size_t low = 0, high = runs[i].records.size();
      while (low < high) {
        const std::size_t middle = low + (high - low) / 2;
        if (precedes(at(runs[i], middle), wanted)) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      cuts[range][i] = low;
    }
  });
  // Makes the cuts monotonic, which they are not if keys change meanwhile.
  for (std::size_t range = 1; range < ranges; ++range) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      cuts[range][i] = std::max(cuts[range][i], cuts[range - 1][i]);
    }
  }
  return cuts;
}

/// Returns the first `wanted` records of all runs, in order, merged on the workers of the current
/// runtime; of equal records (none in an order by bytes) those of the earlier run come first.
/// Either all runs have digits or none. Leaves the runs moved from.
template <class Record, class Before>
record_vector<Record> merge_runs(std::span<const sorted_run<Record>> runs, std::size_t wanted,
                                 const Before& before) {
  std::size_t total = 0;
  for (const auto& run : runs) total += run.records.size();
  wanted = std::min(wanted, total);
  record_vector<Record> all;
  if constexpr (std::default_initializable<Record>) {
    const bool by_digits = total > 0 && runs.front().digits != nullptr;
    const std::size_t workers = worker_count(), worth = total / worth_a_task;
    const std::size_t ranges = by_digits ? std::max(total / in_cache, std::min(worth, workers))
                                         : std::min(worth, 8 * workers);
    if (wanted == total && ranges > 1 && !(by_digits && sorts_at_once(total))) {
      const auto cuts = cuts_of(runs, total, ranges, before);
      all.resize(total);
      std::vector<digit_sorter<Record, Before>> sorters(workers,
                                                        digit_sorter<Record, Before>(before));
      deal(ranges, sorters.size(), [&](std::size_t taker, std::size_t range) {
        std::vector<sorted_run<Record>> parts;
        std::size_t begin = 0, size = 0;
        for (std::size_t i = 0; i < runs.size(); ++i) {
          const std::size_t from = range == 0 ? 0 : cuts[range - 1][i], to = cuts[range][i];
          begin += from;
          size += to - from;
          if (from != to) parts.push_back(runs[i].part(from, to));
        }
        const auto out = all.begin() + static_cast<std::ptrdiff_t>(begin);
        if (by_digits) {
          sorters[taker].move_to(out, parts);
        } else {
          run_merger<Record, Before>(parts, before).move_to(out, size);
        }
      });
      return all;
    }
  }
  all.reserve(wanted);
  if (wanted == total && sorts_at_once(total) && runs.front().digits != nullptr) {
    digit_sorter<Record, Before>(before).move_to(std::back_inserter(all), runs);
  } else {
    run_merger<Record, Before>(runs, before).move_to(std::back_inserter(all), wanted);
  }
  return all;
}

}  // namespace creek::mapreduce::detail
