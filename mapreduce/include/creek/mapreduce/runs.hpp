// SPDX-License-Identifier: Apache-2.0
// The last two stages, common to all plans: every partition's records are sorted on their own, then
// the sorted runs are merged.
#pragma once

#include <algorithm>
#include <concepts>
#include <creek/core/error.hpp>
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
#include <mutex>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace creek::mapreduce {

namespace detail {

template <class Job>
concept tells_digits = orders<Job> && requires(const Job& job, const record_of<Job>& one) {
  { job.order_digits(one) } -> std::same_as<std::uint64_t>;
};
template <class Job>
concept tells_more_digits = orders<Job> && requires(const Job& job, const record_of<Job>& one) {
  { job.order_digits(one, std::size_t{}) } -> std::same_as<std::uint64_t>;
};
template <class Job>
concept tells_bytes = tells_more_digits<Job> &&
    requires(const Job& job, const record_of<Job>& one) {
  { job.order_size(one) } -> std::same_as<std::size_t>;
};

/// The order of a job's records. Where it has digits they are eight bytes each of what is compared:
/// the first ones or, by_bytes, all.
template <job Job>
struct record_order {
  using record_type = record_of<Job>;
  static constexpr bool by_key = !orders<Job> && byte_string<typename Job::key_type>;
  static constexpr bool by_bytes = by_key || tells_bytes<Job>;
  static constexpr bool has_digits = by_bytes || tells_digits<Job>;

  static_assert(by_bytes || !tells_more_digits<Job>,
                "order_digits(record, at) needs a std::size_t order_size(record)");

  const Job* job;

  [[nodiscard]] bool operator()(const record_type& a, const record_type& b) const {
    return comes_before(*job, a, b);
  }
  [[nodiscard]] std::uint64_t digits(const record_type& one,
                                     std::size_t at) const requires has_digits {
    if constexpr (by_key) {
      return key_digits<typename Job::key_type>::digits(one.key, at);
    } else if constexpr (by_bytes) {
      return job->order_digits(one, at);
    } else {
      return job->order_digits(one);
    }
  }
  [[nodiscard]] std::size_t size(const record_type& one) const requires by_bytes {
    if constexpr (by_key) {
      return key_digits<typename Job::key_type>::size(one.key);
    } else {
      return job->order_size(one);
    }
  }
};

}  // namespace detail

/// Records by partition. Different partitions may be used by different tasks at once.
template <job Job>
class runs {
 public:
  using record_type = record_of<Job>;
  using result_type = typename detail::result_value<Job>::type;
  using order = detail::record_order<Job>;

  runs(const Job& job, const options& chosen, std::size_t partitions)
      : job_(&job), options_(chosen), parts_(partitions) {}

  [[nodiscard]] std::size_t partitions() const { return parts_.size(); }

  /// Room for `count` records in a partition.
  void expect(std::size_t part, std::size_t count) {
    parts_[part].list.reserve(options_.top == 0 ? count : std::min(count, 2 * options_.top + 64));
  }

  /// The same where all partitions' sizes are known, size_of(part), before a record is added: then
  /// these can be added where merge() wants them. Every task calls it before it adds any; throws
  /// usage_error, as merge(), if there are more or fewer in the end.
  template <class SizeOf>
  void expect_all(std::size_t part, SizeOf&& size_of) {
    if constexpr (can_be_placed) {
      if (options_.top == 0) return std::call_once(placing_, [&] { place(size_of); });
    }
    expect(part, size_of(part));
  }

  /// Adds a record to partition `part`. With `options.top`, records that cannot be among the first
  /// are dropped as soon as that is known. `copy`: the key has views into what is about to die.
  void add(std::size_t part, typename Job::key_type key, result_type value, bool copy = false) {
    partition& to = parts_[part];
    record_type candidate{std::move(key), std::move(value)};
    if constexpr (can_be_placed) {
      if (!placed_.empty()) {
        if (to.size == to.room) wrong_size();
        if (copy) to.keys.keep(candidate.key);
        placed_[to.begin + to.size++] = std::move(candidate);
        return;
      }
    }
    if constexpr (sortable<Job>) {
      if (to.bounded && !comes_before(*job_, candidate, to.list.front())) return;
    }
    if (copy) to.keys.keep(candidate.key);
    to.list.push_back(std::move(candidate));
    if (options_.top != 0 && to.list.size() >= 2 * options_.top + 64) prune(to);
  }

  /// Sorts a partition.
  void sort(std::size_t part) {
    if constexpr (sortable<Job>) {
      if constexpr (order::has_digits) {
        sort_by_digits(part);
      } else {
        std::ranges::sort(records_of(part), before());
      }
      record_vector<record_type>& list = parts_[part].list;
      if (options_.top != 0 && list.size() > options_.top) {
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(options_.top), list.end());
      }
    }
  }

  /// Makes one sequence of all partitions, sorted if they are.
  [[nodiscard]] record_vector<record_type> merge() {
    if (!placed_.empty() &&
        !std::ranges::all_of(parts_, [](const auto& part) { return part.size == part.room; })) {
      wrong_size();
    }
    if constexpr (sortable<Job>) {
      if (options_.sort) {
        std::vector<detail::sorted_run<record_type>> sorted;
        for (std::size_t i = 0; i < parts_.size(); ++i) {
          if (const auto records = records_of(i); !records.empty()) {
            const auto& digits = parts_[i].digits;
            sorted.push_back({records, digits.empty() ? nullptr : digits.data()});
          }
        }
        const std::size_t wanted = options_.top == 0 ? static_cast<std::size_t>(-1) : options_.top;
        return detail::merge_runs(std::span<const detail::sorted_run<record_type>>(sorted), wanted,
                                  before());
      }
    }
    return placed_.empty() ? concatenate() : std::move(placed_);
  }

  /// The copies of keys; they must live as long as the records.
  [[nodiscard]] byte_arena take_arena() {
    byte_arena all;
    for (partition& part : parts_) all.adopt(part.keys.take_arena());
    return all;
  }

 private:
  /// One array can hold the records of all partitions while these are added side by side.
  static constexpr bool can_be_placed = std::is_trivially_copyable_v<record_type> &&
                                        std::default_initializable<record_type> &&
                                        std::is_move_assignable_v<record_type>;

  struct partition {
    record_vector<record_type> list;         // its records, or
    std::size_t begin = 0;                   // where they are in placed_,
    std::size_t size = 0, room = 0;          // how many, and will be
    std::vector<std::uint64_t> digits;       // after sort(), where the job has any
    key_store<typename Job::key_type> keys;  // no source: copies all that it is given
    bool bounded = false;                    // list.front() is then the last of the first `top`
  };

  [[nodiscard]] std::span<record_type> records_of(std::size_t part) {
    partition& from = parts_[part];
    if (placed_.empty()) return from.list;
    return std::span(placed_).subspan(from.begin, from.size);
  }

  [[nodiscard]] order before() const { return {job_}; }

  template <class SizeOf>
  void place(SizeOf&& size_of) {
    std::size_t all = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      parts_[i].begin = all;
      all += parts_[i].room = size_of(i);
    }
    placed_.resize(all);
  }
  [[noreturn]] static void wrong_size() {
    throw usage_error("table: for_each gives more or fewer keys than size says");
  }

  /// Keeps the first `top`, the last of them in front.
  void prune(partition& part) {
    if constexpr (sortable<Job>) {
      const auto last = part.list.begin() + static_cast<std::ptrdiff_t>(options_.top) - 1;
      std::nth_element(part.list.begin(), last, part.list.end(), before());
      part.list.erase(last + 1, part.list.end());
      std::swap(part.list.front(), part.list.back());
      part.bounded = true;
    }
  }

  /// Records in no order need be moved only once.
  [[nodiscard]] record_vector<record_type> concatenate() {
    std::vector<std::size_t> begin(parts_.size() + 1);
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      begin[i + 1] = begin[i] + parts_[i].list.size();
    }
    record_vector<record_type> all;
    if constexpr (std::default_initializable<record_type>) {
      all.resize(begin.back());
      detail::for_each_index(parts_.size(), [&](std::size_t i) {
        std::ranges::move(parts_[i].list, all.begin() + static_cast<std::ptrdiff_t>(begin[i]));
        record_vector<record_type>().swap(parts_[i].list);  // `= {}` would copy an empty list
      });
    } else {
      all.reserve(begin.back());
      for (partition& part : parts_) std::ranges::move(part.list, std::back_inserter(all));
    }
    return all;
  }

  /// Sorts digits, which stand side by side, and looks at records only where those are equal.
  void sort_by_digits(std::size_t part) requires order::has_digits {
    const std::span<record_type> records = records_of(part);
    std::vector<std::uint64_t>& digits = parts_[part].digits;
    digits.resize(records.size());
    for (std::size_t i = 0; i < digits.size(); ++i) {
      digits[i] = before().digits(records[i], 0);
    }
    const detail::sorted_run<record_type> all{records, digits.data()};
    record_vector<record_type> sorted;
    sorted.reserve(records.size());
    detail::digit_sorter<record_type, order>(before()).move_to(std::back_inserter(sorted),
                                                               std::span(&all, 1), digits.data());
    std::ranges::move(sorted, records.begin());
  }

  const Job* job_;
  options options_;
  std::vector<partition> parts_;
  std::once_flag placing_;
  record_vector<record_type> placed_;  // all partitions' records, if not in their lists
};

}  // namespace creek::mapreduce
