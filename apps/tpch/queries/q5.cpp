// SPDX-License-Identifier: Apache-2.0
// Q5, local supplier volume: revenue of a year within each nation of a region.
//
//   select n_name, sum(l_extendedprice * (1 - l_discount)) as revenue
//   from customer, orders, lineitem, supplier, nation, region
//   where c_custkey = o_custkey and l_orderkey = o_orderkey and l_suppkey = s_suppkey
//     and c_nationkey = s_nationkey and s_nationkey = n_nationkey and n_regionkey = r_regionkey
//     and r_name = REGION and o_orderdate >= DATE and o_orderdate < DATE + 1 year
//   group by n_name order by revenue desc  -- equal ones here by n_name
//
// The orders of the year by customers of the region are one in 35. Lines look up their orders; few
// of the lines that find one are of a supplier of the same nation.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <creek/tasking/parallel_for.hpp>

#include "tpch/operators/gather_rows.hpp"
#include "tpch/operators/keyed_rows.hpp"
#include "tpch/operators/select.hpp"
#include "tpch/queries/terms/nation_names.hpp"
#include "tpch/queries/terms/nation_rows.hpp"
#include "tpch/queries/terms/net_price.hpp"
#include "tpch/query.hpp"
#include "tpch/values/date.hpp"
#include "tpch/values/day_limits.hpp"

namespace creek::tpch {
namespace {

constexpr std::array q5_parameters{
    parameter{"REGION", kind::text, "ASIA"},
    parameter{"DATE", kind::date, "1994-01-01", first_day, last_day},
};

/// Sums by the code of the nation's name.
struct q5_sums {
  std::vector<int128> revenue;
  std::vector<std::uint64_t> rows;
  std::uint64_t joined = 0;  // lines of the orders that are left

  explicit q5_sums(std::size_t nations) : revenue(nations), rows(nations) {}
  void add(const q5_sums& other) {
    for (std::size_t n = 0; n < revenue.size(); ++n) {
      revenue[n] += other.revenue[n];
      rows[n] += other.rows[n];
    }
    joined += other.joined;
  }
};

class q5_query final : public query_on_tables {
 public:
  q5_query(database& from, const parameter_values& given)
      : customer_(open(from, "customer", {"c_custkey", "c_nationkey"})),
        orders_(open(from, "orders", {"o_orderkey", "o_custkey", "o_orderdate"})),
        lineitem_(
            open(from, "lineitem", {"l_orderkey", "l_suppkey", "l_extendedprice", "l_discount"})),
        supplier_(open(from, "supplier", {"s_suppkey", "s_nationkey"})),
        nation_(open(from, "nation", {"n_nationkey", "n_name", "n_regionkey"})),
        region_(open(from, "region", {"r_regionkey", "r_name"})),
        region_name_(given.text("REGION")),
        customer_nation_(customer_["c_nationkey"].values),
        supplier_nation_(supplier_["s_nationkey"].values),
        order_customer_(orders_["o_custkey"].values),
        order_date_(orders_["o_orderdate"].values),
        line_key_(lineitem_["l_orderkey"].values),
        line_supplier_(lineitem_["l_suppkey"].values),
        net_price_(lineitem_) {
    const auto date = static_cast<std::int32_t>(given.number("DATE"));
    dates_ = codes_between(order_date_, date, add_months(date, 12) - 1);
  }

  [[nodiscard]] query_run run() const override {
    const nation_names nations(nation_, region_, region_name_);
    const nation_by_key customers(
        rows_of_partners(customer_["c_custkey"], customer_["c_nationkey"], nations.rows()),
        customer_nation_, nations);
    const nation_by_key suppliers(keyed_rows{supplier_["s_suppkey"]}, supplier_nation_, nations);
    const keyed_rows orders(
        orders_["o_orderkey"],
        select_rows(orders_.rows(), [&](const row_block& block, row_mask& mask) {
          keep_between(order_date_, block, dates_, mask);
          keep_members(order_customer_, block, customers.rows().index(), mask);
        }));
    const q5_sums sums = sum(orders, nations_of(orders, customers), suppliers, nations.size());

    query_run done{.result = answer_of(sums, nations), .rows = rows_of_tables()};
    std::uint64_t rows = 0;
    for (const std::uint64_t of : sums.rows) rows += of;
    done.bytes =
        customer_nation_.bytes() + customers.rows().size() * customer_["c_custkey"].values.width +
        supplier_["s_suppkey"].values.bytes() + order_date_.bytes() + order_customer_.bytes() +
        orders.size() * (orders_["o_orderkey"].values.width + customer_nation_.width) +
        line_key_.bytes() + sums.joined * (line_supplier_.width + supplier_nation_.width) +
        rows * net_price_.bytes_a_row();
    done.steps = {
        fmt::format("scan customer, {} rows: {} of the region", customer_.rows(),
                    customers.rows().size()),
        fmt::format("scan orders, {} rows, select o_orderdate, join on {}: {} left", orders_.rows(),
                    customers.rows().describe(), orders.size()),
        fmt::format("scan lineitem, {} rows, join on {}: {} left", lineitem_.rows(),
                    orders.describe(), sums.joined),
        fmt::format("look their suppliers up by {}: {} of the customer's nation, summed by it",
                    suppliers.rows().describe(), rows)};
    return done;
  }

 private:
  /// Returns the customer's nation, by the index of the order.
  [[nodiscard]] std::vector<std::size_t> nations_of(const keyed_rows& orders,
                                                    const nation_by_key& customers) const {
    std::vector<std::size_t> nations(orders.size());
    parallel_for(std::size_t{0}, orders.size(), [&](std::size_t place) {
      nations[place] = customers(order_customer_.value(orders.row(place)));
    });
    return nations;
  }

  [[nodiscard]] q5_sums sum(const keyed_rows& orders, const std::vector<std::size_t>& nation_of,
                            const nation_by_key& suppliers, std::size_t nations) const {
    return over_blocks(
        lineitem_.rows(), q5_sums(nations),
        [&](const row_block& block, q5_sums& so_far) {
          row_mask mask(block);
          for_each_match(line_key_, block, orders, mask,
                         [&](std::size_t row, std::size_t order) {
                           ++so_far.joined;
                           const std::size_t nation = suppliers(line_supplier_.value(row));
                           if (nation == nation_names::none || nation != nation_of[order]) return;
                           so_far.revenue[nation] += net_price_(row);
                           ++so_far.rows[nation];
                         },
                         {&line_supplier_, &net_price_.price(), &net_price_.discount()});
        },
        [](q5_sums a, const q5_sums& b) {
          a.add(b);
          return a;
        });
  }

  [[nodiscard]] static answer answer_of(const q5_sums& sums, const nation_names& nations) {
    std::vector<std::size_t> order;
    for (std::size_t n = 0; n < sums.rows.size(); ++n) {
      if (sums.rows[n] != 0) order.push_back(n);
    }
    std::ranges::stable_sort(order, std::ranges::greater{},
                             [&](std::size_t n) { return sums.revenue[n]; });
    answer result{{"n_name", "revenue"}, {}};
    for (const std::size_t n : order) {
      result.rows.push_back(
          {std::string(nations.name(n)), decimal{sums.revenue[n], net_price::scale}});
    }
    return result;
  }

  const table &customer_, &orders_, &lineitem_, &supplier_, &nation_, &region_;
  std::string region_name_;
  const packed& customer_nation_;
  const packed& supplier_nation_;
  const packed& order_customer_;
  const packed& order_date_;
  const packed& line_key_;
  const packed& line_supplier_;
  net_price net_price_;
  code_range dates_;
};

}  // namespace

const query q5 = make_query<q5_query>("q5", "Local supplier volume", q5_parameters);

}  // namespace creek::tpch
