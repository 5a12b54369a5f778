// SPDX-License-Identifier: Apache-2.0
// Definition of a MapReduce job: the types of its keys and values, the map function, and optionally
// functions to combine, hash, reduce and order.
#pragma once

#include <compare>
#include <concepts>
#include <creek/core/io/large_pages.hpp>
#include <creek/mapreduce/tables/values.hpp>
#include <creek/tasking/hash.hpp>
#include <cstdint>
#include <functional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace creek::mapreduce {

using creek::default_hash;
using creek::repeatable_hash;

/// Record of a result.
template <class Key, class Value>
struct record {
  Key key;
  Value value;
  friend bool operator==(const record&, const record&) = default;
};

/// A job. Besides the two types it has `map(split, emit) const`, which calls `emit(key, value)` any
/// number of times, and `combine` or `reduce`, or both:
///
///     // associative, commutative
///     static void combine(value_type& into, value_type&& from);
///     // called once per key; its result becomes the record's value
///     static auto reduce(const key_type&, const values<Job>& all);
///     static std::uint64_t hash(const key_type&);   // default: by type, see default_hash
///     static bool before(const R& a, const R& b);   // order of the records; default: by key
///     // Whether `before` compares nothing but keys, as `<` does: spares ranks an exchange.
///     bool orders_by_key() const;
///     // For sorting by `before`: of two records, the one with smaller digits comes first.
///     static std::uint64_t order_digits(const R&);
///     // Or, if `before` compares records as byte strings, no two of them equal: bytes `at` to
///     // `at` + 7 of that string, the first one highest, zeros after its end (`at` is a multiple
///     // of 8); and its length.
///     static std::uint64_t order_digits(const R&, std::size_t at);
///     static std::size_t order_size(const R&);
///     using table_type = ...;                       // table of the combined pairs: see table
///     static constexpr std::size_t dense_keys = ...;  // keys are 0 to this - 1: see dense
///     // A job that combines may also be run by strategy::emit_and_group: a small program takes
///     // two fifths more time to compile. Jobs whose pairs are integers and small values always
///     may. static constexpr bool may_group = true;
///
/// Several workers call `map` at once on one const job; it may use the runtime, but call `emit`
/// only in its own task. An exception ends the job and is rethrown by run().
template <class J>
concept job = std::movable<typename J::key_type> && std::movable<typename J::value_type>;

template <class J>
concept combines = job<J> &&
    requires(const J& j, typename J::value_type& into, typename J::value_type&& from) {
  j.combine(into, std::move(from));
};

/// Values of one key, as passed to `reduce`.
template <job J>
using values = value_list<typename J::key_type, typename J::value_type>;

template <class J>
concept reduces = job<J> &&
    requires(const J& j, const typename J::key_type& key, const values<J>& all) {
  j.reduce(key, all);
};

namespace detail {

/// Calls `f` with each part of a pair or a tuple, or with the type itself, as std::type_identity,
/// and returns whether all results are true. The operators of std::tuple do not ask whether its
/// parts have them.
template <class Key, class F>
constexpr bool all_parts(F f) {
  if constexpr (tuple_like<Key>) {
    return [f]<std::size_t... I>(std::index_sequence<I...>) {
      return (all_parts<std::remove_cv_t<std::tuple_element_t<I, Key>>>(f) && ...);
    }
    (std::make_index_sequence<std::tuple_size_v<Key>>{});
  } else {
    return f(std::type_identity<Key>{});
  }
}
template <class Key>
inline constexpr bool has_equality = all_parts<Key>([]<class T>(std::type_identity<T>) {
  return std::equality_comparable<T>;
});
/// Whether hash_with() takes the key.
template <class Key>
inline constexpr bool has_hash = all_parts<Key>([]<class T>(std::type_identity<T>) {
  return byte_string<T> || std::integral<T> || std::is_default_constructible_v<std::hash<T>>;
});

/// Checks what a job declares. A function of another signature than it should have would be taken
/// for one that the job does not have.
template <class J>
struct job_requirements {
  static_assert(
      !requires { &J::combine; } || combines<J>,
      "combine() of a job is called with (value_type& into, value_type&& from)");
  static_assert(
      !requires { &J::reduce; } || reduces<J>,
      "reduce() of a job is called with (const key_type&, const values<Job>& all)");
  static_assert(combines<J> || reduces<J>, "a job needs combine() or reduce()");
  static_assert(
      !requires { &J::hash; } ||
          requires(const J& j, const typename J::key_type& key) {
            { j.hash(key) } -> std::convertible_to<std::uint64_t>;
          },
      "hash() of a job is called with (const key_type&) and returns std::uint64_t");
  static_assert(has_equality<typename J::key_type>,
                "pairs of equal keys come together: the key_type of a job needs operator==");
  static_assert(
      has_hash<typename J::key_type> ||
          requires(const J& j, const typename J::key_type& key) { j.hash(key); } ||
          requires { typename J::table_type; },
      "a key needs a hash: specialise std::hash, or give a job a hash(key)");
  static constexpr bool met = true;
};

/// Jobs that combine and may be run by emit_and_group all the same.
template <class J>
concept may_group = requires {
  requires J::may_group;
};

/// Jobs of which one part has records: that of the keys that belong here.
template <class J>
concept has_part_of_keys = requires(const J& job, const typename J::key_type& key) {
  { job.belongs_here(key) } -> std::same_as<bool>;
};

template <class Split>
concept has_tag = requires {
  typename Split::tag_type;
};

/// Calls the job's map().
template <class J, class Split, class Emit>
void call_map(const J& job, const Split& split, Emit& emit) {
  constexpr bool maps = requires {
    job.map(split, emit);
  };
  static_assert(maps || has_tag<Split>,
                "a job needs map(split, emit) const, for the type of splits that the input has");
  static_assert(maps || !has_tag<Split>,
                "a job over several inputs needs map(const tagged_split<Tag, Split>&, emit) const "
                "for each input");
  if constexpr (maps) job.map(split, emit);
}

template <class J>
struct result_value {
  using type = typename J::value_type;
};
template <reduces J>
struct result_value<J> {
  using type = std::decay_t<decltype(std::declval<const J&>().reduce(
      std::declval<const typename J::key_type&>(), std::declval<const values<J>&>()))>;
};
}  // namespace detail

/// Type of one record in a result of the job.
template <job J>
using record_of = record<typename J::key_type, typename detail::result_value<J>::type>;

/// std::vector of records, in large pages from 8 MiB on; resize(n) leaves new records that are
/// plain bytes uninitialised.
template <class Record>
using record_vector = std::vector<Record, large_page_allocator<Record>>;

template <class J>
concept orders = job<J> && requires(const J& j, const record_of<J>& a) {
  { j.before(a, a) } -> std::convertible_to<bool>;
};

namespace detail {
/// Checks the order that a job declares.
template <class J>
struct order_requirements {
  static_assert(
      !requires { &J::before; } || orders<J>,
      "before() of a job is called with two const record_of<Job>& and returns bool");
  static constexpr bool met = true;
};
}  // namespace detail

/// Returns whether `a` precedes `b` in the job's order, or by key if the job has none.
template <job J>
[[nodiscard]] bool comes_before(const J& job, const record_of<J>& a, const record_of<J>& b) {
  if constexpr (orders<J>) {
    return job.before(a, b);
  } else {
    return a.key < b.key;
  }
}

/// Returns the job's hash of a key, or a default hash with `secret`, which belongs to one run.
template <class Job>
[[nodiscard]] std::uint64_t hash_of(const Job& job, const typename Job::key_type& key,
                                    const hash_secret& secret = current_hash_secret()) {
  if constexpr (requires { job.hash(key); }) {
    return job.hash(key);
  } else {
    return hash_with(secret, key);
  }
}

/// Jobs whose records run() can sort.
template <class J>
concept sortable = orders<J> || std::totally_ordered<typename J::key_type>;

}  // namespace creek::mapreduce
