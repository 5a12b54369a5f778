// SPDX-License-Identifier: Apache-2.0
// The last two stages of all plans: the records of each partition are sorted separately, then the
// sorted runs are merged; or all are sorted in the last stage, if they can be copied as bytes and
// have no digits, or if they are few.
#pragma once

#include <algorithm>
#include <concepts>
#include <creek/core/error.hpp>
#include <creek/mapreduce/detail/key_views.hpp>
#include <creek/mapreduce/detail/parallel.hpp>
#include <creek/mapreduce/engine/merge_runs.hpp>
#include <creek/mapreduce/engine/record_order.hpp>
#include <creek/mapreduce/job.hpp>
#include <creek/mapreduce/options.hpp>
#include <creek/mapreduce/tables/byte_arena.hpp>
#include <creek/mapreduce/tables/key_store.hpp>
#include <creek/tasking/parallel_sort.hpp>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <mutex>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace creek::mapreduce {

/// Records by partition. Different tasks may use different partitions at once.
template <class Order>
class ordered_runs {
 public:
  using record_type = typename Order::record_type;
  using key_type = decltype(record_type::key);
  using result_type = decltype(record_type::value);

  template <class Job>
  ordered_runs(const Job& job, const options& chosen, std::size_t partitions)
      : before_{&job}, options_(chosen), parts_(partitions) {}

  [[nodiscard]] std::size_t partitions() const { return parts_.size(); }

  /// Reserves room for `count` records in a partition.
  void expect(std::size_t part, std::size_t count) {
    parts_[part].list.reserve(options_.top == 0 ? count : std::min(count, 2 * options_.top + 64));
  }

  /// Same if all partitions' sizes, size_of(part), are known before a record is added: then records
  /// can be added at their position for merge(). Every task calls it before it adds records; add()
  /// and merge() throw usage_error if there are more or fewer records in the end.
  template <class SizeOf>
  void expect_all(std::size_t part, SizeOf&& size_of) {
    if constexpr (can_be_placed) {
      if (options_.top == 0) return std::call_once(placing_, [&] { place(size_of); });
    }
    expect(part, size_of(part));
  }

  /// Adds a record to partition `part`. With `options.top`, drops records as soon as they cannot be
  /// among the first. `copy`: the key has views into text that goes away.
  void add(std::size_t part, key_type key, result_type value, bool copy = false) {
    add_if(part, std::move(key), std::move(value), copy, [](const key_type&) { return true; });
  }
  /// Same for a key of which `belongs` holds, which is asked only if the record is not dropped.
  template <class Belongs>
  void add_if(std::size_t part, key_type key, result_type value, bool copy, Belongs&& belongs) {
    copy = copy || sorts_views;
    partition& to = parts_[part];
    record_type candidate{std::move(key), std::move(value)};
    if constexpr (can_be_placed) {
      if (!placed_.empty()) {
        if (!belongs(std::as_const(candidate.key))) return;
        if (to.size == to.room) wrong_size();
        if (copy) to.keys.keep(candidate.key);
        placed_[to.begin + to.size++] = std::move(candidate);
        return;
      }
    }
    if constexpr (Order::sorts) {
      if (to.bounded && !before_(candidate, to.list.front())) return;
    }
    if (!belongs(std::as_const(candidate.key))) return;
    if (copy) to.keys.keep(candidate.key);
    to.list.push_back(std::move(candidate));
    if (options_.top != 0 && to.list.size() >= 2 * options_.top + 64) prune(to);
  }

  /// Sorts a partition, unless all are sorted together when they are merged. Called when all
  /// partitions have their records.
  void sort(std::size_t part);

  /// Returns the records of all partitions as one sequence, sorted if they are.
  [[nodiscard]] record_vector<record_type> merge();

  /// Returns the copies of keys; they must live as long as the records.
  [[nodiscard]] byte_arena take_arena() {
    byte_arena all;
    for (partition& part : parts_) all.adopt(part.keys.take_arena());
    return all;
  }

 private:
  /// Keys in mapped files may change during a sort, which std::sort does not tolerate.
  static constexpr bool sorts_views =
      Order::sorts && !Order::has_digits && detail::holds_views<key_type>();
  /// Whether one array can hold the records of all partitions while they are added concurrently.
  static constexpr bool can_be_placed = std::is_trivially_copyable_v<record_type> &&
                                        std::default_initializable<record_type> &&
                                        std::is_move_assignable_v<record_type>;

  /// Whether all records are sorted at once, in one array. An order by digits reads less of them.
  static constexpr bool sorts_together = Order::sorts && can_be_placed && !Order::has_digits;

  struct partition {
    record_vector<record_type> list;    // its records, or ...
    std::size_t begin = 0;              // ... their position in placed_,
    std::size_t size = 0, room = 0;     // their number, and the expected one
    std::vector<std::uint64_t> digits;  // after sort(), if the order has digits
    key_store<key_type> keys;           // without a source: copies all keys it gets
    bool bounded = false;               // then list.front() is the last of the first `top`
  };

  /// Returns the number of all records once their number is known.
  [[nodiscard]] std::size_t size() const {
    std::size_t all = placed_.size();
    for (const partition& each : parts_) all += each.list.size();
    return all;
  }
  [[nodiscard]] std::span<record_type> records_of(std::size_t part) {
    partition& from = parts_[part];
    if (placed_.empty()) return from.list;
    return std::span(placed_).subspan(from.begin, from.size);
  }

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

  void keep_top(record_vector<record_type>& sorted) const {
    if (options_.top != 0 && sorted.size() > options_.top) {
      sorted.erase(sorted.begin() + static_cast<std::ptrdiff_t>(options_.top), sorted.end());
    }
  }
  void prune(partition& part);
  [[nodiscard]] record_vector<record_type> concatenate();
  void sort_by_digits(std::size_t part);

  Order before_;
  options options_;
  std::vector<partition> parts_;
  std::once_flag placing_;
  record_vector<record_type> placed_;  // all partitions' records, unless in their lists
};

template <class Order>
void ordered_runs<Order>::sort(std::size_t part) {
  if constexpr (Order::sorts) {
    if constexpr (sorts_together) {
      if (options_.top != 0 && parts_[part].list.size() > options_.top) prune(parts_[part]);
      return;
    }
    if constexpr (Order::has_digits) {
      sort_by_digits(part);
    } else {
      std::ranges::sort(records_of(part), before_);
    }
    keep_top(parts_[part].list);
  }
}

template <class Order>
auto ordered_runs<Order>::merge() -> record_vector<record_type> {
  if (!placed_.empty() &&
      !std::ranges::all_of(parts_, [](const auto& part) { return part.size == part.room; })) {
    wrong_size();
  }
  if constexpr (Order::sorts && !sorts_together) {
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
                                before_);
    }
  }
  record_vector<record_type> all = placed_.empty() ? concatenate() : std::move(placed_);
  if constexpr (sorts_together) {
    if (options_.sort) parallel_sort(all, before_);
    keep_top(all);
    if (options_.top != 0) all.shrink_to_fit();
  }
  return all;
}

/// Keeps the first `top` records; the last of them is in front.
template <class Order>
void ordered_runs<Order>::prune(partition& part) {
  if constexpr (Order::sorts) {
    // With a heap, not std::nth_element, for the reason given at heap_sort.
    const auto end = part.list.begin() + static_cast<std::ptrdiff_t>(options_.top);
    std::partial_sort(part.list.begin(), end, part.list.end(), before_);
    part.list.erase(end, part.list.end());
    std::swap(part.list.front(), part.list.back());
    part.bounded = true;
  }
}

/// Records without order are moved only once.
template <class Order>
auto ordered_runs<Order>::concatenate() -> record_vector<record_type> {
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

/// Sorts the contiguous digits, and compares records only if digits are equal. Does nothing for
/// orders without digits: Clang 14 instantiates it for them even if it is constrained.
template <class Order>
void ordered_runs<Order>::sort_by_digits(std::size_t part) {
  if constexpr (Order::has_digits) {
    const std::span<record_type> records = records_of(part);
    std::vector<std::uint64_t>& digits = parts_[part].digits;
    digits.resize(records.size());
    for (std::size_t i = 0; i < digits.size(); ++i) {
      digits[i] = before_.digits(records[i], 0);
    }
    if (options_.top == 0 && detail::sorts_at_once(size())) return;
    const detail::sorted_run<record_type> all{records, digits.data()};
    record_vector<record_type> sorted;
    sorted.reserve(records.size());
    detail::digit_sorter<record_type, Order>(before_).move_to(std::back_inserter(sorted),
                                                              std::span(&all, 1), digits.data());
    std::ranges::move(sorted, records.begin());
  }
}

/// Runs of the records of a job.
template <job Job>
using runs = ordered_runs<detail::record_order<Job>>;

namespace detail {

/// Adds a record, unless its key belongs to another rank.
template <class Job>
void add_own(const Job& job, runs<Job>& to, std::size_t part, typename Job::key_type key,
             typename result_value<Job>::type value, bool copy) {
  if constexpr (has_part_of_keys<Job>) {
    to.add_if(part, std::move(key), std::move(value), copy,
              [&](const auto& kept) { return job.belongs_here(kept); });
  } else {
    to.add(part, std::move(key), std::move(value), copy);
  }
}

}  // namespace detail

// Used by jobs that count or add up; compiled in runs.cpp.
extern template class ordered_runs<detail::key_order<record<std::string_view, std::uint64_t>>>;
extern template class ordered_runs<detail::key_order<record<std::uint64_t, std::uint64_t>>>;

}  // namespace creek::mapreduce
