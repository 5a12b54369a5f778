// SPDX-License-Identifier: Apache-2.0
// Rows of partsupp, found by both parts of their key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "tpch/columns/table.hpp"
#include "tpch/operators/keyed_rows.hpp"

namespace creek::tpch {

/// The suppliers that offer some parts. Any thread may look them up.
class part_offers {
 public:
  struct offer {
    std::size_t part = 0;  ///< index among the parts
    std::int64_t supplier = 0;
    std::size_t row = 0;
  };

  /// Collects the rows of partsupp for these parts, in parallel.
  part_offers(const table& partsupp, const keyed_rows& parts);

  /// Returns all offers, ordered by part, supplier and row.
  [[nodiscard]] const std::vector<offer>& all() const noexcept { return offers_; }
  /// Returns a supplier's offers of the part at an index, as indexes [first, last) of all(). There
  /// may be several: dbgen writes such rows for very small scale factors. Takes time proportional
  /// to the number of suppliers of a part, which is four.
  [[nodiscard]] std::pair<std::size_t, std::size_t> find(std::size_t part,
                                                         std::int64_t supplier) const noexcept {
    const std::size_t end = begins_[part + 1];
    std::size_t first = begins_[part];
    while (first < end && offers_[first].supplier != supplier) ++first;
    std::size_t last = first;
    while (last < end && offers_[last].supplier == supplier) ++last;
    return {first, last};
  }

 private:
  std::vector<offer> offers_;
  std::vector<std::size_t> begins_;  // first offer of each part, and the end
};

}  // namespace creek::tpch
