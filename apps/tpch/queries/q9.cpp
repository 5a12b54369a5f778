// SPDX-License-Identifier: Apache-2.0
// Q9, product type profit: what each nation's suppliers earned by some parts in each year.
//
//   select nation, o_year, sum(amount) as sum_profit
//   from (select n_name as nation, extract(year from o_orderdate) as o_year,
//           l_extendedprice * (1 - l_discount) - ps_supplycost * l_quantity as amount
//         from part, supplier, lineitem, partsupp, orders, nation
//         where s_suppkey = l_suppkey and ps_suppkey = l_suppkey and ps_partkey = l_partkey
//           and p_partkey = l_partkey and o_orderkey = l_orderkey and s_nationkey = n_nationkey
//           and p_name like '%COLOR%')
//   group by nation, o_year order by nation, o_year desc
//
// One part in twenty is of the colour. The lines of these parts are gathered with everything except
// the year; then the orders of these lines are gathered.
#include <fmt/format.h>

#include <array>

#include "tpch/operators/gather_rows.hpp"
#include "tpch/operators/group_sums.hpp"
#include "tpch/operators/keyed_rows.hpp"
#include "tpch/operators/text_pattern.hpp"
#include "tpch/queries/terms/nation_names.hpp"
#include "tpch/queries/terms/net_price.hpp"
#include "tpch/queries/terms/part_offers.hpp"
#include "tpch/query.hpp"
#include "tpch/values/date.hpp"

namespace creek::tpch {
namespace {

constexpr std::array q9_parameters{
    parameter{"COLOR", kind::text, "green"},
};

struct q9_line {
  std::int64_t order = 0;
  std::size_t nation = 0;  ///< code of the nation's name
  int128 amount = 0;
};

class q9_query final : public query_on_tables {
 public:
  q9_query(database& from, const parameter_values& given)
      : part_(open(from, "part", {"p_partkey", "p_name"})),
        supplier_(open(from, "supplier", {"s_suppkey", "s_nationkey"})),
        lineitem_(open(from, "lineitem",
                       {"l_orderkey", "l_partkey", "l_suppkey", "l_quantity", "l_extendedprice",
                        "l_discount"})),
        partsupp_(open(from, "partsupp", {"ps_partkey", "ps_suppkey", "ps_supplycost"})),
        orders_(open(from, "orders", {"o_orderkey", "o_orderdate"})),
        nation_(open(from, "nation", {"n_nationkey", "n_name"})),
        name_(part_["p_name"]),
        nations_(nation_),
        line_order_(lineitem_["l_orderkey"].values),
        line_part_(lineitem_["l_partkey"].values),
        line_supplier_(lineitem_["l_suppkey"].values),
        quantity_(lineitem_["l_quantity"].values),
        cost_(partsupp_["ps_supplycost"].values),
        order_key_(orders_["o_orderkey"]),
        order_date_(orders_["o_orderdate"].values),
        net_price_(lineitem_),
        pattern_{.inner = {given.text("COLOR")}} {}

  [[nodiscard]] query_run run() const override {
    const keyed_rows parts(part_["p_partkey"],
                           select_rows(part_.rows(), [&](const row_block& block, row_mask& mask) {
                             keep_like(name_, block, pattern_, true, mask);
                           }));
    const part_offers offers(partsupp_, parts);
    const std::vector<q9_line> lines = lines_of(parts, offers);
    const keyed_rows orders = orders_of(lines);

    query_run done{.result = answer_of(lines, orders)};
    done.rows = rows_of_tables();
    const packed& offer_part = partsupp_["ps_partkey"].values;
    done.bytes = name_.scan_bytes() + offer_part.bytes() + line_part_.bytes() +
                 order_key_.values.bytes() + supplier_["s_suppkey"].values.bytes() +
                 supplier_["s_nationkey"].values.bytes() + parts.size() * line_part_.width +
                 offers.all().size() * (line_supplier_.width + cost_.width) +
                 lines.size() * (line_supplier_.width + line_order_.width + quantity_.width +
                                 net_price_.bytes_a_row()) +
                 orders.size() * order_date_.width;
    done.steps = {
        fmt::format("scan part, {} rows, select p_name: {} left", part_.rows(), parts.size()),
        fmt::format("scan partsupp, {} rows, join on {}: {} left", partsupp_.rows(),
                    parts.describe(), offers.all().size()),
        fmt::format("scan lineitem, {} rows, join on {}, with supplier, nation and offer: {} left",
                    lineitem_.rows(), parts.describe(), lines.size()),
        fmt::format("scan orders, {} rows, join on the lines' keys: {} left, {}", orders_.rows(),
                    orders.size(), orders.describe()),
        fmt::format("sum by nation and year: {} groups", done.result.rows.size())};
    return done;
  }

 private:
  [[nodiscard]] std::vector<q9_line> lines_of(const keyed_rows& parts,
                                              const part_offers& offers) const {
    const nation_by_key nation_of(keyed_rows{supplier_["s_suppkey"]},
                                  supplier_["s_nationkey"].values, nations_);
    std::vector<std::int64_t> costs;  // costs of the offers, side by side so that they fit a cache
    costs.reserve(offers.all().size());
    for (const part_offers::offer& of : offers.all()) costs.push_back(cost_.value(of.row));
    return gather_rows<q9_line>(
        lineitem_.rows(), [&](const row_block& block, std::vector<q9_line>& to) {
          row_mask mask(block);
          for_each_match(line_part_, block, parts, mask,
                         [&](std::size_t row, std::size_t part) {
                           const std::int64_t key = line_supplier_.value(row);
                           const std::size_t nation = nation_of(key);
                           if (nation == nation_names::none) return;
                           const auto [first, last] = offers.find(part, key);
                           for (std::size_t i = first; i < last; ++i) {
                             const int128 cost = int128{costs[i]} * quantity_.value(row);
                             to.push_back({line_order_.value(row), nation, net_price_(row) - cost});
                           }
                         },
                         {&line_supplier_, &line_order_, &quantity_, &net_price_.price(),
                          &net_price_.discount()});
        });
  }

  [[nodiscard]] keyed_rows orders_of(const std::vector<q9_line>& lines) const {
    std::vector<std::int64_t> keys(lines.size());
    std::ranges::transform(lines, keys.begin(), &q9_line::order);
    make_key_set(keys);
    const key_index wanted(keys);
    return {order_key_, select_rows(orders_.rows(), [&](const row_block& block, row_mask& mask) {
              keep_members(order_key_.values, block, wanted, mask);
            })};
  }

  [[nodiscard]] answer answer_of(const std::vector<q9_line>& lines,
                                 const keyed_rows& orders) const {
    const auto year_at = [&](std::size_t row) {
      return year_of(static_cast<std::int32_t>(order_date_.value(row)));
    };
    const std::int32_t last = year_of(static_cast<std::int32_t>(order_date_.greatest()));
    const std::int64_t years = last - year_of(static_cast<std::int32_t>(order_date_.least())) + 1;
    const auto names = static_cast<std::int64_t>(nations_.size());
    // Ordered by name, with the latest year first.
    const auto sums = group_sums<group_sum<int128>>(
        lines.size(), {0, names * years - 1}, [&](const row_block& block, auto&& emit) {
          for (std::size_t i = block.first; i < block.first + block.rows; ++i) {
            const q9_line& line = lines[i];
            const std::size_t order = orders.find(line.order);
            if (order == keyed_rows::absent) continue;
            emit(static_cast<std::int64_t>(line.nation) * years + (last - year_at(order)),
                 {.sum = line.amount, .rows = 1});
          }
        });
    using row = std::vector<cell>;
    return {{"nation", "o_year", "sum_profit"},
            sums.gather<row>(
                [&](std::int64_t group, const group_sum<int128>& of, std::vector<row>& to) {
                  to.push_back({std::string(nations_.name(static_cast<std::size_t>(group / years))),
                                last - group % years, decimal{of.sum, net_price::scale}});
                })};
  }

  const table &part_, &supplier_, &lineitem_, &partsupp_, &orders_, &nation_;
  const column& name_;
  nation_names nations_;
  const packed& line_order_;
  const packed& line_part_;
  const packed& line_supplier_;
  const packed& quantity_;
  const packed& cost_;
  const column& order_key_;
  const packed& order_date_;
  net_price net_price_;
  text_pattern pattern_;
};

}  // namespace

const query q9 = make_query<q9_query>("q9", "Product type profit", q9_parameters);

}  // namespace creek::tpch
