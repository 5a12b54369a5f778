// SPDX-License-Identifier: Apache-2.0
#include "part_offers.hpp"

#include <algorithm>
#include <tuple>

#include "tpch/operators/gather_rows.hpp"

namespace creek::tpch {

part_offers::part_offers(const table& partsupp, const keyed_rows& parts)
    : begins_(parts.size() + 1) {
  const packed& part_key = partsupp["ps_partkey"].values;
  const packed& supplier_key = partsupp["ps_suppkey"].values;
  offers_ =
      gather_rows<offer>(partsupp.rows(), [&](const row_block& block, std::vector<offer>& to) {
        row_mask mask(block);
        for_each_match(part_key, block, parts, mask, [&](std::size_t row, std::size_t part) {
          to.push_back({part, supplier_key.value(row), row});
        });
      });
  const auto key_of = [](const offer& of) { return std::tuple(of.part, of.supplier, of.row); };
  if (!std::ranges::is_sorted(offers_, {}, key_of)) std::ranges::sort(offers_, {}, key_of);
  for (const offer& of : offers_) ++begins_[of.part + 1];
  for (std::size_t part = 0; part < parts.size(); ++part) begins_[part + 1] += begins_[part];
}

}  // namespace creek::tpch
