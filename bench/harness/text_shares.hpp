// SPDX-License-Identifier: Apache-2.0
// Even shares of a text, for peers whose user divides the work among threads.
#pragma once
#include <algorithm>
#include <string_view>
#include <vector>

namespace bench {

/// Returns shares that end with a line.
inline std::vector<std::string_view> shares_of_text(std::string_view text, unsigned shares) {
  std::vector<std::string_view> all;
  for (unsigned i = shares; i > 0; --i) {
    const std::size_t end = std::min(text.find('\n', text.size() / i), text.size());
    const std::size_t size = i == 1 ? text.size() : std::min(end + 1, text.size());
    all.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return all;
}

}  // namespace bench
