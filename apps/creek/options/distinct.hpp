// SPDX-License-Identifier: Apache-2.0
// Check of lists whose items are each measured: an item that is there twice is a mistake.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include <creek/core/error.hpp>

namespace creek::tool {

/// Throws usage_error if the list of an option has an item twice.
template <class T>
void require_distinct(std::string_view option, const std::vector<T>& list) {
  for (auto each = list.begin(); each != list.end(); ++each) {
    if (std::find(list.begin(), each, *each) != each) {
      throw usage_error(fmt::format("{}: the list contains '{}' twice", option, *each));
    }
  }
}

}  // namespace creek::tool
