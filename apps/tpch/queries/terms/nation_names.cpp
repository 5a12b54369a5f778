// SPDX-License-Identifier: Apache-2.0
#include "nation_names.hpp"

#include "nation_rows.hpp"

namespace creek::tpch {

nation_names::nation_names(const table& nation)
    : rows_(nation["n_nationkey"]), names_(nation["n_name"]) {}

nation_names::nation_names(const table& nation, const table& region, std::string_view name)
    : rows_(rows_of_partners(nation["n_nationkey"], nation["n_regionkey"],
                             rows_with_word(region["r_regionkey"], region["r_name"], name))),
      names_(nation["n_name"]) {}

}  // namespace creek::tpch
