// SPDX-License-Identifier: Apache-2.0
// Price that a customer pays for a line; most queries add it up.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tpch/columns/table.hpp"
#include "tpch/values/decimal.hpp"

namespace creek::tpch {

/// Computes l_extendedprice * (1 - l_discount) of rows of lineitem, in ten thousandths, exact. Any
/// thread; the table must outlive the object.
class net_price {
 public:
  static constexpr int scale = 4;

  explicit net_price(const table& lineitem)
      : price_(lineitem["l_extendedprice"].values), discount_(lineitem["l_discount"].values) {}

  [[nodiscard]] int128 operator()(std::size_t row) const noexcept {
    return int128{price_.value(row)} * (100 - discount_.value(row));
  }
  [[nodiscard]] const packed& price() const noexcept { return price_; }
  [[nodiscard]] const packed& discount() const noexcept { return discount_; }
  /// Returns the bytes read per row.
  [[nodiscard]] std::size_t bytes_a_row() const noexcept { return price_.width + discount_.width; }

 private:
  const packed& price_;
  const packed& discount_;
};

}  // namespace creek::tpch
