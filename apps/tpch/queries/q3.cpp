// SPDX-License-Identifier: Apache-2.0
// Q3, shipping priority: the ten unshipped orders of a market segment with the greatest revenue.
//
//   select l_orderkey, sum(l_extendedprice * (1 - l_discount)) as revenue, o_orderdate,
//     o_shippriority
//   from customer, orders, lineitem
//   where c_mktsegment = SEGMENT and c_custkey = o_custkey and l_orderkey = o_orderkey
//     and o_orderdate < DATE and l_shipdate > DATE
//   group by l_orderkey, o_orderdate, o_shippriority
//   order by revenue desc, o_orderdate  -- the first ten; equal ones here by l_orderkey
//
// Each join looks up keys in an index of those that are left: customers for orders, orders for
// lines. The index of an order is its group.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <creek/core/error.hpp>

#include "tpch/operators/gather_rows.hpp"
#include "tpch/operators/keyed_rows.hpp"
#include "tpch/operators/select.hpp"
#include "tpch/operators/top_k.hpp"
#include "tpch/queries/terms/net_price.hpp"
#include "tpch/query.hpp"
#include "tpch/values/date.hpp"
#include "tpch/values/day_limits.hpp"

namespace creek::tpch {
namespace {

constexpr std::array q3_parameters{
    parameter{"SEGMENT", kind::text, "BUILDING"},
    parameter{"DATE", kind::date, "1995-03-15", first_day, last_day},
};

constexpr std::size_t q3_limit = 10;

/// An order, or the sum of some consecutive lines of it.
struct q3_group {
  std::size_t order = 0;  ///< index among the orders that are left
  int128 revenue = 0;
  std::uint64_t lines = 0;
};

class q3_query final : public query_on_tables {
 public:
  q3_query(database& from, const parameter_values& given)
      : customer_(open(from, "customer", {"c_custkey", "c_mktsegment"})),
        orders_(open(from, "orders", {"o_orderkey", "o_custkey", "o_orderdate", "o_shippriority"})),
        lineitem_(
            open(from, "lineitem", {"l_orderkey", "l_shipdate", "l_extendedprice", "l_discount"})),
        segment_(customer_["c_mktsegment"]),
        order_key_(orders_["o_orderkey"].values),
        order_customer_(orders_["o_custkey"].values),
        order_date_(orders_["o_orderdate"].values),
        line_key_(lineitem_["l_orderkey"].values),
        shipdate_(lineitem_["l_shipdate"].values),
        net_price_(lineitem_) {
    const std::int64_t date = given.number("DATE");
    if (const auto code = segment_.find(given.text("SEGMENT"))) segments_ = {*code, *code};
    ordered_ = codes_between(order_date_, order_date_.least(), date - 1);
    shipped_ = codes_between(shipdate_, date + 1, shipdate_.greatest());
  }

  [[nodiscard]] query_run run() const override {
    const keyed_rows customers(customer_["c_custkey"], rows_of_customers());
    const keyed_rows orders(orders_["o_orderkey"], rows_of_orders(customers));
    const std::vector<q3_group> groups = revenue_of(orders);
    std::uint64_t lines = 0;
    for (const q3_group& group : groups) lines += group.lines;

    query_run done{.result = answer_of(orders, groups), .rows = rows_of_tables()};
    done.bytes = segment_.values.bytes() + customers.size() * customer_["c_custkey"].values.width +
                 order_date_.bytes() + order_customer_.bytes() + orders.size() * order_key_.width +
                 shipdate_.bytes() + line_key_.bytes() + lines * net_price_.bytes_a_row();
    done.steps = {
        fmt::format("scan customer, {} rows: {} of the segment", customer_.rows(),
                    customers.size()),
        fmt::format("scan orders, {} rows, select o_orderdate, join on {}: {} left", orders_.rows(),
                    customers.describe(), orders.size()),
        fmt::format("scan lineitem, {} rows, select l_shipdate, join on {}: {} left",
                    lineitem_.rows(), orders.describe(), lines),
        fmt::format("sum by order: {} groups, take the first {}", groups.size(), q3_limit)};
    return done;
  }

 private:
  [[nodiscard]] std::vector<std::size_t> rows_of_customers() const {
    return select_rows(customer_.rows(), [&](const row_block& block, row_mask& mask) {
      keep_between(segment_.values, block, segments_, mask);
    });
  }

  [[nodiscard]] std::vector<std::size_t> rows_of_orders(const keyed_rows& customers) const {
    return select_rows(orders_.rows(), [&](const row_block& block, row_mask& mask) {
      keep_between(order_date_, block, ordered_, mask);
      keep_members(order_customer_, block, customers.index(), mask);
    });
  }

  /// Returns one group per order that has lines after the date, in the order of the orders.
  [[nodiscard]] std::vector<q3_group> revenue_of(const keyed_rows& orders) const {
    const auto emit = [&](const row_block& block, std::vector<q3_group>& to) {
      row_mask mask(block);
      keep_between(shipdate_, block, shipped_, mask);
      for_each_match(line_key_, block, orders, mask,
                     [&](std::size_t row, std::size_t order) {
                       if (to.empty() || to.back().order != order) to.push_back({order});
                       to.back().revenue += net_price_(row);
                       ++to.back().lines;
                     },
                     {&net_price_.price(), &net_price_.discount()});
    };
    auto groups = gather_rows<q3_group>(lineitem_.rows(), emit);
    if (!std::ranges::is_sorted(groups, {}, &q3_group::order)) {
      std::ranges::sort(groups, {}, &q3_group::order);
    }
    std::size_t size = 0;  // number of groups after parts are joined
    for (const q3_group& next : groups) {
      if (size > 0 && groups[size - 1].order == next.order) {
        groups[size - 1].revenue += next.revenue;
        groups[size - 1].lines += next.lines;
      } else {
        groups[size++] = next;
      }
    }
    groups.resize(size);
    return groups;
  }

  [[nodiscard]] answer answer_of(const keyed_rows& orders,
                                 const std::vector<q3_group>& groups) const {
    const auto date_of = [&](const q3_group& group) {
      return order_date_.value(orders.row(group.order));
    };
    const auto before = [&](const q3_group& a, const q3_group& b) {
      if (a.revenue != b.revenue) return a.revenue > b.revenue;
      return date_of(a) != date_of(b) ? date_of(a) < date_of(b) : a.order < b.order;
    };
    const auto group = [&](std::size_t i) { return groups[i]; };

    answer result{{"l_orderkey", "revenue", "o_orderdate", "o_shippriority"}, {}};
    const packed& priority = orders_["o_shippriority"].values;
    for (const q3_group& best : first_of(groups.size(), q3_limit, group, before)) {
      const std::size_t row = orders.row(best.order);
      result.rows.push_back({order_key_.value(row), decimal{best.revenue, net_price::scale},
                             date_to_string(order_date_.value(row)), priority.value(row)});
    }
    return result;
  }

  const table &customer_, &orders_, &lineitem_;
  const column& segment_;
  const packed& order_key_;
  const packed& order_customer_;
  const packed& order_date_;
  const packed& line_key_;
  const packed& shipdate_;
  net_price net_price_;
  code_range segments_, ordered_, shipped_;
};

}  // namespace

const query q3 = make_query<q3_query>("q3", "Shipping priority", q3_parameters);

}  // namespace creek::tpch
