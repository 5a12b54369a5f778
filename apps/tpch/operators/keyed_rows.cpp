// SPDX-License-Identifier: Apache-2.0
#include "keyed_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <creek/tasking/parallel_for.hpp>
#include <creek/tasking/parallel_reduce.hpp>
#include <functional>
#include <numeric>
#include <tuple>
#include <utility>

#include "tpch/loading/data_fault.hpp"

namespace creek::tpch {
namespace {

/// Returns whether follows(i), which compares element i with the one before, holds for all i > 0.
template <class Follows>
bool all_follow(std::size_t size, Follows&& follows) {
  return parallel_reduce_range(
      std::size_t{1}, std::max<std::size_t>(size, 1), true,
      [&](std::size_t i, std::size_t last, bool so_far) {
        bool all = so_far;
        for (; i < last; ++i) all &= follows(i);
        return all;
      },
      std::logical_and{});
}

/// Returns whether each key is one more than that of the row before.
bool consecutive(const packed& keys) {
  if (keys.size == 0 || keys.factor != 1) return false;
  // After this check no step below wraps round.
  if (keys.code(keys.size - 1) != keys.code(0) + keys.size - 1) return false;
  return with_width(keys.width, [&](auto zero) {
    using code = decltype(zero);
    const code* const codes = keys.as<code>();
    return all_follow(keys.size, [codes](std::size_t i) {
      return static_cast<code>(codes[i] - codes[i - 1]) == 1;
    });
  });
}

std::vector<std::size_t> every_row(std::size_t rows) {
  std::vector<std::size_t> all(rows);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

/// Returns the keys, which are in ascending order. Throws creek::error if two are equal.
template <class Keys>
Keys different(std::string_view name, Keys keys) {
  const auto twice = std::ranges::adjacent_find(keys);
  if (twice != keys.end()) fail_for_two(name, *twice);
  return keys;
}

/// Sorts the rows by key and returns their keys in that order. Reads the column once, since a sort
/// whose keys change while it runs reads beyond its range.
std::vector<std::int64_t> sorted_keys(const column& key, std::vector<std::size_t>& rows) {
  std::vector<std::int64_t> keys(rows.size());
  parallel_for_range(std::size_t{0}, rows.size(), [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) keys[i] = key.values.value(rows[i]);
  });
  if (all_follow(keys.size(), [&](std::size_t i) { return keys[i - 1] < keys[i]; })) return keys;
  std::vector<std::pair<std::int64_t, std::size_t>> pairs(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) pairs[i] = {keys[i], rows[i]};
  std::ranges::sort(pairs);
  for (std::size_t i = 0; i < rows.size(); ++i) std::tie(keys[i], rows[i]) = pairs[i];
  return different(key.schema->name, keys);
}

}  // namespace

void fail_for_two(std::string_view name, std::int64_t key) {
  fail(data_fault::malformed, fmt::format("{}: two rows have the key {}", name, key));
}

keyed_rows::keyed_rows(const column& key)
    : rows_(consecutive(key.values) ? std::vector<std::size_t>() : every_row(key.values.size)),
      index_(rows_.empty() && key.values.size > 0
                 ? key_index::consecutive(key.values.value(0), key.values.size)
                 : key_index(sorted_keys(key, rows_))) {}

keyed_rows::keyed_rows(const column& key, std::vector<std::size_t> rows)
    : rows_(std::move(rows)), index_(sorted_keys(key, rows_)) {}

keyed_rows::keyed_rows(std::string_view name, std::span<const std::int64_t> keys)
    : index_(different(name, keys)) {}

std::string keyed_rows::describe() const {
  if (index_.bytes() == 0) return "consecutive keys";
  return fmt::format("{} of {} bytes", index_.dense() ? "a bitmap" : "a hash table",
                     index_.bytes());
}

}  // namespace creek::tpch
