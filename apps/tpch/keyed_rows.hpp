// SPDX-License-Identifier: Apache-2.0
// The side of a join that is looked up: rows of a table by their key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "key_index.hpp"
#include "packed.hpp"
#include "row_mask.hpp"
#include "select.hpp"
#include "table.hpp"

namespace creek::tpch {

/// Rows of a table, all or those that are left, each at a place 0, 1, 2, ... in the order of their
/// keys. Any thread may look up. The column must outlive it.
class keyed_rows {
 public:
  static constexpr std::size_t absent = key_index::absent;

  /// All rows. Where their keys are consecutive numbers in order, as those of all of dbgen's tables
  /// but orders, this takes one look at each and no memory.
  explicit keyed_rows(const column& key);
  /// `rows`, in any order. Both throw creek::error if two rows have the same key, since the join
  /// would count the other side twice.
  keyed_rows(const column& key, std::vector<std::size_t> rows);

  [[nodiscard]] std::size_t size() const noexcept { return index_.size(); }
  [[nodiscard]] const key_index& index() const noexcept { return index_; }
  /// Place of the key, or absent.
  [[nodiscard]] std::size_t place(std::int64_t key) const noexcept { return index_.find(key); }
  /// Row of the table that stands at a place.
  [[nodiscard]] std::size_t row(std::size_t place) const noexcept {
    return rows_.empty() ? place : rows_[place];
  }
  /// Row of the table that has the key, or absent.
  [[nodiscard]] std::size_t find(std::int64_t key) const noexcept {
    const std::size_t at = place(key);
    return at == absent ? absent : row(at);
  }
  /// "a bitmap of 100 bytes", for a query's steps.
  [[nodiscard]] std::string describe() const;

 private:
  std::vector<std::size_t> rows_;  // empty: the place is the row
  key_index index_;
};

/// Calls f(row, place) for each row of the block that the mask leaves and whose key in `key` is one
/// of `partners`, in order; takes the others out of the mask.
template <class F>
void for_each_match(const packed& key, const row_block& block, const keyed_rows& partners,
                    row_mask& mask, F&& f) {
  // A vector of keys is looked up in the time of a few single ones.
  constexpr std::size_t few = 16;
  if (mask.count(block) * few > block.rows) keep_members(key, block, partners.index(), mask);
  for (const std::size_t offset : row_list(block, mask)) {
    const std::size_t row = block.first + offset;
    const std::size_t place = partners.place(key.value(row));
    if (place != keyed_rows::absent) f(row, place);
  }
}

}  // namespace creek::tpch
