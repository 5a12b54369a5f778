// SPDX-License-Identifier: Apache-2.0
// Q2, minimum cost supplier: who in a region sells some parts for the least?
//
//   select s_acctbal, s_name, n_name, p_partkey, p_mfgr, s_address, s_phone, s_comment
//   from part, supplier, partsupp, nation, region
//   where p_partkey = ps_partkey and s_suppkey = ps_suppkey and p_size = SIZE
//     and p_type like '%TYPE' and s_nationkey = n_nationkey and n_regionkey = r_regionkey
//     and r_name = REGION
//     and ps_supplycost =
//       (select min(ps_supplycost) from partsupp, supplier, nation, region
//        where p_partkey = ps_partkey and s_suppkey = ps_suppkey and s_nationkey = n_nationkey
//          and n_regionkey = r_regionkey and r_name = REGION)
//   order by s_acctbal desc, n_name, s_name, p_partkey
//     -- the first hundred; equal ones here by s_suppkey
#include <fmt/format.h>

#include <array>
#include <tuple>

#include "tpch/operators/gather_rows.hpp"
#include "tpch/operators/group_sums.hpp"
#include "tpch/operators/keyed_rows.hpp"
#include "tpch/operators/text_pattern.hpp"
#include "tpch/operators/top_k.hpp"
#include "tpch/queries/terms/nation_rows.hpp"
#include "tpch/queries/terms/part_offers.hpp"
#include "tpch/query.hpp"

namespace creek::tpch {
namespace {

constexpr std::array q2_parameters{
    parameter{"SIZE", kind::integer, "15", 0, 1'000'000},
    parameter{"TYPE", kind::text, "BRASS"},
    parameter{"REGION", kind::text, "EUROPE"},
};

constexpr std::size_t q2_limit = 100;

/// An offer of a supplier of the region.
struct q2_offer {
  std::size_t part = 0;      ///< index among the parts that are left
  std::size_t supplier = 0;  ///< row
  std::int64_t cost = 0;
};

class q2_query final : public query_on_tables {
 public:
  q2_query(database& from, const parameter_values& given)
      : part_(open(from, "part", {"p_partkey", "p_mfgr", "p_type", "p_size"})),
        supplier_(open(from, "supplier",
                       {"s_suppkey", "s_name", "s_address", "s_nationkey", "s_phone", "s_acctbal",
                        "s_comment"})),
        partsupp_(open(from, "partsupp", {"ps_partkey", "ps_suppkey", "ps_supplycost"})),
        nation_(open(from, "nation", {"n_nationkey", "n_name", "n_regionkey"})),
        region_(open(from, "region", {"r_regionkey", "r_name"})),
        type_(part_["p_type"].values),
        size_(part_["p_size"].values),
        region_name_(given.text("REGION")),
        types_(codes_like(part_["p_type"], {.back = given.text("TYPE")})),
        sizes_(codes_between(size_, given.number("SIZE"), given.number("SIZE"))) {}

  [[nodiscard]] query_run run() const override {
    const keyed_rows regions =
        rows_with_word(region_["r_regionkey"], region_["r_name"], region_name_);
    const keyed_rows nations =
        rows_of_partners(nation_["n_nationkey"], nation_["n_regionkey"], regions);
    const keyed_rows suppliers =
        rows_of_partners(supplier_["s_suppkey"], supplier_["s_nationkey"], nations);
    const keyed_rows parts(part_["p_partkey"],
                           select_rows(part_.rows(), [&](const row_block& block, row_mask& mask) {
                             keep_between(size_, block, sizes_, mask);
                             keep_members(type_, block, types_, mask);
                           }));
    const part_offers offers(partsupp_, parts);
    const std::vector<q2_offer> least = least_of(offers, suppliers, parts.size());

    query_run done{.result = answer_of(least, parts, nations)};
    done.rows = rows_of_tables();
    const packed& offer_part = partsupp_["ps_partkey"].values;
    done.bytes = size_.bytes() + type_.bytes() + supplier_["s_nationkey"].values.bytes() +
                 offer_part.bytes() + parts.size() * part_["p_partkey"].values.width +
                 offers.all().size() * (partsupp_["ps_suppkey"].values.width +
                                        partsupp_["ps_supplycost"].values.width) +
                 least.size() * supplier_["s_acctbal"].values.width;
    done.steps = {
        fmt::format("scan part, {} rows, select p_size, p_type: {} left", part_.rows(),
                    parts.size()),
        fmt::format("scan supplier, {} rows: {} of the region", supplier_.rows(), suppliers.size()),
        fmt::format("scan partsupp, {} rows, join on {}: {} left", partsupp_.rows(),
                    parts.describe(), offers.all().size()),
        fmt::format("least by part: {} left, take the first {}", least.size(), q2_limit)};
    return done;
  }

 private:
  [[nodiscard]] std::vector<q2_offer> least_of(const part_offers& offers,
                                               const keyed_rows& suppliers,
                                               std::size_t parts) const {
    const packed& cost = partsupp_["ps_supplycost"].values;
    const auto of_region = gather_rows<q2_offer>(
        offers.all().size(), [&](const row_block& block, std::vector<q2_offer>& to) {
          for (std::size_t i = block.first; i < block.first + block.rows; ++i) {
            const part_offers::offer& of = offers.all()[i];
            const std::size_t supplier = suppliers.find(of.supplier);
            if (supplier != keyed_rows::absent)
              to.push_back({of.part, supplier, cost.value(of.row)});
          }
        });
    const auto least = group_sums<group_least<std::int64_t>>(
        of_region.size(), key_range::below(parts), [&](const row_block& block, auto&& emit) {
          for (std::size_t i = block.first; i < block.first + block.rows; ++i) {
            emit(static_cast<std::int64_t>(of_region[i].part),
                 {.least = of_region[i].cost, .rows = 1});
          }
        });
    return gather_rows<q2_offer>(
        of_region.size(), [&](const row_block& block, std::vector<q2_offer>& to) {
          for (std::size_t i = block.first; i < block.first + block.rows; ++i) {
            const q2_offer& of = of_region[i];
            if (of.cost == least.find(static_cast<std::int64_t>(of.part))->least) to.push_back(of);
          }
        });
  }

  [[nodiscard]] answer answer_of(const std::vector<q2_offer>& offers, const keyed_rows& parts,
                                 const keyed_rows& nations) const {
    const column& nation_name = nation_["n_name"];
    const packed& nation = supplier_["s_nationkey"].values;
    const packed& balance = supplier_["s_acctbal"].values;
    const packed& supplier_key = supplier_["s_suppkey"].values;
    const auto nation_row = [&](std::size_t row) {
      const std::size_t found = nations.find(nation.value(row));
      return found == keyed_rows::absent ? 0 : found;  // absent: the file has changed
    };
    const auto order_of = [&](const q2_offer& of) {
      // Parts are ordered by their keys, and nations' codes by their names.
      return std::tuple(nation_name.values.code(nation_row(of.supplier)),
                        supplier_["s_name"].text(of.supplier), of.part,
                        supplier_key.value(of.supplier));
    };
    const auto before = [&](const q2_offer& a, const q2_offer& b) {
      const std::int64_t left = balance.value(a.supplier), right = balance.value(b.supplier);
      return left != right ? left > right : order_of(a) < order_of(b);
    };
    const auto offer = [&](std::size_t i) { return offers[i]; };

    answer result{{"s_acctbal", "s_name", "n_name", "p_partkey", "p_mfgr", "s_address", "s_phone",
                   "s_comment"},
                  {}};
    for (const q2_offer& best : first_of(offers.size(), q2_limit, offer, before)) {
      const std::size_t row = best.supplier, part = parts.row(best.part);
      const auto text = [&](std::string_view column) {
        return std::string(supplier_[column].text(row));
      };
      result.rows.push_back({decimal{balance.value(row), 2}, text("s_name"),
                             std::string(nation_name.text(nation_row(row))),
                             part_["p_partkey"].values.value(part),
                             std::string(part_["p_mfgr"].text(part)), text("s_address"),
                             text("s_phone"), text("s_comment")});
    }
    return result;
  }

  const table &part_, &supplier_, &partsupp_, &nation_, &region_;
  const packed& type_;
  const packed& size_;
  std::string region_name_;
  key_index types_;
  code_range sizes_;
};

}  // namespace

const query q2 = make_query<q2_query>("q2", "Minimum cost supplier", q2_parameters);

}  // namespace creek::tpch
