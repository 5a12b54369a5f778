// SPDX-License-Identifier: Apache-2.0
// The last two stages, common to all plans: every partition's records are sorted on their own, then
// the sorted runs are merged pairwise in log2(partitions) rounds.
#pragma once

#include <algorithm>
#include <concepts>
#include <creek/mapreduce/byte_arena.hpp>
#include <creek/mapreduce/detail/parallel.hpp>
#include <creek/mapreduce/job.hpp>
#include <creek/mapreduce/options.hpp>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

namespace creek::mapreduce {

/// Records by partition. Different partitions may be used by different tasks at once.
template <job Job>
class runs {
 public:
  using record_type = record_of<Job>;
  using result_type = typename detail::result_value<Job>::type;

  runs(const Job& job, const options& chosen, std::size_t partitions)
      : job_(&job), options_(chosen), parts_(partitions) {}

  [[nodiscard]] std::size_t partitions() const { return parts_.size(); }

  /// Adds a record to partition `part`. With `options.top`, records that cannot be among the first
  /// are dropped as soon as that is known. `copy`: the key is a view that is about to die.
  void add(std::size_t part, typename Job::key_type key, result_type value, bool copy = false) {
    partition& to = parts_[part];
    record_type candidate{std::move(key), std::move(value)};
    if constexpr (sortable<Job>) {
      if (to.bounded && !comes_before(*job_, candidate, to.records.front())) return;
    }
    if constexpr (std::is_same_v<typename Job::key_type, std::string_view>) {
      if (copy) candidate.key = to.arena.keep(candidate.key);
    }
    to.records.push_back(std::move(candidate));
    if (options_.top != 0 && to.records.size() >= 2 * options_.top + 64) prune(to);
  }

  /// Room for `count` records in a partition.
  void expect(std::size_t part, std::size_t count) {
    parts_[part].records.reserve(options_.top == 0 ? count
                                                   : std::min(count, 2 * options_.top + 64));
  }

  /// Sorts a partition.
  void sort(std::size_t part) {
    if constexpr (sortable<Job>) {
      std::vector<record_type>& records = parts_[part].records;
      std::ranges::sort(records, before());
      if (options_.top != 0 && records.size() > options_.top) {
        records.erase(records.begin() + static_cast<std::ptrdiff_t>(options_.top), records.end());
      }
    }
  }

  /// Makes one sequence of all partitions, sorted if they are.
  [[nodiscard]] std::vector<record_type> merge() {
    if (!sortable<Job> || !options_.sort) return concatenate();
    for (std::size_t step = 1; step < parts_.size(); step *= 2) {
      const std::size_t pairs = (parts_.size() - step + 2 * step - 1) / (2 * step);
      detail::for_each_index(pairs, [&](std::size_t i) {
        merge_two(parts_[2 * step * i].records, parts_[2 * step * i + step].records);
      });
    }
    return parts_.empty() ? std::vector<record_type>{} : std::move(parts_.front().records);
  }

  /// The copies of keys; they must live as long as the records.
  [[nodiscard]] byte_arena take_arena() {
    byte_arena all;
    for (partition& part : parts_) all.adopt(std::move(part.arena));
    return all;
  }

 private:
  struct partition {
    std::vector<record_type> records;
    byte_arena arena;
    bool bounded = false;  // records.front() is then the last of the first `top`
  };

  [[nodiscard]] auto before() const {
    return [this](const record_type& a, const record_type& b) { return comes_before(*job_, a, b); };
  }

  /// Keeps the first `top`, the last of them in front.
  void prune(partition& part) {
    if constexpr (sortable<Job>) {
      const auto last = part.records.begin() + static_cast<std::ptrdiff_t>(options_.top) - 1;
      std::nth_element(part.records.begin(), last, part.records.end(), before());
      part.records.erase(last + 1, part.records.end());
      std::swap(part.records.front(), part.records.back());
      part.bounded = true;
    }
  }

  /// Records in no order need be moved only once.
  [[nodiscard]] std::vector<record_type> concatenate() {
    std::vector<std::size_t> begin(parts_.size() + 1);
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      begin[i + 1] = begin[i] + parts_[i].records.size();
    }
    std::vector<record_type> all;
    if constexpr (std::default_initializable<record_type>) {
      all.resize(begin.back());
      detail::for_each_index(parts_.size(), [&](std::size_t i) {
        std::ranges::move(parts_[i].records, all.begin() + static_cast<std::ptrdiff_t>(begin[i]));
        std::vector<record_type>().swap(parts_[i].records);  // `= {}` would copy an empty list
      });
    } else {
      all.reserve(begin.back());
      for (partition& part : parts_) std::ranges::move(part.records, std::back_inserter(all));
    }
    return all;
  }

  void merge_two(std::vector<record_type>& left, std::vector<record_type>& right) {
    if (left.empty()) left.swap(right);
    if (right.empty()) return;
    std::vector<record_type> both;
    both.reserve(left.size() + right.size());
    auto out = std::back_inserter(both);
    if constexpr (sortable<Job>) {
      std::merge(std::move_iterator(left.begin()), std::move_iterator(left.end()),
                 std::move_iterator(right.begin()), std::move_iterator(right.end()), out, before());
    }
    if (options_.top != 0 && both.size() > options_.top) {
      both.erase(both.begin() + static_cast<std::ptrdiff_t>(options_.top), both.end());
    }
    left = std::move(both);
    std::vector<record_type>().swap(right);
  }

  const Job* job_;
  options options_;
  std::vector<partition> parts_;
};

}  // namespace creek::mapreduce
