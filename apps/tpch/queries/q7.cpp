// SPDX-License-Identifier: Apache-2.0
// Q7, volume shipping: revenue of what two nations shipped to each other in 1995 and 1996.
//
//   select supp_nation, cust_nation, l_year, sum(volume) as revenue from (
//     select n1.n_name as supp_nation, n2.n_name as cust_nation,
//       extract(year from l_shipdate) as l_year, l_extendedprice * (1 - l_discount) as volume
//     from supplier, lineitem, orders, customer, nation n1, nation n2
//     where s_suppkey = l_suppkey and o_orderkey = l_orderkey and c_custkey = o_custkey
//       and s_nationkey = n1.n_nationkey and c_nationkey = n2.n_nationkey
//       and (n1.n_name = NATION1 and n2.n_name = NATION2
//         or n1.n_name = NATION2 and n2.n_name = NATION1)
//       and l_shipdate between date '1995-01-01' and date '1996-12-31')
//   group by supp_nation, cust_nation, l_year order by supp_nation, cust_nation, l_year
//
// Suppliers, customers and then orders are restricted to the two nations. One line in 40 has a
// supplier that is left, one in 500 also an order.
#include <fmt/format.h>

#include <algorithm>
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

constexpr std::array q7_parameters{
    parameter{"NATION1", kind::text, "FRANCE"},
    parameter{"NATION2", kind::text, "GERMANY"},
};

constexpr std::int64_t q7_first_year = 1995;

/// Sums by the supplying one of the two nations, and by year.
struct q7_sums {
  struct group {
    int128 revenue = 0;
    std::uint64_t rows = 0;
  };
  std::array<std::array<group, 2>, 2> groups{};
  std::uint64_t supplied = 0;  // lines of these years with a supplier of either nation
  std::uint64_t joined = 0;    // those of `supplied` with such a customer too

  void add(const q7_sums& other) {
    for (std::size_t n = 0; n < 2; ++n) {
      for (std::size_t y = 0; y < 2; ++y) {
        groups[n][y].revenue += other.groups[n][y].revenue;
        groups[n][y].rows += other.groups[n][y].rows;
      }
    }
    supplied += other.supplied;
    joined += other.joined;
  }
};

class q7_query final : public query_on_tables {
 public:
  q7_query(database& from, const parameter_values& given)
      : supplier_(open(from, "supplier", {"s_suppkey", "s_nationkey"})),
        customer_(open(from, "customer", {"c_custkey", "c_nationkey"})),
        orders_(open(from, "orders", {"o_orderkey", "o_custkey"})),
        lineitem_(open(from, "lineitem",
                       {"l_orderkey", "l_suppkey", "l_shipdate", "l_extendedprice", "l_discount"})),
        nation_(open(from, "nation", {"n_nationkey", "n_name"})),
        supplier_nation_(supplier_["s_nationkey"].values),
        customer_nation_(customer_["c_nationkey"].values),
        order_customer_(orders_["o_custkey"].values),
        line_key_(lineitem_["l_orderkey"].values),
        line_supplier_(lineitem_["l_suppkey"].values),
        shipdate_(lineitem_["l_shipdate"].values),
        net_price_(lineitem_),
        names_{given.text("NATION1"), given.text("NATION2")},
        second_year_(*parse_date("1996-01-01")) {
    std::ranges::sort(names_);  // their order makes no difference
    dates_ = codes_between(shipdate_, *parse_date("1995-01-01"), *parse_date("1996-12-31"));
  }

  [[nodiscard]] query_run run() const override {
    const nation_names nations(nation_);
    const std::array<std::size_t, 2> wanted{nations.code_named(names_[0]),
                                            nations.code_named(names_[1])};
    query_run done{.rows = rows_of_tables()};
    done.result.columns = {"supp_nation", "cust_nation", "l_year", "revenue"};
    done.bytes = supplier_nation_.bytes() + customer_nation_.bytes();
    if (wanted[0] == nation_names::none || wanted[1] == nation_names::none) {
      done.steps = {"one of the nations is not there"};
      return done;
    }
    const keyed_rows both(nation_["n_nationkey"],
                          select_rows(nation_.rows(), [&](const row_block& block, row_mask& mask) {
                            keep_either(nation_["n_name"].values, block, wanted[0], wanted[1],
                                        mask);
                          }));
    const nation_by_key suppliers(
        rows_of_partners(supplier_["s_suppkey"], supplier_["s_nationkey"], both), supplier_nation_,
        nations);
    const nation_by_key customers(
        rows_of_partners(customer_["c_custkey"], customer_["c_nationkey"], both), customer_nation_,
        nations);
    const keyed_rows orders(
        orders_["o_orderkey"],
        select_rows(orders_.rows(), [&](const row_block& block, row_mask& mask) {
          keep_members(order_customer_, block, customers.rows().index(), mask);
        }));
    const q7_sums sums = over_blocks(
        lineitem_.rows(), q7_sums{},
        [&](const row_block& block, q7_sums& so_far) {
          add(block, suppliers, customers, orders, wanted, so_far);
        },
        [](q7_sums a, const q7_sums& b) {
          a.add(b);
          return a;
        });
    put_rows(sums, done.result);
    done.bytes += suppliers.rows().size() * supplier_["s_suppkey"].values.width +
                  customers.rows().size() * customer_["c_custkey"].values.width +
                  order_customer_.bytes() + orders.size() * orders_["o_orderkey"].values.width +
                  shipdate_.bytes() + line_supplier_.bytes() + sums.supplied * line_key_.width +
                  sums.joined * (supplier_nation_.width + order_customer_.width +
                                 customer_nation_.width + net_price_.bytes_a_row());
    done.steps = {
        fmt::format("scan supplier and customer: {} and {} of the nations", suppliers.rows().size(),
                    customers.rows().size()),
        fmt::format("scan orders, {} rows, join on {}: {} left", orders_.rows(),
                    customers.rows().describe(), orders.size()),
        fmt::format("scan lineitem, {} rows, select l_shipdate, join on {}: {} left",
                    lineitem_.rows(), suppliers.rows().describe(), sums.supplied),
        fmt::format("join on {}: {} left, of which those between the nations are summed by year",
                    orders.describe(), sums.joined)};
    return done;
  }

 private:
  using codes = std::array<std::size_t, 2>;

  void add(const row_block& block, const nation_by_key& suppliers, const nation_by_key& customers,
           const keyed_rows& orders, const codes& wanted, q7_sums& so_far) const {
    row_mask mask(block);
    keep_between(shipdate_, block, dates_, mask);
    keep_members(line_supplier_, block, suppliers.rows().index(), mask);
    so_far.supplied += mask.count(block);
    for_each_match(
        line_key_, block, orders, mask,
        [&](std::size_t row, std::size_t order) {
          ++so_far.joined;
          const std::size_t supplier = suppliers(line_supplier_.value(row)) == wanted[0] ? 0 : 1;
          const std::size_t customer = customers(order_customer_.value(orders.row(order)));
          if (customer != wanted[1 - supplier]) return;
          auto& group = so_far.groups[supplier][shipdate_.value(row) < second_year_ ? 0 : 1];
          group.revenue += net_price_(row);
          ++group.rows;
        },
        {&net_price_.price(), &net_price_.discount()});
  }

  void put_rows(const q7_sums& sums, answer& to) const {
    for (std::size_t n = 0; n < 2; ++n) {
      for (std::size_t y = 0; y < 2; ++y) {
        const q7_sums::group& of = sums.groups[n][y];
        if (of.rows == 0) continue;
        to.rows.push_back({names_[n], names_[1 - n], q7_first_year + static_cast<std::int64_t>(y),
                           decimal{of.revenue, net_price::scale}});
      }
    }
  }

  const table &supplier_, &customer_, &orders_, &lineitem_, &nation_;
  const packed& supplier_nation_;
  const packed& customer_nation_;
  const packed& order_customer_;
  const packed& line_key_;
  const packed& line_supplier_;
  const packed& shipdate_;
  net_price net_price_;
  std::array<std::string, 2> names_;
  std::int64_t second_year_;
  code_range dates_;
};

}  // namespace

const query q7 = make_query<q7_query>("q7", "Volume shipping", q7_parameters);

}  // namespace creek::tpch
