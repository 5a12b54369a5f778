// SPDX-License-Identifier: Apache-2.0
// Q10, returned item reporting: the twenty customers whose returns of a quarter's orders cost most.
//
//   select c_custkey, c_name, sum(l_extendedprice * (1 - l_discount)) as revenue, c_acctbal,
//   n_name,
//     c_address, c_phone, c_comment
//   from customer, orders, lineitem, nation
//   where c_custkey = o_custkey and l_orderkey = o_orderkey and o_orderdate >= DATE
//     and o_orderdate < DATE + 3 months and l_returnflag = 'R' and c_nationkey = n_nationkey
//   group by c_custkey, c_name, c_acctbal, c_phone, n_name, c_address, c_comment
//   order by revenue desc  -- the first twenty; equal ones here by c_custkey
//
// The lines look up the orders of the quarter and are summed by customer; names, addresses and the
// other texts are read for twenty customers only.
#include <fmt/format.h>

#include <array>
#include <atomic>
#include <creek/tasking/parallel_for.hpp>

#include "tpch/operators/gather_rows.hpp"
#include "tpch/operators/group_sums.hpp"
#include "tpch/operators/keyed_rows.hpp"
#include "tpch/operators/select.hpp"
#include "tpch/operators/top_k.hpp"
#include "tpch/queries/terms/nation_names.hpp"
#include "tpch/queries/terms/net_price.hpp"
#include "tpch/query.hpp"
#include "tpch/values/date.hpp"
#include "tpch/values/day_limits.hpp"

namespace creek::tpch {
namespace {

constexpr std::array q10_parameters{
    parameter{"DATE", kind::date, "1993-10-01", first_day, last_day},
};

constexpr std::size_t q10_limit = 20;

struct q10_group {
  std::size_t customer = 0;  // row
  int128 revenue = 0;
};

class q10_query final : public query_on_tables {
 public:
  q10_query(database& from, const parameter_values& given)
      : customer_(open(from, "customer",
                       {"c_custkey", "c_name", "c_address", "c_nationkey", "c_phone", "c_acctbal",
                        "c_comment"})),
        orders_(open(from, "orders", {"o_orderkey", "o_custkey", "o_orderdate"})),
        lineitem_(open(from, "lineitem",
                       {"l_orderkey", "l_returnflag", "l_extendedprice", "l_discount"})),
        nation_(open(from, "nation", {"n_nationkey", "n_name"})),
        customer_key_(customer_["c_custkey"]),
        customer_nation_(customer_["c_nationkey"].values),
        order_customer_(orders_["o_custkey"].values),
        order_date_(orders_["o_orderdate"].values),
        line_key_(lineitem_["l_orderkey"].values),
        flag_(lineitem_["l_returnflag"]),
        net_price_(lineitem_) {
    const auto date = static_cast<std::int32_t>(given.number("DATE"));
    dates_ = codes_between(order_date_, date, add_months(date, 3) - 1);
    if (const auto code = flag_.find("R")) flags_ = {*code, *code};
  }

  [[nodiscard]] query_run run() const override {
    const nation_names nations(nation_);
    const keyed_rows customers(customer_key_);
    const keyed_rows orders(
        orders_["o_orderkey"],
        select_rows(orders_.rows(), [&](const row_block& block, row_mask& mask) {
          keep_between(order_date_, block, dates_, mask);
        }));
    const std::vector<std::int64_t> customer_of = customers_of(orders, customers, nations);
    std::atomic<std::uint64_t> returned{0};
    const auto revenue = group_sums<group_sum<int128>>(
        lineitem_.rows(), key_range::below(customer_.rows()),
        [&](const row_block& block, auto&& emit) {
          returned.fetch_add(add(block, orders, customer_of, emit), std::memory_order_relaxed);
        });
    const auto groups = revenue.gather<q10_group>(
        [](std::int64_t row, const group_sum<int128>& of, std::vector<q10_group>& to) {
          to.push_back({static_cast<std::size_t>(row), of.sum});
        });

    query_run done{.result = answer_of(groups, nations), .rows = rows_of_tables()};
    done.bytes = customer_key_.values.bytes() + order_date_.bytes() +
                 orders.size() * (orders_["o_orderkey"].values.width + order_customer_.width +
                                  customer_nation_.width) +
                 flag_.values.bytes() + line_key_.bytes() + returned * net_price_.bytes_a_row();
    done.steps = {fmt::format("scan orders, {} rows, select o_orderdate: {} left", orders_.rows(),
                              orders.size()),
                  fmt::format("look their customers up by {}", customers.describe()),
                  fmt::format("scan lineitem, {} rows, select l_returnflag, join on {}: {} left",
                              lineitem_.rows(), orders.describe(), returned.load()),
                  fmt::format("sum by customer, {} of {} bytes: {} groups, take the first {}",
                              revenue.way(), revenue.bytes(), groups.size(), q10_limit)};
    return done;
  }

 private:
  static constexpr std::int64_t none = -1;

  /// Returns the customers' rows, by the index of the order; none if the customer does not exist or
  /// has no nation.
  [[nodiscard]] std::vector<std::int64_t> customers_of(const keyed_rows& orders,
                                                       const keyed_rows& customers,
                                                       const nation_names& nations) const {
    std::vector<std::int64_t> rows(orders.size(), none);
    parallel_for(std::size_t{0}, rows.size(), [&](std::size_t place) {
      const std::size_t row = customers.find(order_customer_.value(orders.row(place)));
      if (row == keyed_rows::absent) return;
      if (nations.code_of(customer_nation_.value(row)) == nation_names::none) return;
      rows[place] = static_cast<std::int64_t>(row);
    });
    return rows;
  }

  /// Returns how many lines of the block count.
  template <class Emit>
  std::uint64_t add(const row_block& block, const keyed_rows& orders,
                    const std::vector<std::int64_t>& customer_of, Emit&& emit) const {
    std::uint64_t returned = 0;
    row_mask mask(block);
    keep_between(flag_.values, block, flags_, mask);
    for_each_match(line_key_, block, orders, mask,
                   [&](std::size_t row, std::size_t order) {
                     if (customer_of[order] == none) return;
                     emit(customer_of[order], {net_price_(row), 1});
                     ++returned;
                   },
                   {&net_price_.price(), &net_price_.discount()});
    return returned;
  }

  [[nodiscard]] answer answer_of(const std::vector<q10_group>& groups,
                                 const nation_names& nations) const {
    const packed& keys = customer_key_.values;
    const auto before = [&](const q10_group& a, const q10_group& b) {
      if (a.revenue != b.revenue) return a.revenue > b.revenue;
      return keys.value(a.customer) < keys.value(b.customer);
    };
    const auto group = [&](std::size_t i) { return groups[i]; };
    const auto text = [&](std::string_view column, std::size_t row) {
      return std::string(customer_[column].text(row));
    };
    answer result{{"c_custkey", "c_name", "revenue", "c_acctbal", "n_name", "c_address", "c_phone",
                   "c_comment"},
                  {}};
    for (const q10_group& best : first_of(groups.size(), q10_limit, group, before)) {
      const std::size_t row = best.customer;
      const std::size_t nation = nations.code_of(customer_nation_.value(row));
      if (nation == nation_names::none) continue;  // the file has changed
      result.rows.push_back(
          {keys.value(row), text("c_name", row), decimal{best.revenue, net_price::scale},
           decimal{customer_["c_acctbal"].values.value(row), 2}, std::string(nations.name(nation)),
           text("c_address", row), text("c_phone", row), text("c_comment", row)});
    }
    return result;
  }

  const table &customer_, &orders_, &lineitem_, &nation_;
  const column& customer_key_;
  const packed& customer_nation_;
  const packed& order_customer_;
  const packed& order_date_;
  const packed& line_key_;
  const column& flag_;
  net_price net_price_;
  code_range dates_, flags_;
};

}  // namespace

const query q10 = make_query<q10_query>("q10", "Returned item reporting", q10_parameters);

}  // namespace creek::tpch
