// SPDX-License-Identifier: Apache-2.0
// Lists of rows by a key.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <type_traits>
#include <vector>

namespace creek::tpch {

/// Sorts rows by a key; fast if they are sorted already.
template <class T, class Key>
void sort_rows(std::vector<T>& rows, Key key) {
  if (!std::ranges::is_sorted(rows, {}, key)) std::ranges::sort(rows, {}, key);
}

/// Sorts rows by a key and makes one of those with the same key: add(to, from) adds a row to one.
template <class T, class Key, class Add>
void join_rows(std::vector<T>& rows, Key key, Add&& add) {
  sort_rows(rows, key);
  std::size_t size = 0;
  for (const T& next : rows) {
    if (size > 0 && std::invoke(key, rows[size - 1]) == std::invoke(key, next)) {
      add(rows[size - 1], next);
    } else {
      rows[size++] = next;
    }
  }
  rows.resize(size);
}

/// Returns the keys of rows.
template <class Key, class T>
[[nodiscard]] auto keys_of(const std::vector<T>& rows, Key key) {
  std::vector<std::decay_t<std::invoke_result_t<Key, const T&>>> keys(rows.size());
  std::ranges::transform(rows, keys.begin(), key);
  return keys;
}

}  // namespace creek::tpch
