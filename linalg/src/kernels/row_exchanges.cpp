// SPDX-License-Identifier: Apache-2.0
#include "row_exchanges.hpp"

#include <algorithm>
#include <numeric>

namespace creek::linalg::detail {

// Step i gives row i its final value, so rows after it, above and below order(), only ever hold
// their own value or that of an upper row. Hence the lower rows that move up are exactly those that
// an upper row replaces.
row_exchanges::row_exchanges(const index_t* pivots, index_t order, index_t rows, index_t first)
    : sources_(static_cast<std::size_t>(order)) {
  std::vector<index_t> origin(static_cast<std::size_t>(rows));
  std::iota(origin.begin(), origin.end(), index_t{0});
  const auto at = [&](index_t i) -> index_t& { return origin[static_cast<std::size_t>(i)]; };
  for (index_t i = 0; i < order; ++i) std::swap(at(i), at(pivots[i] - first));
  std::copy_n(origin.begin(), order, sources_.begin());
  for (index_t i = 0; i < order; ++i) {
    if (at(i) >= order) lower_.push_back({at(i) - order, at(at(i))});
  }
  std::sort(lower_.begin(), lower_.end(),
            [](const lower_row& a, const lower_row& b) { return a.row < b.row; });
  for (index_t& source : sources_) {
    if (source < order) continue;
    const auto found =
        std::lower_bound(lower_.begin(), lower_.end(), source - order,
                         [](const lower_row& each, index_t row) { return each.row < row; });
    source = order + (found - lower_.begin());
  }
}

}  // namespace creek::linalg::detail
