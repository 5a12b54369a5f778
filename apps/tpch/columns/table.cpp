// SPDX-License-Identifier: Apache-2.0
#include "table.hpp"

#include <fmt/format.h>

#include <creek/core/error.hpp>

namespace creek::tpch {

std::optional<std::uint64_t> column::find(std::string_view wanted) const noexcept {
  std::size_t low = 0, high = words();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (word(middle) < wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == words() || word(low) != wanted) return {};
  return low;
}

const column& table::operator[](std::string_view name) const {
  const std::optional<column>& found = columns_[schema_->at(name)];
  if (!found) throw usage_error(fmt::format("{}: this column was not loaded", name));
  return *found;
}

}  // namespace creek::tpch
