// SPDX-License-Identifier: Apache-2.0
#include "nation_names.hpp"

#include "gather_rows.hpp"

namespace creek::tpch {
namespace {

keyed_rows rows_of_region(const table& nation, const table& region, std::string_view name) {
  const column& region_name = region["r_name"];
  const packed& region_of = nation["n_regionkey"].values;
  code_range wanted;
  if (const auto code = region_name.find(name)) wanted = {*code, *code};
  const keyed_rows regions(region["r_regionkey"],
                           select_rows(region.rows(), [&](const row_block& block, row_mask& mask) {
                             keep_between(region_name.values, block, wanted, mask);
                           }));
  return {nation["n_nationkey"],
          select_rows(nation.rows(), [&](const row_block& block, row_mask& mask) {
            keep_members(region_of, block, regions.index(), mask);
          })};
}

}  // namespace

nation_names::nation_names(const table& nation)
    : rows_(nation["n_nationkey"]), names_(nation["n_name"]) {}

nation_names::nation_names(const table& nation, const table& region, std::string_view name)
    : rows_(rows_of_region(nation, region, name)), names_(nation["n_name"]) {}

}  // namespace creek::tpch
