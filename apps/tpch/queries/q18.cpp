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
#include <creek/tasking/parallel_for.hpp>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tpch/operators/gather_rows.hpp"
#include "tpch/operators/group_sums.hpp"
#include "tpch/operators/join_rows.hpp"
#include "tpch/operators/keyed_rows.hpp"
#include "tpch/operators/select.hpp"
#include "tpch/operators/top_k.hpp"
#include "tpch/query.hpp"
#include "tpch/ranks/query_ranks.hpp"
#include "tpch/ranks/rank_join.hpp"
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

/// A large order, with its row in orders, as it goes from rank to rank.
struct q18_order_row {
  std::int64_t key = 0, customer = 0, price = 0, date = 0;
  int128 quantity = 0;

  /// Returns whether the order comes before another one in the answer.
  [[nodiscard]] bool operator<(const q18_order_row& other) const noexcept {
    if (price != other.price) return price > other.price;
    return std::pair(date, key) < std::pair(other.date, other.key);
  }
};

struct q18_customer {
  std::int64_t key = 0;
  std::uint8_t length = 0;
  std::array<char, 25> bytes{};

  [[nodiscard]] std::string name() const { return {bytes.data(), length}; }
};

/// A row of the answer.
struct q18_row {
  q18_order_row order{};
  q18_customer customer{};

  [[nodiscard]] bool operator<(const q18_row& other) const noexcept { return order < other.order; }
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
    const std::vector<q18_order> large = large_orders(done, {});
    const key_index index(keys_of(large, &q18_order::key));
    const keyed_rows orders(order_key_, rows_of_orders(index));
    const keyed_rows customers(customer_key_);
    done.result = answer_of(best_of(orders_of(orders, large, index), customers));
    done.bytes += order_key_.values.bytes() + customer_key_.values.bytes() +
                  orders.size() * (order_customer_.width + price_.width + date_.width);
    done.steps.push_back(fmt::format("scan orders, {} rows, join on {} keys of {} bytes: {} left",
                                     orders_.rows(), index.size(), index.bytes(), orders.size()));
    done.steps.push_back(fmt::format("look their customers up by {}, take the first {}",
                                     customers.describe(), q18_limit));
    return done;
  }

  [[nodiscard]] query_run run_on(query_ranks& ranks) const override {
    query_run done{.rows = rows_of_tables()};
    std::vector<q18_order_row> orders = orders_on(ranks, large_orders_on(ranks, done), done);
    rank_join join(ranks, orders.size() * sizeof(q18_order_row),
                   customer_.rows() * sizeof(q18_customer));
    orders = join.left(std::move(orders), &q18_order_row::customer);
    std::vector<q18_customer> customers;
    if (!join.broadcasts()) {
      customers = join.right(ranks.compute([this] { return all_customers(); }), &q18_customer::key);
    }
    std::vector<q18_row> best = ranks.compute([&] {
      return join.broadcasts() ? best_of(orders, keyed_rows(customer_key_))
                               : best_of(orders, customers);
    });
    best = ranks.to_first(std::move(best));
    std::ranges::sort(best, std::less{});
    const auto same = [](const q18_row& a, const q18_row& b) { return a.order.key == b.order.key; };
    const auto twice = std::ranges::adjacent_find(best, same);
    if (twice != best.end()) fail_for_two("c_custkey", twice->order.customer);
    best.resize(std::min(best.size(), q18_limit));
    done.result = answer_of(best);
    done.bytes += customer_key_.values.bytes();
    done.steps.push_back(join.describe("orders", "customers"));
    done.steps.push_back(fmt::format("take the first {} of {} ranks", q18_limit, ranks.size()));
    return done;
  }

 private:
  /// Returns the large orders, each on one rank. A key that only lines of this rank may have has
  /// its sum here; lines of other keys are summed where they are and then by the keys' owners.
  [[nodiscard]] std::vector<q18_order> large_orders_on(query_ranks& ranks, query_run& done) const {
    std::vector<key_range> others =
        ranks.to_all(std::vector{ranks.compute([this] { return range_of_keys(); })});
    others.erase(others.begin() + ranks.rank());
    std::vector<q18_order> large = ranks.compute([&] { return large_orders(done, others); });
    const auto of_others = std::partition(large.begin(), large.end(), [&](const q18_order& order) {
      return !is_in_any(others, order.key);
    });
    std::vector<q18_order> parts(of_others, large.end());
    large.erase(of_others, large.end());
    done.steps.push_back(
        fmt::format("repartition {} sums of orders that other ranks may have "
                    "lines of",
                    parts.size()));
    parts = ranks.to_owners(std::move(parts), &q18_order::key);
    ranks.compute([&] { add_large(parts, large); });
    return large;
  }

  /// Returns the rows of the large orders, each on one rank.
  [[nodiscard]] std::vector<q18_order_row> orders_on(query_ranks& ranks,
                                                     std::vector<q18_order> large,
                                                     query_run& done) const {
    rank_join join(ranks, large.size() * sizeof(q18_order), orders_.rows() * sizeof(q18_order_row));
    large = join.left(std::move(large), &q18_order::key);
    std::vector<q18_order_row> orders;
    if (!join.broadcasts()) {
      orders = join.right(ranks.compute([this] { return all_orders(); }), &q18_order_row::key);
    }
    ranks.compute([&] {
      sort_rows(large, &q18_order::key);
      const key_index index(keys_of(large, &q18_order::key));
      if (join.broadcasts()) {
        orders = orders_of(keyed_rows(order_key_, rows_of_orders(index)), large, index);
      } else {
        keep_large(orders, large, index);
      }
    });
    done.steps.push_back(join.describe("large orders", "orders"));
    done.steps.push_back(fmt::format("scan orders, {} rows, join: {} left on this rank",
                                     orders_.rows(), orders.size()));
    done.bytes += order_key_.values.bytes() +
                  orders.size() * (order_customer_.width + price_.width + date_.width);
    // Two rows of one order may still be on different ranks, which is an error.
    if (join.broadcasts()) orders = ranks.to_owners(std::move(orders), &q18_order_row::key);
    sort_rows(orders, &q18_order_row::key);
    const auto twice = std::ranges::adjacent_find(orders, {}, &q18_order_row::key);
    if (twice != orders.end()) fail_for_two(order_key_.schema->name, twice->key);
    return orders;
  }

  [[nodiscard]] std::vector<std::size_t> rows_of_orders(const key_index& index) const {
    return select_rows(orders_.rows(), [&](const row_block& block, row_mask& mask) {
      keep_members(order_key_.values, block, index, mask);
    });
  }

  [[nodiscard]] q18_order_row order_of(std::size_t row) const {
    return {order_key_.values.value(row), order_customer_.value(row), price_.value(row),
            date_.value(row)};
  }

  /// Returns the rows of orders with their quantities from `large`, in whose keys `index` is.
  [[nodiscard]] std::vector<q18_order_row> orders_of(const keyed_rows& rows,
                                                     const std::vector<q18_order>& large,
                                                     const key_index& index) const {
    std::vector<q18_order_row> orders(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) orders[i] = order_of(rows.row(i));
    keep_large(orders, large, index);
    return orders;
  }

  /// Keeps the orders that are large and gives them their quantities.
  static void keep_large(std::vector<q18_order_row>& orders, const std::vector<q18_order>& large,
                         const key_index& index) {
    std::erase_if(orders, [&](q18_order_row& order) {
      const std::size_t place = index.find(order.key);
      if (place == key_index::absent) return true;
      order.quantity = large[place].quantity;
      return false;
    });
  }

  [[nodiscard]] std::vector<q18_order_row> all_orders() const {
    std::vector<q18_order_row> all(orders_.rows());
    parallel_for(std::size_t{0}, all.size(), [&](std::size_t row) { all[row] = order_of(row); });
    return all;
  }

  [[nodiscard]] q18_customer customer_of(std::size_t row) const {
    q18_customer customer{.key = customer_key_.values.value(row)};
    const std::string_view name = customer_["c_name"].text(row);
    customer.length =
        static_cast<std::uint8_t>(name.copy(customer.bytes.data(), customer.bytes.size()));
    return customer;
  }
  [[nodiscard]] std::vector<q18_customer> all_customers() const {
    std::vector<q18_customer> all(customer_.rows());
    parallel_for(std::size_t{0}, all.size(), [&](std::size_t row) { all[row] = customer_of(row); });
    return all;
  }

  [[nodiscard]] static key_range joined(const key_range& a, const key_range& b) noexcept {
    return {std::min(a.least, b.least), std::max(a.greatest, b.greatest)};
  }
  static constexpr key_range no_keys{std::numeric_limits<std::int64_t>::max(),
                                     std::numeric_limits<std::int64_t>::min()};

  [[nodiscard]] key_range range_of_keys() const {
    return over_blocks(
        lineitem_.rows(), no_keys,
        [this](const row_block& block, key_range& so_far) {
          with_width(line_key_.width, [&](auto least) {
            using code = decltype(least);
            const auto* const codes = line_key_.as<code>() + block.first;
            least = codes[0];
            code greatest = codes[0];
            for (std::size_t i = 0; i < block.rows; ++i) {
              least = std::min(least, codes[i]);
              greatest = std::max(greatest, codes[i]);
            }
            so_far = joined(so_far, {line_key_.value_of(least), line_key_.value_of(greatest)});
          });
        },
        joined);
  }
  [[nodiscard]] static bool is_in_any(const std::vector<key_range>& ranges, std::int64_t key) {
    return std::ranges::any_of(ranges, [key](const key_range& range) {
      return range.least <= key && key <= range.greatest;
    });
  }

  /// Adds up the parts of each order, and appends the large ones to `large`.
  void add_large(const std::vector<q18_order>& parts, std::vector<q18_order>& large) const {
    if (parts.empty()) return;
    key_range keys = no_keys;
    for (const q18_order& part : parts) keys = joined(keys, {part.key, part.key});
    using sum = group_sum<int128>;
    const auto sums = group_sums<sum>(parts.size(), keys, [&](const row_block& block, auto&& emit) {
      for (std::size_t i = block.first; i < block.first + block.rows; ++i) {
        emit(parts[i].key, sum{parts[i].quantity, 1});
      }
    });
    const auto found = sums.template gather<q18_order>(
        [&](std::int64_t key, const sum& of, std::vector<q18_order>& to) {
          if (of.sum > more_than_) to.push_back({key, of.sum});
        });
    large.insert(large.end(), found.begin(), found.end());
  }

  /// Returns the large orders by their keys, and the sums of all orders whose keys are in a range
  /// of `others`. Adds its work to `done`.
  [[nodiscard]] std::vector<q18_order> large_orders(query_run& done,
                                                    const std::vector<key_range>& others) const {
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
          summed.fetch_add(add_runs(block, mask, others, to), std::memory_order_relaxed);
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
    return sums_fit_64_bits() ? by_key<std::int64_t>(done, others) : by_key<int128>(done, others);
  }

  /// Sums the runs that end in the block and may reach the quantity, alone or with lines of others.
  /// Returns how many rows it read.
  std::uint64_t add_runs(const row_block& block, const row_mask& ends,
                         const std::vector<key_range>& others, std::vector<q18_order>& to) const {
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
      const bool is_part = is_in_any(others, line_key_.value(begin));
      if (is_part || static_cast<int128>(rows) * most > more_than_) {
        int128 sum = 0;
        for (std::size_t row = begin; row < end; ++row) sum += quantity_.value(row);
        if (is_part || sum > more_than_) to.push_back({line_key_.value(begin), sum});
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
  [[nodiscard]] std::vector<q18_order> by_key(query_run& done,
                                              const std::vector<key_range>& others) const {
    using sum = group_sum<Number>;
    const auto sums = group_sums<sum>(lineitem_.rows(), key_range::of(line_key_),
                                      [&](const row_block& block, auto&& emit) {
                                        for_each_row(block, row_mask(block), [&](std::size_t row) {
                                          emit(line_key_.value(row), sum{quantity_.value(row), 1});
                                        });
                                      });
    auto large = sums.template gather<q18_order>(
        [&](std::int64_t key, const sum& of, std::vector<q18_order>& to) {
          if (of.sum > more_than_ || is_in_any(others, key)) to.push_back({key, of.sum});
        });
    sort_rows(large, &q18_order::key);
    done.steps.push_back(fmt::format(
        "scan lineitem, {} rows, sum l_quantity by order, {} of {} bytes: {} orders above {}",
        lineitem_.rows(), sums.way(), sums.bytes(), large.size(), more_than_ / 100));
    return large;
  }

  /// Returns the first rows of the answer, of the orders whose customers are in the table.
  [[nodiscard]] std::vector<q18_row> best_of(std::vector<q18_order_row> orders,
                                             const keyed_rows& customers) const {
    std::erase_if(orders, [&](const q18_order_row& order) {
      return customers.find(order.customer) == keyed_rows::absent;
    });
    std::vector<q18_row> best;
    const auto order_at = [&](std::size_t i) { return orders[i]; };
    for (const q18_order_row& order : first_of(orders.size(), q18_limit, order_at, std::less{})) {
      const std::size_t row = customers.find(order.customer);
      best.push_back({order, customer_of(row)});
    }
    return best;
  }

  /// Returns the same for customers that came from other ranks.
  [[nodiscard]] static std::vector<q18_row> best_of(const std::vector<q18_order_row>& orders,
                                                    std::vector<q18_customer>& customers) {
    sort_rows(customers, &q18_customer::key);
    const keyed_rows keyed("c_custkey", keys_of(customers, &q18_customer::key));
    std::vector<q18_row> rows;
    for (const q18_order_row& order : orders) {
      const std::size_t place = keyed.place(order.customer);
      if (place != keyed_rows::absent) rows.push_back({order, customers[place]});
    }
    const auto row_at = [&](std::size_t i) { return rows[i]; };
    return first_of(rows.size(), q18_limit, row_at, std::less{});
  }

  [[nodiscard]] static answer answer_of(const std::vector<q18_row>& rows) {
    answer result{
        {"c_name", "c_custkey", "o_orderkey", "o_orderdate", "o_totalprice", "sum(l_quantity)"},
        {}};
    for (const auto& [order, customer] : rows) {
      result.rows.push_back({customer.name(), order.customer, order.key, date_to_string(order.date),
                             decimal{order.price, 2}, decimal{order.quantity, 2}});
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
