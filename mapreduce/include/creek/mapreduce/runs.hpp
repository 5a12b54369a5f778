// SPDX-License-Identifier: Apache-2.0
// The last two stages, common to all plans: every partition's records are sorted on their own, then
// the sorted runs are merged.
#pragma once

#include <algorithm>
#include <concepts>
#include <creek/mapreduce/byte_arena.hpp>
#include <creek/mapreduce/detail/parallel.hpp>
#include <creek/mapreduce/job.hpp>
#include <creek/mapreduce/key_store.hpp>
#include <creek/mapreduce/merge_runs.hpp>
#include <creek/mapreduce/options.hpp>
#include <creek/mapreduce/radix_sort.hpp>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

namespace creek::mapreduce {

namespace detail {

template <class Job>
concept tells_digits = orders<Job> && requires(const Job& job, const record_of<Job>& one) {
  { job.order_digits(one) } -> std::same_as<std::uint64_t>;
};

/// Jobs whose order begins with numbers.
template <class Job>
concept has_digits = tells_digits<Job> ||(!orders<Job> && byte_string<typename Job::key_type>);

template <has_digits Job>
std::uint64_t order_digits(const Job& job, const record_of<Job>& one) {
  if constexpr (tells_digits<Job>) {
    return job.order_digits(one);
  } else {
    return key_digits<typename Job::key_type>::digits(one.key, 0);
  }
}

}  // namespace detail

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
  /// are dropped as soon as that is known. `copy`: the key has views into what is about to die.
  void add(std::size_t part, typename Job::key_type key, result_type value, bool copy = false) {
    partition& to = parts_[part];
    record_type candidate{std::move(key), std::move(value)};
    if constexpr (sortable<Job>) {
      if (to.bounded && !comes_before(*job_, candidate, to.records.front())) return;
    }
    if (copy) to.keys.keep(candidate.key);
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
      if constexpr (detail::has_digits<Job>) {
        sort_by_digits(parts_[part]);
      } else {
        std::ranges::sort(records, before());
      }
      if (options_.top != 0 && records.size() > options_.top) {
        records.erase(records.begin() + static_cast<std::ptrdiff_t>(options_.top), records.end());
      }
    }
  }

  /// Makes one sequence of all partitions, sorted if they are.
  [[nodiscard]] std::vector<record_type> merge() {
    if constexpr (sortable<Job>) {
      if (options_.sort) {
        std::vector<detail::sorted_run<record_type>> sorted;
        for (partition& part : parts_) {
          if (part.records.empty()) continue;
          sorted.push_back({part.records, part.digits.empty() ? nullptr : part.digits.data()});
        }
        const std::size_t wanted = options_.top == 0 ? static_cast<std::size_t>(-1) : options_.top;
        return detail::merge_runs(std::span<const detail::sorted_run<record_type>>(sorted), wanted,
                                  before());
      }
    }
    return concatenate();
  }

  /// The copies of keys; they must live as long as the records.
  [[nodiscard]] byte_arena take_arena() {
    byte_arena all;
    for (partition& part : parts_) all.adopt(part.keys.take_arena());
    return all;
  }

 private:
  struct partition {
    std::vector<record_type> records;
    std::vector<std::uint64_t> digits;       // after sort(), where the job has any
    key_store<typename Job::key_type> keys;  // no source: copies all that it is given
    bool bounded = false;                    // records.front() is then the last of the first `top`
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

  /// Sorts digits, which stand side by side, and looks at records only where those are equal.
  void sort_by_digits(partition& part) requires detail::has_digits<Job> {
    struct entry {
      std::uint64_t digits;
      std::size_t at;
    };
    std::vector<record_type>& records = part.records;
    std::vector<entry> order(records.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      order[i] = {detail::order_digits(*job_, records[i]), i};
    }
    std::ranges::sort(order, [&](const entry& a, const entry& b) {
      if (a.digits != b.digits) return a.digits < b.digits;
      return comes_before(*job_, records[a.at], records[b.at]);
    });
    std::vector<record_type> sorted;
    sorted.reserve(records.size());
    part.digits.reserve(records.size());
    for (const entry& next : order) {
      sorted.push_back(std::move(records[next.at]));
      part.digits.push_back(next.digits);
    }
    records = std::move(sorted);
  }

  const Job* job_;
  options options_;
  std::vector<partition> parts_;
};

}  // namespace creek::mapreduce
