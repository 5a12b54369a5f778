// SPDX-License-Identifier: Apache-2.0
// Table that a loader returns.
#pragma once

#include <vector>

#include "source_file.hpp"
#include "table.hpp"

namespace creek::tpch {

/// A table from files of a generator, and which: a stamp for each of them, in their order.
struct loaded_table {
  table content;
  std::vector<file_stamp> from;
};

/// All columns, as loaders are told which are wanted.
[[nodiscard]] inline std::vector<bool> every_column(const table_schema& schema) {
  return std::vector<bool>(schema.columns.size(), true);
}

}  // namespace creek::tpch
