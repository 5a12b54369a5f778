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
// Each join looks keys up in an index of those that are left: customers for orders, orders for
// lines. The place of an order in its index is its group.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <creek/core/error.hpp>

#include "data_fault.hpp"
#include "date.hpp"
#include "day_limits.hpp"
#include "gather_rows.hpp"
#include "key_index.hpp"
#include "query.hpp"
#include "select.hpp"

namespace creek::tpch {
namespace {

constexpr std::array q3_parameters{
    parameter{"SEGMENT", kind::text, "BUILDING"},
    parameter{"DATE", kind::date, "1995-03-15", first_day, last_day},
};

constexpr std::size_t q3_limit = 10;

struct q3_hit {
  std::size_t order = 0;  ///< place among the orders that are left
  std::size_t row = 0;    ///< of the line
};

struct q3_group {
  std::size_t order = 0;
  int128 revenue = 0;
};

class q3_query final : public prepared_query {
 public:
  q3_query(database& from, const parameter_values& given)
      : customer_(from.open("customer", {"c_custkey", "c_mktsegment"})),
        orders_(from.open("orders", {"o_orderkey", "o_custkey", "o_orderdate", "o_shippriority"})),
        lineitem_(
            from.open("lineitem", {"l_orderkey", "l_shipdate", "l_extendedprice", "l_discount"})),
        segment_(customer_["c_mktsegment"]),
        customer_key_(customer_["c_custkey"].values),
        order_key_(orders_["o_orderkey"].values),
        order_customer_(orders_["o_custkey"].values),
        order_date_(orders_["o_orderdate"].values),
        line_key_(lineitem_["l_orderkey"].values),
        shipdate_(lineitem_["l_shipdate"].values),
        price_(lineitem_["l_extendedprice"].values),
        discount_(lineitem_["l_discount"].values) {
    const std::int64_t date = given.number("DATE");
    if (const auto code = segment_.find(given.text("SEGMENT"))) segments_ = {*code, *code};
    ordered_ = codes_between(order_date_, order_date_.least(), date - 1);
    shipped_ = codes_between(shipdate_, date + 1, shipdate_.greatest());
  }

  [[nodiscard]] bool lost() const noexcept override {
    return customer_.lost() || orders_.lost() || lineitem_.lost();
  }

  [[nodiscard]] query_run run() const override {
    const key_index customers(keys_of_customers());
    const std::vector<std::size_t> orders = orders_of(customers);
    std::vector<std::int64_t> keys(orders.size());
    std::ranges::transform(orders, keys.begin(),
                           [this](std::size_t row) { return order_key_.value(row); });
    const key_index index(keys);
    const std::vector<q3_hit> hits = lines_of(index);

    query_run done{.result = answer_of(orders, revenue_of(hits)),
                   .rows = customer_.rows() + orders_.rows() + lineitem_.rows()};
    done.bytes = segment_.values.bytes() + customers.size() * customer_key_.width +
                 order_date_.bytes() + order_customer_.bytes() + orders.size() * order_key_.width +
                 shipdate_.bytes() + line_key_.bytes() +
                 hits.size() * (price_.width + discount_.width);
    done.steps = {
        fmt::format("scan customer, {} rows: {} of the segment", customer_.rows(),
                    customers.size()),
        fmt::format("scan orders, {} rows, select o_orderdate, join on {} of {} bytes: {} left",
                    orders_.rows(), name_of(customers), customers.bytes(), orders.size()),
        fmt::format("scan lineitem, {} rows, select l_shipdate, join on {} of {} bytes: {} left",
                    lineitem_.rows(), name_of(index), index.bytes(), hits.size()),
        fmt::format("sum by order, take the first {}", q3_limit)};
    return done;
  }

 private:
  static const char* name_of(const key_index& index) {
    return index.dense() ? "a bitmap" : "a hash table";
  }

  /// A key that two rows of a table have would make a join count too much.
  [[noreturn]] static void fail_as_not_unique(std::string_view column, std::int64_t key) {
    fail(data_fault::malformed, fmt::format("{}: two rows have the key {}", column, key));
  }

  [[nodiscard]] std::vector<std::int64_t> keys_of_customers() const {
    auto keys = gather_rows<std::int64_t>(customer_.rows(), [&](const row_block& block,
                                                                std::vector<std::int64_t>& to) {
      row_mask mask(block);
      keep_between(segment_.values, block, segments_, mask);
      for_each_row(block, mask, [&](std::size_t row) { to.push_back(customer_key_.value(row)); });
    });
    if (!std::ranges::is_sorted(keys)) std::ranges::sort(keys);
    const auto twice = std::ranges::adjacent_find(keys);
    if (twice != keys.end()) fail_as_not_unique("c_custkey", *twice);
    return keys;
  }

  /// Rows of the orders of these customers before the date, in the order of their keys.
  [[nodiscard]] std::vector<std::size_t> orders_of(const key_index& customers) const {
    const auto emit = [&](const row_block& block, std::vector<std::size_t>& to) {
      row_mask mask(block);
      keep_between(order_date_, block, ordered_, mask);
      keep_members(order_customer_, block, customers, mask);
      for (const std::size_t row : row_list(block, mask)) to.push_back(block.first + row);
    };
    auto rows = gather_rows<std::size_t>(orders_.rows(), emit);
    const auto key = [this](std::size_t row) { return order_key_.value(row); };
    if (!std::ranges::is_sorted(rows, {}, key)) std::ranges::sort(rows, {}, key);
    const auto twice = std::ranges::adjacent_find(rows, {}, key);
    if (twice != rows.end()) fail_as_not_unique("o_orderkey", key(*twice));
    return rows;
  }

  /// The lines of these orders after the date, in the order of the orders.
  [[nodiscard]] std::vector<q3_hit> lines_of(const key_index& orders) const {
    const auto emit = [&](const row_block& block, std::vector<q3_hit>& to) {
      row_mask mask(block);
      keep_between(shipdate_, block, shipped_, mask);
      keep_members(line_key_, block, orders, mask);
      for (const std::size_t row : row_list(block, mask)) {
        to.push_back({orders.find(line_key_.value(block.first + row)), block.first + row});
      }
    };
    auto hits = gather_rows<q3_hit>(lineitem_.rows(), emit);
    if (!std::ranges::is_sorted(hits, {}, &q3_hit::order)) {
      std::ranges::sort(hits, {}, &q3_hit::order);
    }
    return hits;
  }

  /// Few lines are left, so their sums are made by one task.
  [[nodiscard]] std::vector<q3_group> revenue_of(const std::vector<q3_hit>& hits) const {
    std::vector<q3_group> groups;
    for (const q3_hit& hit : hits) {
      if (groups.empty() || groups.back().order != hit.order) groups.push_back({hit.order});
      groups.back().revenue += int128{price_.value(hit.row)} * (100 - discount_.value(hit.row));
    }
    return groups;
  }

  /// `orders` holds the row of each place among the orders.
  [[nodiscard]] answer answer_of(const std::vector<std::size_t>& orders,
                                 const std::vector<q3_group>& groups) const {
    const auto date_of = [&](const q3_group& group) {
      return order_date_.value(orders[group.order]);
    };
    const auto before = [&](const q3_group& a, const q3_group& b) {
      if (a.revenue != b.revenue) return a.revenue > b.revenue;
      return date_of(a) != date_of(b) ? date_of(a) < date_of(b) : a.order < b.order;
    };
    std::vector<q3_group> best(std::min(q3_limit, groups.size()));
    std::ranges::partial_sort_copy(groups, best, before);

    answer result{{"l_orderkey", "revenue", "o_orderdate", "o_shippriority"}, {}};
    const packed& priority = orders_["o_shippriority"].values;
    for (const q3_group& group : best) {
      const std::size_t row = orders[group.order];
      result.rows.push_back({order_key_.value(row), decimal{group.revenue, 4},
                             date_to_string(order_date_.value(row)), priority.value(row)});
    }
    return result;
  }

  table customer_, orders_, lineitem_;
  const column& segment_;
  const packed& customer_key_;
  const packed& order_key_;
  const packed& order_customer_;
  const packed& order_date_;
  const packed& line_key_;
  const packed& shipdate_;
  const packed& price_;
  const packed& discount_;
  code_range segments_, ordered_, shipped_;
};

}  // namespace

const query q3 = make_query<q3_query>("q3", "Shipping priority", q3_parameters);

}  // namespace creek::tpch
