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
#include <creek/tasking/parallel_for.hpp>
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "tpch/operators/gather_rows.hpp"
#include "tpch/operators/join_rows.hpp"
#include "tpch/operators/keyed_rows.hpp"
#include "tpch/operators/select.hpp"
#include "tpch/operators/top_k.hpp"
#include "tpch/queries/terms/net_price.hpp"
#include "tpch/query.hpp"
#include "tpch/ranks/query_ranks.hpp"
#include "tpch/ranks/rank_join.hpp"
#include "tpch/values/date.hpp"
#include "tpch/values/day_limits.hpp"

namespace creek::tpch {
namespace {

constexpr std::array q3_parameters{
    parameter{"SEGMENT", kind::text, "BUILDING"},
    parameter{"DATE", kind::date, "1995-03-15", first_day, last_day},
};

constexpr std::size_t q3_limit = 10;

/// An order that is left; on ranks also one whose customer is not known yet.
struct q3_order {
  std::int64_t key = 0, customer = 0, date = 0, priority = 0;
};

/// The sum of some consecutive lines of an order, as it goes from rank to rank.
struct q3_lines {
  std::int64_t order = 0;
  std::uint64_t lines = 0;
  int128 revenue = 0;
};

/// A row of the answer.
struct q3_row {
  q3_order order{};
  int128 revenue = 0;

  /// Returns whether the row comes before another one in the answer.
  [[nodiscard]] bool operator<(const q3_row& other) const noexcept {
    if (revenue != other.revenue) return revenue > other.revenue;
    return std::pair(order.date, order.key) < std::pair(other.order.date, other.order.key);
  }
};

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
    const keyed_rows orders(orders_["o_orderkey"], rows_of_orders(&customers.index()));
    const std::vector<q3_group> groups = revenue_of(orders);
    std::uint64_t lines = 0;
    for (const q3_group& group : groups) lines += group.lines;

    query_run done{.rows = rows_of_tables()};
    done.result =
        answer_of(best_of(groups, [&](std::size_t place) { return order_of(orders.row(place)); }));
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

  [[nodiscard]] query_run run_on(query_ranks& ranks) const override {
    query_run done{.rows = rows_of_tables()};
    std::vector<q3_order> orders = orders_on(ranks, done);
    const std::uint64_t lines = ranks.compute([this] { return count_lines(); });
    rank_join join(ranks, orders.size() * sizeof(q3_order), lines * sizeof(q3_lines));
    orders = join.left(std::move(orders), &q3_order::key);
    std::vector<q3_lines> parts;
    if (!join.broadcasts()) {
      parts = join.right(ranks.compute([this] { return sum_lines(); }), &q3_lines::order);
    }
    std::vector<q3_group> groups = ranks.compute([&] {
      sort_rows(orders, &q3_order::key);
      const keyed_rows keyed("o_orderkey", keys_of(orders, &q3_order::key));
      return join.broadcasts() ? revenue_of(keyed) : revenue_of(keyed, parts);
    });
    // After a broadcast an order has the same index on all ranks, but lines on several.
    if (join.broadcasts()) groups = ranks.to_owners(std::move(groups), &q3_group::order);
    std::vector<q3_row> best = ranks.compute([&] {
      join_groups(groups);
      return best_of(groups, [&](std::size_t place) { return orders[place]; });
    });
    best = ranks.to_first(std::move(best));
    std::ranges::sort(best, std::less{});
    best.resize(std::min(best.size(), q3_limit));
    done.result = answer_of(best);
    done.bytes += shipdate_.bytes() + line_key_.bytes() + lines * net_price_.bytes_a_row();
    done.steps.push_back(
        fmt::format("scan lineitem, {} rows, select l_shipdate: {} left", lineitem_.rows(), lines));
    done.steps.push_back(join.describe("orders", "lines"));
    done.steps.push_back(fmt::format("sum by order: {} groups, take the first {} of {} ranks",
                                     groups.size(), q3_limit, ranks.size()));
    return done;
  }

 private:
  /// Returns the orders before the date of customers in the segment, each on one rank.
  [[nodiscard]] std::vector<q3_order> orders_on(query_ranks& ranks, query_run& done) const {
    std::vector<std::int64_t> customers = ranks.compute([this] {
      const packed& key = customer_["c_custkey"].values;
      std::vector<std::int64_t> keys;
      for (const std::size_t row : rows_of_customers()) keys.push_back(key.value(row));
      return keys;
    });
    const std::uint64_t dated = ranks.compute([this] {
      return count_rows(orders_.rows(), [this](const row_block& block, row_mask& mask) {
        keep_between(order_date_, block, ordered_, mask);
      });
    });
    done.steps.push_back(fmt::format("scan customer, {} rows: {} of the segment", customer_.rows(),
                                     customers.size()));
    done.bytes = segment_.values.bytes() + customers.size() * customer_["c_custkey"].values.width +
                 order_date_.bytes() + order_customer_.bytes();

    rank_join join(ranks, customers.size() * sizeof(std::int64_t), dated * sizeof(q3_order));
    customers = join.left(std::move(customers), std::identity{});
    std::vector<q3_order> orders;
    if (!join.broadcasts()) {
      orders = join.right(ranks.compute([this] { return orders_of(rows_of_orders(nullptr)); }),
                          &q3_order::customer);
    }
    ranks.compute([&] {
      sort_rows(customers, std::identity{});
      const keyed_rows keyed("c_custkey", customers);
      if (join.broadcasts()) {
        orders = orders_of(rows_of_orders(&keyed.index()));
      } else {
        std::erase_if(orders, [&](const q3_order& order) {
          return keyed.place(order.customer) == keyed_rows::absent;
        });
      }
    });
    done.bytes += orders.size() * order_key_.width;
    done.steps.push_back(join.describe("customers", "orders"));
    done.steps.push_back(
        fmt::format("scan orders, {} rows, select o_orderdate, join: {} left on this rank",
                    orders_.rows(), orders.size()));
    return orders;
  }

  [[nodiscard]] q3_order order_of(std::size_t row) const {
    return {order_key_.value(row), order_customer_.value(row), order_date_.value(row),
            orders_["o_shippriority"].values.value(row)};
  }
  [[nodiscard]] std::vector<q3_order> orders_of(const std::vector<std::size_t>& rows) const {
    std::vector<q3_order> orders(rows.size());
    parallel_for(std::size_t{0}, rows.size(),
                 [&](std::size_t i) { orders[i] = order_of(rows[i]); });
    return orders;
  }

  [[nodiscard]] std::vector<std::size_t> rows_of_customers() const {
    return select_rows(customer_.rows(), [&](const row_block& block, row_mask& mask) {
      keep_between(segment_.values, block, segments_, mask);
    });
  }

  /// Returns the rows of orders before the date, of these customers or of all.
  [[nodiscard]] std::vector<std::size_t> rows_of_orders(const key_index* customers) const {
    return select_rows(orders_.rows(), [&](const row_block& block, row_mask& mask) {
      keep_between(order_date_, block, ordered_, mask);
      if (customers != nullptr) keep_members(order_customer_, block, *customers, mask);
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
    join_groups(groups);
    return groups;
  }

  /// Returns the groups of sums that other ranks sent.
  [[nodiscard]] static std::vector<q3_group> revenue_of(const keyed_rows& orders,
                                                        const std::vector<q3_lines>& parts) {
    std::vector<q3_group> groups;
    for (const q3_lines& part : parts) {
      const std::size_t place = orders.place(part.order);
      if (place != keyed_rows::absent) groups.push_back({place, part.revenue, part.lines});
    }
    return groups;
  }

  [[nodiscard]] std::uint64_t count_lines() const {
    return count_rows(lineitem_.rows(), [this](const row_block& block, row_mask& mask) {
      keep_between(shipdate_, block, shipped_, mask);
    });
  }

  /// Returns the lines after the date, summed while they follow one another.
  [[nodiscard]] std::vector<q3_lines> sum_lines() const {
    return gather_rows<q3_lines>(lineitem_.rows(),
                                 [&](const row_block& block, std::vector<q3_lines>& to) {
                                   row_mask mask(block);
                                   keep_between(shipdate_, block, shipped_, mask);
                                   for_each_row(block, mask, [&](std::size_t row) {
                                     const std::int64_t order = line_key_.value(row);
                                     if (to.empty() || to.back().order != order)
                                       to.push_back({order});
                                     to.back().revenue += net_price_(row);
                                     ++to.back().lines;
                                   });
                                 });
  }

  /// Joins the groups of one order, and sorts them by their orders.
  static void join_groups(std::vector<q3_group>& groups) {
    join_rows(groups, &q3_group::order, [](q3_group& to, const q3_group& from) {
      to.revenue += from.revenue;
      to.lines += from.lines;
    });
  }

  /// Returns the first rows of the answer; order_at(i) is the order of index i.
  template <class OrderAt>
  [[nodiscard]] static std::vector<q3_row> best_of(const std::vector<q3_group>& groups,
                                                   const OrderAt& order_at) {
    const auto row = [&](const q3_group& group) {
      return q3_row{order_at(group.order), group.revenue};
    };
    const auto before = [&](const q3_group& a, const q3_group& b) {
      return a.revenue != b.revenue ? a.revenue > b.revenue : row(a) < row(b);
    };
    const auto group = [&](std::size_t i) { return groups[i]; };
    std::vector<q3_row> best;
    for (const q3_group& each : first_of(groups.size(), q3_limit, group, before)) {
      best.push_back(row(each));
    }
    return best;
  }

  [[nodiscard]] static answer answer_of(const std::vector<q3_row>& best) {
    answer result{{"l_orderkey", "revenue", "o_orderdate", "o_shippriority"}, {}};
    for (const q3_row& row : best) {
      result.rows.push_back({row.order.key, decimal{row.revenue, net_price::scale},
                             date_to_string(row.order.date), row.order.priority});
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
