// SPDX-License-Identifier: Apache-2.0
// Q13, customer distribution: how many customers have how many orders?
//
//   select c_count, count(*) as custdist
//   from (select c_custkey, count(o_orderkey) as c_count
//         from customer left outer join orders
//           on c_custkey = o_custkey and o_comment not like '%WORD1%WORD2%'
//         group by c_custkey)
//   group by c_count order by custdist desc, c_count desc
//
// Nearly all orders count, so most of the time is spent searching their comments.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tpch/operators/group_sums.hpp"
#include "tpch/operators/keyed_rows.hpp"
#include "tpch/operators/text_pattern.hpp"
#include "tpch/query.hpp"

namespace creek::tpch {
namespace {

constexpr std::array q13_parameters{
    parameter{"WORD1", kind::text, "special"},
    parameter{"WORD2", kind::text, "requests"},
};

struct q13_row {
  std::int64_t orders = 0, customers = 0;
};

class q13_query final : public query_on_tables {
 public:
  q13_query(database& from, const parameter_values& given)
      : customer_(open(from, "customer", {"c_custkey"})),
        orders_(open(from, "orders", {"o_custkey", "o_comment"})),
        customer_key_(customer_["c_custkey"]),
        order_customer_(orders_["o_custkey"].values),
        comment_(orders_["o_comment"]),
        pattern_{.inner = {given.text("WORD1"), given.text("WORD2")}} {}

  [[nodiscard]] query_run run() const override {
    const keyed_rows customers(customer_key_);  // checks that no key occurs twice
    const auto orders = group_sums<group_count>(
        orders_.rows(), key_range::of(order_customer_), [&](const row_block& block, auto&& emit) {
          row_mask mask(block);
          keep_like(comment_, block, pattern_, false, mask);
          for_each_row(block, mask,
                       [&](std::size_t row) { emit(order_customer_.value(row), {.rows = 1}); });
        });
    query_run done{.result = answer_of(distribution_of(orders)),
                   .rows = rows_of_tables(),
                   .bytes = comment_.scan_bytes() + order_customer_.bytes() +
                            2 * customer_key_.values.bytes()};
    done.steps = {fmt::format("scan orders, {} rows, select o_comment: {} bytes of text",
                              orders_.rows(), comment_.bytes.size()),
                  fmt::format("count by o_custkey, {} of {} bytes", orders.way(), orders.bytes()),
                  fmt::format("scan customer, {} rows, look counts up", customer_.rows()),
                  fmt::format("count by count: {} groups", done.result.rows.size())};
    return done;
  }

 private:
  [[nodiscard]] std::vector<q13_row> distribution_of(const groups<group_count>& orders) const {
    const auto count_of = [&](std::size_t customer) {
      const group_count* const of = orders.find(customer_key_.values.value(customer));
      return of == nullptr ? 0 : static_cast<std::int64_t>(of->rows);
    };
    const std::int64_t most = over_blocks(
        customer_.rows(), std::int64_t{0},
        [&](const row_block& block, std::int64_t& so_far) {
          for (std::size_t i = 0; i < block.rows; ++i) {
            so_far = std::max(so_far, count_of(block.first + i));
          }
        },
        [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
    const auto customers = group_sums<group_count>(customer_.rows(), {0, most},
                                                   [&](const row_block& block, auto&& emit) {
                                                     for (std::size_t i = 0; i < block.rows; ++i)
                                                       emit(count_of(block.first + i), {.rows = 1});
                                                   });
    return customers.gather<q13_row>(
        [](std::int64_t count, const group_count& of, std::vector<q13_row>& to) {
          to.push_back({count, static_cast<std::int64_t>(of.rows)});
        });
  }

  [[nodiscard]] static answer answer_of(std::vector<q13_row> rows) {
    std::ranges::sort(rows, [](const q13_row& a, const q13_row& b) {
      return a.customers != b.customers ? a.customers > b.customers : a.orders > b.orders;
    });
    answer result{{"c_count", "custdist"}, {}};
    for (const q13_row& row : rows) result.rows.push_back({row.orders, row.customers});
    return result;
  }

  const table &customer_, &orders_;
  const column& customer_key_;
  const packed& order_customer_;
  const column& comment_;
  text_pattern pattern_;
};

}  // namespace

const query q13 = make_query<q13_query>("q13", "Customer distribution", q13_parameters);

}  // namespace creek::tpch
