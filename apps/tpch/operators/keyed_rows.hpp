// SPDX-License-Identifier: Apache-2.0
// The side of a join that is looked up: rows of a table, found by key.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "key_index.hpp"
#include "row_mask.hpp"
#include "select.hpp"
#include "tpch/columns/packed.hpp"
#include "tpch/columns/table.hpp"

namespace creek::tpch {

/// Rows of a table, all or a selection, with indices 0, 1, 2, ... in the order of their keys. Any
/// thread may look up rows. The column must outlive the object.
class keyed_rows {
 public:
  static constexpr std::size_t absent = key_index::absent;

  /// Takes all rows. If their keys are consecutive numbers in order, as in all of dbgen's tables
  /// except orders, this reads each key once and needs no memory.
  explicit keyed_rows(const column& key);
  /// Takes `rows`, in any order. These constructors throw creek::error if two rows have the same
  /// key, since the join would count the other side twice.
  keyed_rows(const column& key, std::vector<std::size_t> rows);
  /// Takes keys that came from other processes, in ascending order: a row is a position in `keys`.
  /// Throws like the others for two equal keys; `name` is that of their column.
  keyed_rows(std::string_view name, std::span<const std::int64_t> keys);

  [[nodiscard]] std::size_t size() const noexcept { return index_.size(); }
  [[nodiscard]] const key_index& index() const noexcept { return index_; }
  /// Returns the index of the key, or absent.
  [[nodiscard]] std::size_t place(std::int64_t key) const noexcept { return index_.find(key); }
  /// Returns the row of the table at an index.
  [[nodiscard]] std::size_t row(std::size_t place) const noexcept {
    return rows_.empty() ? place : rows_[place];
  }
  /// Returns the row of the table that has the key, or absent.
  [[nodiscard]] std::size_t find(std::int64_t key) const noexcept {
    const std::size_t at = place(key);
    return at == absent ? absent : row(at);
  }
  /// Returns "a bitmap of 100 bytes" or the like, for a query's steps.
  [[nodiscard]] std::string describe() const;

 private:
  std::vector<std::size_t> rows_;  // empty: the index is the row
  key_index index_;
};

/// Throws creek::error: two rows of a column that is looked up have the same key.
[[noreturn]] void fail_for_two(std::string_view name, std::int64_t key);

/// Calls f(row, place) for each row of the block that the mask leaves and whose key in `key` is one
/// of `partners`, in order. The mask may lose some of the other rows. `reads` are columns of which
/// f reads most rows. Partners are looked up some hundred at a time before f is called for them, so
/// that neither waits for memory once per row.
template <class F>
void for_each_match(const packed& key, const row_block& block, const keyed_rows& partners,
                    row_mask& mask, F&& f, std::initializer_list<const packed*> reads = {}) {
  constexpr std::size_t few = 16;  // a vector of keys is looked up in the time of a few single ones
  const bool many = mask.count(block) * few > block.rows;
  if (many) keep_members(key, block, partners.index(), mask);
  const row_list rows(block, mask);
  constexpr std::ptrdiff_t at_a_time = 256;
  std::size_t found[at_a_time], places[at_a_time];
  for (const std::uint16_t* next = rows.begin(); next != rows.end();) {
    const std::uint16_t* const last = next + std::min(at_a_time, rows.end() - next);
    if (!many) {
      for (const std::uint16_t* at = next; at != last; ++at) key.prefetch(block.first + *at);
    }
    std::size_t matches = 0;
    for (; next != last; ++next) {
      found[matches] = block.first + *next;
      places[matches] = partners.place(key.value(found[matches]));
      matches += places[matches] != keyed_rows::absent ? 1 : 0;
    }
    for (const packed* column : reads) {
      for (std::size_t i = 0; i < matches; ++i) column->prefetch(found[i]);
    }
    for (std::size_t i = 0; i < matches; ++i) f(found[i], places[i]);
  }
}

}  // namespace creek::tpch
