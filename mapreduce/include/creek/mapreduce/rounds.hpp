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
#include <span>
#include <utility>
#include <vector>

namespace creek::mapreduce {

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

  /// Runs one round: fill() over all splits, then combines the arrays. Returns the values of the
  /// keys in order, which may be changed and are valid until the next round. Runs and throws like
  /// mapreduce::run; after an exception the next round starts afresh.
  std::span<value_type> run(const Job& job) {
    if (this_worker() < 0) {
      std::span<value_type> made;
      detail::in_own_runtime([&] { made = run(job); });
      return made;
    }
    prepare(dense_keys_of(job));
    {
      const detail::stopwatch watch(times_, stage::map);
      map(job);
    }
    const detail::stopwatch watch(times_, stage::group);
    return group(job);
  }

  /// Returns the times of the last round: `map` and `group`.
  [[nodiscard]] const stage_times& times() const { return times_; }

 private:
  struct alignas(detail::line_bytes) partial {
    std::vector<value_type, detail::line_allocator<value_type>> values;
    bool used = false;  // in this round
  };
  static constexpr std::size_t max_parts = 256;  // parts of the input, for jobs with in_order

  void prepare(std::size_t keys) {
    keys_ = keys;
    times_ = {};
    const std::size_t wanted =
        detail::in_order<Job> ? std::min(from_->splits(), max_parts) : worker_count();
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
    const std::size_t splits = from_->splits();
    if constexpr (detail::in_order<Job>) {
      const std::size_t parts = std::min(splits, max_parts);
      detail::deal(parts, worker_count(), [&](std::size_t, std::size_t i) {
        for (std::size_t k = i * splits / parts; k < (i + 1) * splits / parts; ++k) {
          map_split(job, k, partials_[i]);
        }
      });
    } else {
      detail::deal(splits, worker_count(), [&](std::size_t mapper, std::size_t i) {
        map_split(job, i, partials_[mapper]);
      });
    }
  }

  void map_split(const Job& job, std::size_t i, partial& part) {
    detail::check_stop(options_);
    const auto fill = [&](const auto& split) {
      job.fill(split, array_of(part));
      detail::report_bytes(options_, detail::size_in_bytes(split));
    };
    if constexpr (detail::in_order<Job>) {
      detail::visit_alone(*from_, i, fill);
    } else {
      from_->visit(i, fill);
    }
    detail::report_split(options_);
  }

  /// Combines all arrays into the first.
  std::span<value_type> group(const Job& job) {
    const std::span<value_type> all = array_of(partials_.front());
    constexpr std::size_t range = 4096;  // keys; a smaller range is not worth a fork
    detail::for_each_index((keys_ + range - 1) / range, [&](std::size_t i) {
      const std::size_t end = std::min(keys_, (i + 1) * range);
      for (std::size_t p = 1; p < partials_.size(); ++p) {
        if (!partials_[p].used) continue;
        value_type* const from = partials_[p].values.data();
        for (std::size_t k = i * range; k < end; ++k) job.combine(all[k], std::move(from[k]));
      }
    });
    return all;
  }

  Input* from_;
  options options_;
  std::size_t keys_ = 0;
  std::vector<partial> partials_;
  stage_times times_;
};

}  // namespace creek::mapreduce
