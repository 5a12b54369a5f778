// SPDX-License-Identifier: Apache-2.0
// Q18, large volume customer: the hundred dearest of the orders with a large quantity.
//
//   select c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice, sum(l_quantity)
//   from customer, orders, lineitem
//   where o_orderkey in (select l_orderkey from lineitem
//       group by l_orderkey having sum(l_quantity) > QUANTITY)
//     and c_custkey = o_custkey and o_orderkey = l_orderkey
//   group by c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice
//   order by o_totalprice desc, o_orderdate  -- the first hundred; equal ones here by o_orderkey
//
// If the lines are in the order of their orders, as dbgen writes them, an order is a run of rows,
// and only a run that is long enough to reach the quantity is summed. Few orders reach it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>

#include "tpch/operators/gather_rows.hpp"
#include "tpch/operators/group_sums.hpp"
#include "tpch/operators/keyed_rows.hpp"
#include "tpch/operators/select.hpp"
#include "tpch/operators/top_k.hpp"
#include "tpch/query.hpp"
#include "tpch/values/date.hpp"

namespace creek::tpch {
namespace {

constexpr std::array q18_parameters{
    parameter{"QUANTITY", kind::integer, "300", 0, 1'000'000'000},
};

constexpr std::size_t q18_limit = 100;

struct q18_order {
  std::int64_t key = 0;
  int128 quantity = 0;  // hundredths
};

class q18_query final : public query_on_tables {
 public:
  q18_query(database& from, const parameter_values& given)
      : customer_(open(from, "customer", {"c_custkey", "c_name"})),
        orders_(open(from, "orders", {"o_orderkey", "o_custkey", "o_totalprice", "o_orderdate"})),
        lineitem_(open(from, "lineitem", {"l_orderkey", "l_quantity"})),
        customer_key_(customer_["c_custkey"]),
        order_key_(orders_["o_orderkey"]),
        order_customer_(orders_["o_custkey"].values),
        price_(orders_["o_totalprice"].values),
        date_(orders_["o_orderdate"].values),
        line_key_(lineitem_["l_orderkey"].values),
        quantity_(lineitem_["l_quantity"].values),
        more_than_(100 * given.number("QUANTITY")) {}

  [[nodiscard]] query_run run() const override {
    query_run done{.rows = rows_of_tables()};
    const std::vector<q18_order> large = large_orders(done);
    std::vector<std::int64_t> keys(large.size());
    std::ranges::transform(large, keys.begin(), &q18_order::key);
    const key_index index(keys);
    const keyed_rows orders(
        order_key_, select_rows(orders_.rows(), [&](const row_block& block, row_mask& mask) {
          keep_members(order_key_.values, block, index, mask);
        }));
    const keyed_rows customers(customer_key_);
    done.result = answer_of(large, index, orders, customers);
    done.bytes += order_key_.values.bytes() + customer_key_.values.bytes() +
                  orders.size() * (order_customer_.width + price_.width + date_.width);
    done.steps.push_back(fmt::format("scan orders, {} rows, join on {} keys of {} bytes: {} left",
                                     orders_.rows(), index.size(), index.bytes(), orders.size()));
    done.steps.push_back(fmt::format("look their customers up by {}, take the first {}",
                                     customers.describe(), q18_limit));
    return done;
  }

 private:
  /// Returns the orders by their keys. Adds its work to `done`.
  [[nodiscard]] std::vector<q18_order> large_orders(query_run& done) const {
    std::atomic<std::uint64_t> summed{0};
    std::atomic<bool> in_order{true};
    auto large = gather_rows<q18_order>(
        lineitem_.rows(), [&](const row_block& block, std::vector<q18_order>& to) {
          if (!in_order.load(std::memory_order_relaxed)) return;
          row_mask mask(block);
          if (!keep_run_ends(line_key_, block, mask)) {
            in_order.store(false, std::memory_order_relaxed);
            return;
          }
          summed.fetch_add(add_runs(block, mask, to), std::memory_order_relaxed);
        });
    done.bytes += line_key_.bytes();
    if (in_order) {
      done.bytes += summed * quantity_.width;
      done.steps.push_back(
          fmt::format("scan lineitem, {} rows in runs of an order each, sum l_quantity of {} rows "
                      "in long runs: {} orders above {}",
                      lineitem_.rows(), summed.load(), large.size(), more_than_ / 100));
      return large;
    }
    done.bytes += line_key_.bytes() + quantity_.bytes();
    return sums_fit_64_bits() ? by_key<std::int64_t>(done) : by_key<int128>(done);
  }

  /// Sums the runs that end in the block and may reach the quantity. Returns how many rows it read.
  std::uint64_t add_runs(const row_block& block, const row_mask& ends,
                         std::vector<q18_order>& to) const {
    const row_list last_rows(block, ends);
    if (last_rows.size() == 0) return 0;
    // The first run may have begun in a block before.
    std::size_t begin = block.first;
    while (begin > 0 && line_key_.code(begin - 1) == line_key_.code(block.first)) --begin;
    const int128 most = quantity_.greatest();
    std::uint64_t read = 0;
    for (const std::size_t offset : last_rows) {
      const std::size_t end = block.first + offset + 1;
      const std::size_t rows = end - begin;
      if (static_cast<int128>(rows) * most > more_than_) {
        int128 sum = 0;
        for (std::size_t row = begin; row < end; ++row) sum += quantity_.value(row);
        if (sum > more_than_) to.push_back({line_key_.value(begin), sum});
        read += rows;
      }
      begin = end;
    }
    return read;
  }

  [[nodiscard]] bool sums_fit_64_bits() const noexcept {
    const int128 low = quantity_.least(), high = quantity_.greatest();
    return std::max(-low, high) * static_cast<int128>(lineitem_.rows()) <
           std::numeric_limits<std::int64_t>::max();
  }

  /// Finds the orders of lines in any order.
  template <class Number>
  [[nodiscard]] std::vector<q18_order> by_key(query_run& done) const {
    using sum = group_sum<Number>;
    const auto sums = group_sums<sum>(lineitem_.rows(), key_range::of(line_key_),
                                      [&](const row_block& block, auto&& emit) {
                                        for_each_row(block, row_mask(block), [&](std::size_t row) {
                                          emit(line_key_.value(row), sum{quantity_.value(row), 1});
                                        });
                                      });
    auto large = sums.template gather<q18_order>(
        [&](std::int64_t key, const sum& of, std::vector<q18_order>& to) {
          if (of.sum > more_than_) to.push_back({key, of.sum});
        });
    if (!std::ranges::is_sorted(large, {}, &q18_order::key)) {
      std::ranges::sort(large, {}, &q18_order::key);
    }
    done.steps.push_back(fmt::format(
        "scan lineitem, {} rows, sum l_quantity by order, {} of {} bytes: {} orders above {}",
        lineitem_.rows(), sums.way(), sums.bytes(), large.size(), more_than_ / 100));
    return large;
  }

  [[nodiscard]] answer answer_of(const std::vector<q18_order>& large, const key_index& index,
                                 const keyed_rows& orders, const keyed_rows& customers) const {
    std::vector<std::size_t> rows;  // rows in orders
    for (std::size_t place = 0; place < orders.size(); ++place) {
      const std::size_t row = orders.row(place);
      if (customers.find(order_customer_.value(row)) != keyed_rows::absent) rows.push_back(row);
    }
    const auto before = [&](std::size_t a, std::size_t b) {
      if (price_.value(a) != price_.value(b)) return price_.value(a) > price_.value(b);
      if (date_.value(a) != date_.value(b)) return date_.value(a) < date_.value(b);
      return order_key_.values.value(a) < order_key_.values.value(b);
    };
    const auto row_at = [&](std::size_t i) { return rows[i]; };
    answer result{
        {"c_name", "c_custkey", "o_orderkey", "o_orderdate", "o_totalprice", "sum(l_quantity)"},
        {}};
    for (const std::size_t row : first_of(rows.size(), q18_limit, row_at, before)) {
      const std::int64_t key = order_key_.values.value(row);
      const std::int64_t customer = order_customer_.value(row);
      const std::size_t customer_row = customers.find(customer), place = index.find(key);
      if (customer_row == keyed_rows::absent || place == key_index::absent) continue;  // changed
      result.rows.push_back({std::string(customer_["c_name"].text(customer_row)), customer, key,
                             date_to_string(date_.value(row)), decimal{price_.value(row), 2},
                             decimal{large[place].quantity, 2}});
    }
    return result;
  }

  const table &customer_, &orders_, &lineitem_;
  const column& customer_key_;
  const column& order_key_;
  const packed& order_customer_;
  const packed& price_;
  const packed& date_;
  const packed& line_key_;
  const packed& quantity_;
  std::int64_t more_than_;  // hundredths
};

}  // namespace

const query q18 = make_query<q18_query>("q18", "Large volume customer", q18_parameters);

}  // namespace creek::tpch
