// SPDX-License-Identifier: Apache-2.0
// Selects rows of small tables, such as the suppliers of a nation.
#pragma once

#include <string_view>

#include "tpch/operators/gather_rows.hpp"
#include "tpch/operators/keyed_rows.hpp"

namespace creek::tpch {

/// Returns the rows whose category is `word`, by their key.
[[nodiscard]] inline keyed_rows rows_with_word(const column& key, const column& category,
                                               std::string_view word) {
  code_range codes;
  if (const auto code = category.find(word)) codes = {*code, *code};
  return {key, select_rows(key.values.size, [&](const row_block& block, row_mask& mask) {
            keep_between(category.values, block, codes, mask);
          })};
}

/// Returns the rows whose foreign key is one of `partners`, by their own key: the suppliers of
/// these nations, or the nations of these regions.
[[nodiscard]] inline keyed_rows rows_of_partners(const column& key, const column& foreign_key,
                                                 const keyed_rows& partners) {
  return {key, select_rows(key.values.size, [&](const row_block& block, row_mask& mask) {
            keep_members(foreign_key.values, block, partners.index(), mask);
          })};
}

}  // namespace creek::tpch
