// SPDX-License-Identifier: Apache-2.0
// Q3 as in [DSS 2011]: scans of the three tables, joined by nested loops. Grouping, order and
// limit are left out: the answer is the number of lines that are left and their revenue.
#pragma once

#include <functional>

#include "../database.hpp"
#include "../query.hpp"
#include "rank_streams.hpp"

namespace creek::tpch::paper {

class q3_form {
 public:
  q3_form(database& from, const parameter_values& given)
      : customer_(from.open("customer", {"c_custkey", "c_mktsegment"})),
        orders_(from.open("orders", {"o_orderkey", "o_custkey", "o_orderdate"})),
        lineitem_(
            from.open("lineitem", {"l_orderkey", "l_shipdate", "l_extendedprice", "l_discount"})),
        date_(given.number("DATE")) {
    const auto code = customer_["c_mktsegment"].find(given.text("SEGMENT"));
    segment_ = code ? static_cast<std::int64_t>(*code) : -1;  // a code that no customer has
  }

  [[nodiscard]] std::uint64_t rows() const noexcept {
    return customer_.rows() + orders_.rows() + lineitem_.rows();
  }
  [[nodiscard]] bool lost() const noexcept {
    return customer_.lost() || orders_.lost() || lineitem_.lost();
  }

  /// Collective. Calls has_read() when this rank has its streams. Returns the answer at rank 0.
  template <class Ranks, class HasRead>
  [[nodiscard]] answer run(Ranks& ranks, HasRead&& has_read) const {
    const rank_streams me(ranks);
    const row_part customers = me.part_of(customer_.rows());
    const row_part orders = me.part_of(orders_.rows());
    const row_part lines = me.part_of(lineitem_.rows());
    const stream customer_key = me.read(customer_["c_custkey"].values, customers);
    const stream segment = me.read(customer_["c_mktsegment"].values, customers);
    const stream order_key = me.read(orders_["o_orderkey"].values, orders);
    const stream order_customer = me.read(orders_["o_custkey"].values, orders);
    const stream order_date = me.read(orders_["o_orderdate"].values, orders);
    const stream line_order = me.read(lineitem_["l_orderkey"].values, lines);
    const stream shipdate = me.read(lineitem_["l_shipdate"].values, lines);
    const stream price = me.read(lineitem_["l_extendedprice"].values, lines);
    const stream discount = me.read(lineitem_["l_discount"].values, lines);
    has_read();

    const auto chosen = me.gather(
        me.template scan<std::int64_t>(customers.rows, 2, [&](std::size_t i, auto& result) {
          if (segment[i] == segment_) result.push_back(customer_key[i]);
        }));
    const auto ordered = me.template scan<order>(orders.rows, 3, [&](std::size_t i, auto& result) {
      if (order_date[i] < date_) result.push_back({order_key[i], order_customer[i]});
    });
    const auto key = [](std::int64_t k) { return k; };
    const auto theirs = me.gather(me.template join<std::int64_t>(
        ordered, [](const order& o) { return o.customer; }, chosen, key,
        [](const order& o, std::int64_t, auto& result) { result.push_back(o.key); }));
    const auto shipped = me.template scan<line>(lines.rows, 4, [&](std::size_t i, auto& result) {
      if (shipdate[i] > date_) result.push_back({line_order[i], price[i], discount[i]});
    });
    const auto joined = me.template join<line>(
        shipped, [](const line& l) { return l.order; }, theirs, key,
        [](const line& l, std::int64_t, auto& result) { result.push_back(l); });

    int128 revenue = 0;
    for (const line& l : joined) revenue += int128{l.price} * (100 - l.discount);
    me.state_sums(joined, 2);
    const auto count = static_cast<std::int64_t>(joined.size());
    return {
        {"lines", "revenue"},
        {{ranks.reduce(count, std::plus{}, 0), decimal{ranks.reduce(revenue, std::plus{}, 0), 4}}}};
  }

 private:
  struct order {
    std::int64_t key, customer;
  };
  struct line {
    std::int64_t order, price, discount;
  };

  table customer_, orders_, lineitem_;
  std::int64_t date_, segment_ = 0;
};

}  // namespace creek::tpch::paper
