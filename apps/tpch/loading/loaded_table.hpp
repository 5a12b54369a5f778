// SPDX-License-Identifier: Apache-2.0
// Table that a loader returns.
#pragma once

#include <vector>

#include "source_file.hpp"
#include "tpch/columns/table.hpp"

namespace creek::tpch {

/// A table read from a generator's files, and a stamp of each file, in their order.
struct loaded_table {
  table content;
  std::vector<file_stamp> from;
};

/// Returns flags that tell loaders to read all columns.
[[nodiscard]] inline std::vector<bool> every_column(const table_schema& schema) {
  return std::vector<bool>(schema.columns.size(), true);
}

}  // namespace creek::tpch
