// SPDX-License-Identifier: Apache-2.0
// Rows of partsupp by both parts of their key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "keyed_rows.hpp"
#include "table.hpp"

namespace creek::tpch {

/// Which suppliers offer some parts. Any thread may look up.
class part_offers {
 public:
  static constexpr std::size_t absent = keyed_rows::absent;

  struct offer {
    std::size_t part = 0;  ///< place among the parts
    std::int64_t supplier = 0;
    std::size_t row = 0;
  };

  /// The rows of partsupp for these parts. In parallel. Throws creek::error if two rows have the
  /// same part and supplier.
  part_offers(const table& partsupp, const keyed_rows& parts);

  /// All, by part and supplier.
  [[nodiscard]] const std::vector<offer>& all() const noexcept { return offers_; }
  /// Which of them is that of the part at a place by a supplier, or absent. Takes time in the
  /// number of suppliers of a part, of which dbgen makes four.
  [[nodiscard]] std::size_t find(std::size_t part, std::int64_t supplier) const noexcept {
    for (std::size_t i = begins_[part]; i < begins_[part + 1]; ++i) {
      if (offers_[i].supplier == supplier) return i;
    }
    return absent;
  }

 private:
  std::vector<offer> offers_;
  std::vector<std::size_t> begins_;  // of each part, and one more
};

}  // namespace creek::tpch
