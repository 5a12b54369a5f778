// SPDX-License-Identifier: Apache-2.0
// Lists of what blocks of a table gave, in the order of the table.
#pragma once

#include <utility>
#include <vector>

#include "row_mask.hpp"

namespace creek::tpch {

/// Calls emit(block, list) for each block, in parallel; emit appends to a list. Returns all lists
/// as one, in the order of the blocks.
template <class T, class Emit>
std::vector<T> gather_rows(std::size_t rows, Emit&& emit) {
  return over_blocks(
      rows, std::vector<T>(),
      [&](const row_block& block, std::vector<T>& list) { emit(block, list); },
      [](std::vector<T> left, std::vector<T> right) {
        if (left.empty()) return right;
        left.insert(left.end(), right.begin(), right.end());
        return left;
      });
}

}  // namespace creek::tpch
