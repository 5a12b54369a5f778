// SPDX-License-Identifier: Apache-2.0
// Q8, national market share: a nation's share of what a region buys of one type of part, in 1995
// and 1996.
//
//   select o_year, sum(case when nation = NATION then volume else 0 end) / sum(volume) as mkt_share
//   from (
//     select extract(year from o_orderdate) as o_year,
//       l_extendedprice * (1 - l_discount) as volume, n2.n_name as nation
//     from part, supplier, lineitem, orders, customer, nation n1, nation n2, region
//     where p_partkey = l_partkey and s_suppkey = l_suppkey and l_orderkey = o_orderkey
//       and o_custkey = c_custkey and c_nationkey = n1.n_nationkey
//       and n1.n_regionkey = r_regionkey and r_name = REGION and s_nationkey = n2.n_nationkey
//       and o_orderdate between date '1995-01-01' and date '1996-12-31' and p_type = TYPE)
//   group by o_year order by o_year
//
// One part in 150 is of the type, and one order in 16 of the years and the region.
#include <fmt/format.h>

#include <array>

#include "tpch/operators/gather_rows.hpp"
#include "tpch/operators/keyed_rows.hpp"
#include "tpch/operators/select.hpp"
#include "tpch/queries/terms/nation_names.hpp"
#include "tpch/queries/terms/nation_rows.hpp"
#include "tpch/queries/terms/net_price.hpp"
#include "tpch/query.hpp"
#include "tpch/values/date.hpp"

namespace creek::tpch {
namespace {

constexpr std::array q8_parameters{
    parameter{"NATION", kind::text, "BRAZIL"},
    parameter{"REGION", kind::text, "AMERICA"},
    parameter{"TYPE", kind::text, "ECONOMY ANODIZED STEEL"},
};

constexpr std::int64_t q8_first_year = 1995;

struct q8_sums {
  struct year {
    int128 nation = 0, all = 0;
    std::uint64_t rows = 0;
  };
  std::array<year, 2> years{};
  std::uint64_t of_type = 0;  // lines

  void add(const q8_sums& other) {
    for (std::size_t y = 0; y < years.size(); ++y) {
      years[y].nation += other.years[y].nation;
      years[y].all += other.years[y].all;
      years[y].rows += other.years[y].rows;
    }
    of_type += other.of_type;
  }
};

class q8_query final : public query_on_tables {
 public:
  q8_query(database& from, const parameter_values& given)
      : part_(open(from, "part", {"p_partkey", "p_type"})),
        supplier_(open(from, "supplier", {"s_suppkey", "s_nationkey"})),
        lineitem_(open(from, "lineitem",
                       {"l_orderkey", "l_partkey", "l_suppkey", "l_extendedprice", "l_discount"})),
        orders_(open(from, "orders", {"o_orderkey", "o_custkey", "o_orderdate"})),
        customer_(open(from, "customer", {"c_custkey", "c_nationkey"})),
        nation_(open(from, "nation", {"n_nationkey", "n_name", "n_regionkey"})),
        region_(open(from, "region", {"r_regionkey", "r_name"})),
        supplier_nation_(supplier_["s_nationkey"].values),
        line_key_(lineitem_["l_orderkey"].values),
        line_part_(lineitem_["l_partkey"].values),
        line_supplier_(lineitem_["l_suppkey"].values),
        order_customer_(orders_["o_custkey"].values),
        order_date_(orders_["o_orderdate"].values),
        net_price_(lineitem_),
        nation_name_(given.text("NATION")),
        region_name_(given.text("REGION")),
        type_name_(given.text("TYPE")),
        second_year_(*parse_date("1996-01-01")) {
    dates_ = codes_between(order_date_, *parse_date("1995-01-01"), *parse_date("1996-12-31"));
  }

  [[nodiscard]] query_run run() const override {
    const nation_names all(nation_);
    const nation_names of_region(nation_, region_, region_name_);
    const nation_by_key suppliers(keyed_rows{supplier_["s_suppkey"]}, supplier_nation_, all);
    const keyed_rows customers =
        rows_of_partners(customer_["c_custkey"], customer_["c_nationkey"], of_region.rows());
    const keyed_rows parts = rows_with_word(part_["p_partkey"], part_["p_type"], type_name_);
    const keyed_rows orders(
        orders_["o_orderkey"],
        select_rows(orders_.rows(), [&](const row_block& block, row_mask& mask) {
          keep_between(order_date_, block, dates_, mask);
          keep_members(order_customer_, block, customers.index(), mask);
        }));
    const std::size_t nation = all.code_named(nation_name_);
    const q8_sums sums = over_blocks(
        lineitem_.rows(), q8_sums{},
        [&](const row_block& block, q8_sums& so_far) {
          add(block, parts, orders, suppliers, nation, so_far);
        },
        [](q8_sums a, const q8_sums& b) {
          a.add(b);
          return a;
        });

    query_run done{.result = answer_of(sums), .rows = rows_of_tables()};
    const std::uint64_t rows = sums.years[0].rows + sums.years[1].rows;
    done.bytes = part_["p_type"].values.bytes() + parts.size() * part_["p_partkey"].values.width +
                 supplier_["s_suppkey"].values.bytes() + customer_["c_nationkey"].values.bytes() +
                 customers.size() * customer_["c_custkey"].values.width + order_date_.bytes() +
                 order_customer_.bytes() + orders.size() * orders_["o_orderkey"].values.width +
                 line_part_.bytes() + sums.of_type * line_key_.width +
                 rows * (line_supplier_.width + supplier_nation_.width + order_date_.width +
                         net_price_.bytes_a_row());
    done.steps = {
        fmt::format("scan part, {} rows: {} of the type", part_.rows(), parts.size()),
        fmt::format("scan customer, {} rows: {} of the region", customer_.rows(), customers.size()),
        fmt::format("scan orders, {} rows, select o_orderdate, join on {}: {} left", orders_.rows(),
                    customers.describe(), orders.size()),
        fmt::format("scan lineitem, {} rows, join on {}: {} left", lineitem_.rows(),
                    parts.describe(), sums.of_type),
        fmt::format("join on {}, look suppliers up by {}: {} left, summed by year",
                    orders.describe(), suppliers.rows().describe(), rows)};
    return done;
  }

 private:
  void add(const row_block& block, const keyed_rows& parts, const keyed_rows& orders,
           const nation_by_key& suppliers, std::size_t nation, q8_sums& so_far) const {
    row_mask mask(block);
    keep_members(line_part_, block, parts.index(), mask);
    so_far.of_type += mask.count(block);
    for_each_match(line_key_, block, orders, mask,
                   [&](std::size_t row, std::size_t order) {
                     const std::size_t of = suppliers(line_supplier_.value(row));
                     if (of == nation_names::none) return;
                     const bool first = order_date_.value(orders.row(order)) < second_year_;
                     q8_sums::year& year = so_far.years[first ? 0 : 1];
                     const int128 volume = net_price_(row);
                     year.all += volume;
                     if (of == nation) year.nation += volume;
                     ++year.rows;
                   },
                   {&line_supplier_, &net_price_.price(), &net_price_.discount()});
  }

  [[nodiscard]] static answer answer_of(const q8_sums& sums) {
    answer result{{"o_year", "mkt_share"}, {}};
    for (std::size_t y = 0; y < sums.years.size(); ++y) {
      const q8_sums::year& of = sums.years[y];
      if (of.rows == 0) continue;
      result.rows.push_back({q8_first_year + static_cast<std::int64_t>(y),
                             of.all == 0 ? cell(null{}) : quotient(of.nation, of.all, 6)});
    }
    return result;
  }

  const table &part_, &supplier_, &lineitem_, &orders_, &customer_, &nation_, &region_;
  const packed& supplier_nation_;
  const packed& line_key_;
  const packed& line_part_;
  const packed& line_supplier_;
  const packed& order_customer_;
  const packed& order_date_;
  net_price net_price_;
  std::string nation_name_, region_name_, type_name_;
  std::int64_t second_year_;
  code_range dates_;
};

}  // namespace

const query q8 = make_query<q8_query>("q8", "National market share", q8_parameters);

}  // namespace creek::tpch
