// SPDX-License-Identifier: Apache-2.0
// Reference versions of the queries: plain loops over plain records.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "rows.hpp"
#include "tpch/answer.hpp"
#include "tpch/values/date.hpp"

namespace creek::tpch::testing {

inline answer oracle_q1(const small_database& data, int delta) {
  struct sums {
    int128 quantity = 0, price = 0, net = 0, charge = 0, discount = 0;
    std::int64_t count = 0;
  };
  std::map<std::pair<char, char>, sums> groups;
  for (const line_row& line : data.lines) {
    if (line.shipped > *parse_date("1998-12-01") - delta) continue;
    sums& to = groups[{line.flag, line.status}];
    to.quantity += line.quantity;
    to.price += line.price;
    to.net += int128{line.price} * (100 - line.discount);
    to.charge += int128{line.price} * (100 - line.discount) * (100 + line.tax);
    to.discount += line.discount;
    ++to.count;
  }
  answer result{{"l_returnflag", "l_linestatus", "sum_qty", "sum_base_price", "sum_disc_price",
                 "sum_charge", "avg_qty", "avg_price", "avg_disc", "count_order"},
                {}};
  for (const auto& [key, of] : groups) {
    result.rows.push_back({std::string(1, key.first), std::string(1, key.second),
                           decimal{of.quantity, 2}, decimal{of.price, 2}, decimal{of.net, 4},
                           decimal{of.charge, 6}, average({of.quantity, 2}, of.count, 6),
                           average({of.price, 2}, of.count, 6),
                           average({of.discount, 2}, of.count, 6), of.count});
  }
  return result;
}

inline answer oracle_q3(const small_database& data, const std::string& segment, std::int32_t date) {
  std::map<std::int64_t, bool> wanted;
  for (const customer_row& customer : data.customers) {
    wanted[customer.key] = customer.segment == segment;
  }
  std::map<std::int64_t, const order_row*> orders;
  for (const order_row& order : data.orders) {
    const auto found = wanted.find(order.customer);
    if (found != wanted.end() && found->second && order.date < date) orders[order.key] = &order;
  }
  std::map<std::int64_t, int128> revenue;
  for (const line_row& line : data.lines) {
    if (line.shipped <= date || !orders.contains(line.order)) continue;
    revenue[line.order] += int128{line.price} * (100 - line.discount);
  }
  std::vector<std::tuple<int128, std::int32_t, std::int64_t>> sorted;
  for (const auto& [key, sum] : revenue) sorted.emplace_back(-sum, orders[key]->date, key);
  std::ranges::sort(sorted);
  if (sorted.size() > 10) sorted.resize(10);
  answer result{{"l_orderkey", "revenue", "o_orderdate", "o_shippriority"}, {}};
  for (const auto& [sum, day, key] : sorted) {
    result.rows.push_back({key, decimal{-sum, 4}, date_to_string(day), orders[key]->ship_priority});
  }
  return result;
}

inline answer oracle_q6(const small_database& data, std::int32_t date, std::int64_t discount,
                        std::int64_t quantity) {
  int128 revenue = 0;
  bool any = false;
  for (const line_row& line : data.lines) {
    if (line.shipped < date || line.shipped >= add_months(date, 12)) continue;
    if (line.discount < discount - 1 || line.discount > discount + 1) continue;
    if (line.quantity >= 100 * quantity) continue;
    revenue += int128{line.price} * line.discount;
    any = true;
  }
  return {{"revenue"}, {{any ? cell(decimal{revenue, 4}) : null{}}}};
}

inline answer oracle_q12(const small_database& data, const std::string& one,
                         const std::string& other, std::int32_t date) {
  std::map<std::int64_t, std::string> priority_of;
  for (const order_row& order : data.orders) priority_of[order.key] = order.priority;
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> counts;
  for (const line_row& line : data.lines) {
    if (line.mode != one && line.mode != other) continue;
    if (line.committed >= line.received || line.shipped >= line.committed) continue;
    if (line.received < date || line.received >= add_months(date, 12)) continue;
    const auto order = priority_of.find(line.order);
    if (order == priority_of.end()) continue;
    const bool high = order->second == "1-URGENT" || order->second == "2-HIGH";
    ++(high ? counts[line.mode].first : counts[line.mode].second);
  }
  answer result{{"l_shipmode", "high_line_count", "low_line_count"}, {}};
  for (const auto& [mode, of] : counts) result.rows.push_back({mode, of.first, of.second});
  return result;
}

}  // namespace creek::tpch::testing
