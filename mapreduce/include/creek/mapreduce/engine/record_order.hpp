// SPDX-License-Identifier: Apache-2.0
// Orders of records: by key, or by the job's before(). If an order has digits, they are eight bytes
// each of the compared bytes: the first eight or, with by_bytes, all.
#pragma once

#include <concepts>
#include <creek/mapreduce/engine/radix_sort.hpp>
#include <creek/mapreduce/job.hpp>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

namespace creek::mapreduce::detail {

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

/// Digits of a tuple: those of its first part, which is compared first.
template <class Key>
struct first_digits {
  static constexpr bool available = false;
};
template <class First, class... Rest>
struct first_digits<std::tuple<First, Rest...>> {
  static constexpr bool available = key_digits<First>::available;
  static std::uint64_t digits(const std::tuple<First, Rest...>& key) noexcept {
    return key_digits<First>::digits(std::get<0>(key), 0);
  }
};
template <class First, class Second>
struct first_digits<std::pair<First, Second>> {
  static constexpr bool available = key_digits<First>::available;
  static std::uint64_t digits(const std::pair<First, Second>& key) noexcept {
    return key_digits<First>::digits(key.first, 0);
  }
};

/// Order by key. The same type for all jobs with such records, so that sorting and merging them is
/// compiled once.
template <class Record>
struct key_order {
  using record_type = Record;
  using key_type = decltype(Record::key);
  static constexpr bool sorts = std::totally_ordered<key_type>;
  static constexpr bool by_bytes = byte_string<key_type>;
  static constexpr bool has_digits = sorts && (by_bytes || first_digits<key_type>::available);

  template <class Job>
  constexpr key_order(const Job* /*any*/) noexcept {}  // NOLINT: as job_order from its job

  [[nodiscard]] bool operator()(const Record& a, const Record& b) const { return a.key < b.key; }
  [[nodiscard]] std::uint64_t digits(const Record& one, std::size_t at) const requires has_digits {
    if constexpr (by_bytes) {
      return key_digits<key_type>::digits(one.key, at);
    } else {
      return first_digits<key_type>::digits(one.key);
    }
  }
  [[nodiscard]] std::size_t size(const Record& one) const requires by_bytes {
    return key_digits<key_type>::size(one.key);
  }
};

/// Order by the job's before().
template <job Job>
struct job_order {
  using record_type = record_of<Job>;
  static constexpr bool sorts = true;
  static constexpr bool by_bytes = tells_bytes<Job>;
  static constexpr bool has_digits = by_bytes || tells_digits<Job>;

  static_assert(by_bytes || !tells_more_digits<Job>,
                "order_digits(record, at) needs a std::size_t order_size(record)");

  const Job* job;

  [[nodiscard]] bool operator()(const record_type& a, const record_type& b) const {
    return job->before(a, b);
  }
  [[nodiscard]] std::uint64_t digits(const record_type& one,
                                     std::size_t at) const requires has_digits {
    if constexpr (by_bytes) {
      return job->order_digits(one, at);
    } else {
      return job->order_digits(one);
    }
  }
  [[nodiscard]] std::size_t size(const record_type& one) const requires by_bytes {
    return job->order_size(one);
  }
};

template <job Job>
struct order_of {
  using type = key_order<record_of<Job>>;
};
template <orders Job>
struct order_of<Job> {
  using type = job_order<Job>;
};

/// Order of a job's records.
template <job Job>
using record_order = typename order_of<Job>::type;

}  // namespace creek::mapreduce::detail
