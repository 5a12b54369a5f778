// SPDX-License-Identifier: Apache-2.0
// Jobs that fill arrays (dense.hpp), for one or many rounds over one input. The arrays and the cuts
// of the input are made once and kept; a round costs only a few forks. Mappers fill arrays of their
// own, which are then combined by ranges of keys: no lock is taken and no array is written by two
// tasks at a time.
#pragma once

#include <algorithm>
#include <creek/mapreduce/dense.hpp>
#include <creek/mapreduce/detail/check_options.hpp>
#include <creek/mapreduce/detail/line_allocator.hpp>
#include <creek/mapreduce/detail/parallel.hpp>
#include <creek/mapreduce/detail/stages.hpp>
#include <creek/mapreduce/detail/stopwatch.hpp>
#include <creek/mapreduce/input.hpp>
#include <creek/mapreduce/options.hpp>
#include <creek/tasking/runtime.hpp>
#include <creek/tasking/this_worker.hpp>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace creek::mapreduce {

/// The parts of an input whose arrays are combined in their order, for jobs with in_order: of
/// consecutive splits, the same number each as far as possible.
struct ordered_parts {
  static constexpr std::size_t max = 256;

  std::size_t splits = 0;  ///< of the whole input

  [[nodiscard]] std::size_t count() const noexcept { return std::min(splits, max); }
  /// Returns the first split of a part; of part count() the number of splits.
  [[nodiscard]] std::size_t begin(std::size_t part) const noexcept {
    return splits <= max ? part : part * splits / max;
  }
};

/// Parts that one of several processes has: `first` up to, but without, `end` of `of`.
struct own_parts {
  ordered_parts of;
  std::size_t first = 0;
  std::size_t end = 0;
};

/// The rounds of an iterative job. One thread or task uses it at a time:
///
///     rounds<k_means> iterate(points);         // an input, which must outlive this
///     while (...) sums = iterate.run(k_means{centres});
template <fills Job, input Input>
class rounds {
 public:
  using value_type = typename Job::value_type;

  explicit rounds(Input& from, options chosen = {}) : from_(&from), options_(std::move(chosen)) {
    detail::check<Job>(options_);
  }
  /// For a job with in_order whose input is divided among processes: `from` consists of the splits
  /// of these parts.
  rounds(Input& from, own_parts parts, options chosen = {}) requires detail::in_order<Job>
      : rounds(from, std::move(chosen)) {
    parts_ = parts;
  }

  /// Runs one round: fill() over all splits, then combines the arrays. Returns the values of the
  /// keys in order, which may be changed and are valid until the next round. Runs and throws like
  /// mapreduce::run; after an exception the next round starts afresh.
  std::span<value_type> run(const Job& job) {
    if (this_worker() < 0) {
      std::span<value_type> made;
      detail::in_own_runtime([&] { made = run(job); });
      return made;
    }
    fill(job);
    const detail::stopwatch watch(times_, stage::group);
    const std::span<value_type> all = array_of(partials_.front());
    combine(job, all, 1);
    return all;
  }

  /// The first half of a round: fill() over all splits. Called in a task.
  void fill(const Job& job) {
    prepare(dense_keys_of(job));
    const detail::stopwatch watch(times_, stage::map);
    map(job);
  }
  /// The second half, in another way: combines the arrays into `all`, in their order, behind what
  /// is there. Called in a task.
  void combine_into(const Job& job, std::span<value_type> all) { combine(job, all, 0); }

  /// Returns the times of the last round: `map` and `group`.
  [[nodiscard]] const stage_times& times() const { return times_; }

 private:
  struct alignas(detail::line_bytes) partial {
    std::vector<value_type, detail::line_allocator<value_type>> values;
    bool used = false;  // in this round
  };

  void prepare(std::size_t keys) {
    keys_ = keys;
    times_ = {};
    std::size_t wanted = worker_count();
    if constexpr (detail::in_order<Job>) {
      if (!parts_) parts_ = whole();
      wanted = parts_->end - parts_->first;
    }
    if (partials_.size() < std::max<std::size_t>(wanted, 1)) {
      partials_.resize(std::max<std::size_t>(wanted, 1));
    }
    for (partial& part : partials_) part.used = false;
  }

  /// Returns the array of a mapper or part, initially neutral; created by the task that fills it.
  std::span<value_type> array_of(partial& part) {
    if (!std::exchange(part.used, true)) part.values.assign(keys_, value_type{});
    return part.values;
  }

  void map(const Job& job) {
    if constexpr (detail::in_order<Job>) {
      const own_parts& mine = *parts_;
      const std::size_t from = mine.of.begin(mine.first);
      detail::deal(mine.end - mine.first, worker_count(), [&](std::size_t, std::size_t i) {
        const std::size_t part = mine.first + i;
        for (std::size_t k = mine.of.begin(part); k < mine.of.begin(part + 1); ++k) {
          map_split(job, k - from, partials_[i]);
        }
      });
    } else {
      detail::deal(from_->splits(), worker_count(), [&](std::size_t mapper, std::size_t i) {
        map_split(job, i, partials_[mapper]);
      });
    }
  }

  void map_split(const Job& job, std::size_t i, partial& part) {
    detail::check_stop(options_);
    const auto add = [&](const auto& split) {
      job.fill(split, array_of(part));
      detail::report_bytes(options_, detail::size_in_bytes(split));
    };
    if constexpr (detail::in_order<Job>) {
      detail::visit_alone(*from_, i, add);
    } else {
      from_->visit(i, add);
    }
    detail::report_split(options_);
  }

  /// Combines the arrays from that with number `first` on into `all`.
  void combine(const Job& job, std::span<value_type> all, std::size_t first) {
    constexpr std::size_t range = 4096;  // keys; a smaller range is not worth a fork
    detail::for_each_index((keys_ + range - 1) / range, [&](std::size_t i) {
      const std::size_t end = std::min(keys_, (i + 1) * range);
      for (std::size_t p = first; p < partials_.size(); ++p) {
        if (!partials_[p].used) continue;
        value_type* const from = partials_[p].values.data();
        for (std::size_t k = i * range; k < end; ++k) job.combine(all[k], std::move(from[k]));
      }
    });
  }

  [[nodiscard]] own_parts whole() const {
    const ordered_parts all{from_->splits()};
    return {all, 0, all.count()};
  }

  Input* from_;
  options options_;
  std::optional<own_parts> parts_;
  std::size_t keys_ = 0;
  std::vector<partial> partials_;
  stage_times times_;
};

}  // namespace creek::mapreduce
