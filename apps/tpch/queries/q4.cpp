// SPDX-License-Identifier: Apache-2.0
// Q4, order priority checking: how many orders of a quarter had a line that came late.
//
//   select o_orderpriority, count(*) as order_count from orders
//   where o_orderdate >= DATE and o_orderdate < DATE + 3 months and exists (
//     select * from lineitem where l_orderkey = o_orderkey and l_commitdate < l_receiptdate)
//   group by o_orderpriority order by o_orderpriority
//
// The orders of the quarter are few, so the lines look up their orders and mark them.
#include <fmt/format.h>

#include <array>
#include <atomic>
#include <creek/tasking/parallel_reduce.hpp>
#include <functional>

#include "tpch/operators/gather_rows.hpp"
#include "tpch/operators/keyed_rows.hpp"
#include "tpch/operators/select.hpp"
#include "tpch/query.hpp"
#include "tpch/values/date.hpp"
#include "tpch/values/day_limits.hpp"

namespace creek::tpch {
namespace {

constexpr std::array q4_parameters{
    parameter{"DATE", kind::date, "1993-07-01", first_day, last_day},
};

class q4_query final : public query_on_tables {
 public:
  q4_query(database& from, const parameter_values& given)
      : orders_(open(from, "orders", {"o_orderkey", "o_orderdate", "o_orderpriority"})),
        lineitem_(open(from, "lineitem", {"l_orderkey", "l_commitdate", "l_receiptdate"})),
        order_key_(orders_["o_orderkey"]),
        order_date_(orders_["o_orderdate"].values),
        priority_(orders_["o_orderpriority"]),
        line_key_(lineitem_["l_orderkey"].values),
        commitdate_(lineitem_["l_commitdate"].values),
        receiptdate_(lineitem_["l_receiptdate"].values) {
    const auto date = static_cast<std::int32_t>(given.number("DATE"));
    dates_ = codes_between(order_date_, date, add_months(date, 3) - 1);
  }

  [[nodiscard]] query_run run() const override {
    const keyed_rows orders(
        order_key_, select_rows(orders_.rows(), [&](const row_block& block, row_mask& mask) {
          keep_between(order_date_, block, dates_, mask);
        }));
    late_marks late(orders.size());
    const std::uint64_t lines = mark_late(orders, late);
    const std::vector<std::int64_t> counts = count(orders, late);

    query_run done{.rows = rows_of_tables()};
    done.result.columns = {"o_orderpriority", "order_count"};
    std::int64_t found = 0;
    for (std::size_t code = 0; code < counts.size(); ++code) {
      if (counts[code] == 0) continue;
      done.result.rows.push_back({std::string(priority_.word(code)), counts[code]});
      found += counts[code];
    }
    done.bytes = order_date_.bytes() + orders.size() * order_key_.values.width + line_key_.bytes() +
                 lines * (commitdate_.width + receiptdate_.width) +
                 static_cast<std::uint64_t>(found) * priority_.values.width;
    done.steps = {
        fmt::format("scan orders, {} rows, select o_orderdate: {} left", orders_.rows(),
                    orders.size()),
        fmt::format("scan lineitem, {} rows, join on {}: {} left, mark orders of late ones",
                    lineitem_.rows(), orders.describe(), lines),
        fmt::format("count {} marked orders by priority", found)};
    return done;
  }

 private:
  /// One mark per order that is left. Two workers may find lines of one order.
  using late_marks = std::vector<std::atomic<bool>>;

  /// Returns how many lines the orders have.
  std::uint64_t mark_late(const keyed_rows& orders, late_marks& late) const {
    return over_blocks(
        lineitem_.rows(), std::uint64_t{0},
        [&](const row_block& block, std::uint64_t& so_far) {
          row_mask mask(block);
          keep_members(line_key_, block, orders.index(), mask);
          so_far += mask.count(block);
          keep_less(commitdate_, receiptdate_, block, mask);
          for_each_match(line_key_, block, orders, mask, [&](std::size_t, std::size_t order) {
            late[order].store(true, std::memory_order_relaxed);
          });
        },
        std::plus{});
  }

  /// Returns the counts by the code of the priority.
  [[nodiscard]] std::vector<std::int64_t> count(const keyed_rows& orders,
                                                const late_marks& late) const {
    using counts = std::vector<std::int64_t>;
    return parallel_reduce_range(
        std::size_t{0}, orders.size(), counts(priority_.words()),
        [&](std::size_t i, std::size_t last, counts so_far) {
          for (; i < last; ++i) {
            if (late[i].load(std::memory_order_relaxed)) {
              ++so_far[priority_.values.code(orders.row(i))];
            }
          }
          return so_far;
        },
        [](counts a, const counts& b) {
          for (std::size_t code = 0; code < a.size(); ++code) a[code] += b[code];
          return a;
        });
  }

  const table &orders_, &lineitem_;
  const column& order_key_;
  const packed& order_date_;
  const column& priority_;
  const packed& line_key_;
  const packed& commitdate_;
  const packed& receiptdate_;
  code_range dates_;
};

}  // namespace

const query q4 = make_query<q4_query>("q4", "Order priority checking", q4_parameters);

}  // namespace creek::tpch
