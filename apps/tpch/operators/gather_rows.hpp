// SPDX-License-Identifier: Apache-2.0
// Lists of the results of a table's blocks, in the order of the table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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

/// Returns how many rows of a table of `rows` rows keep(block, mask) leaves in the masks.
template <class Keep>
std::uint64_t count_rows(std::size_t rows, Keep&& keep) {
  return over_blocks(
      rows, std::uint64_t{0},
      [&](const row_block& block, std::uint64_t& so_far) {
        row_mask mask(block);
        keep(block, mask);
        so_far += mask.count(block);
      },
      std::plus{});
}

/// Returns the rows of a table of `rows` rows that keep(block, mask) leaves in the masks, in order.
template <class Keep>
std::vector<std::size_t> select_rows(std::size_t rows, Keep&& keep) {
  return gather_rows<std::size_t>(rows,
                                  [&](const row_block& block, std::vector<std::size_t>& list) {
                                    row_mask mask(block);
                                    keep(block, mask);
                                    for (const std::size_t offset : row_list(block, mask))
                                      list.push_back(block.first + offset);
                                  });
}

}  // namespace creek::tpch
