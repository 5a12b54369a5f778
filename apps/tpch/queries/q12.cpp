// SPDX-License-Identifier: Apache-2.0
// Q12, shipping modes and order priority: do cheap ways of shipping delay urgent orders?
//
//   select l_shipmode,
//     sum(case when o_orderpriority = '1-URGENT' or o_orderpriority = '2-HIGH' then 1 else 0 end)
//       as high_line_count,
//     sum(case when o_orderpriority <> '1-URGENT' and o_orderpriority <> '2-HIGH' then 1 else 0
//     end)
//       as low_line_count
//   from orders, lineitem
//   where o_orderkey = l_orderkey and l_shipmode in (SHIPMODE1, SHIPMODE2)
//     and l_commitdate < l_receiptdate and l_shipdate < l_commitdate
//     and l_receiptdate >= DATE and l_receiptdate < DATE + 1 year
//   group by l_shipmode order by l_shipmode
//
// One line in two hundred is left, so the join is built on these: the lines of an order are counted
// by mode, and each order, most of which have no such lines, looks itself up.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "tpch/operators/gather_rows.hpp"
#include "tpch/operators/join_rows.hpp"
#include "tpch/operators/key_index.hpp"
#include "tpch/operators/select.hpp"
#include "tpch/queries/terms/ship_modes.hpp"
#include "tpch/query.hpp"
#include "tpch/ranks/query_ranks.hpp"
#include "tpch/ranks/rank_join.hpp"
#include "tpch/values/date.hpp"
#include "tpch/values/day_limits.hpp"

namespace creek::tpch {
namespace {

constexpr std::array q12_parameters{
    parameter{"SHIPMODE1", kind::text, "MAIL"},
    parameter{"SHIPMODE2", kind::text, "SHIP"},
    parameter{"DATE", kind::date, "1994-01-01", first_day, last_day},
};

/// A line that is left, or the number of an order's lines with each of the two modes.
struct q12_lines {
  std::int64_t order = 0;
  std::array<std::uint32_t, 2> of_mode{};
};

/// Number of lines of high and of other priority, by mode.
using q12_counts = std::array<std::array<std::int64_t, 2>, 2>;

/// An order as it goes from rank to rank.
struct q12_order {
  std::int64_t key = 0;
  std::uint64_t priority = 0;  ///< index in q12_counts
};

class q12_query final : public query_on_tables {
 public:
  q12_query(database& from, const parameter_values& given)
      : lineitem_(
            open(from, "lineitem",
                 {"l_orderkey", "l_shipdate", "l_commitdate", "l_receiptdate", "l_shipmode"})),
        orders_(open(from, "orders", {"o_orderkey", "o_orderpriority"})),
        mode_(lineitem_["l_shipmode"]),
        priority_(orders_["o_orderpriority"]),
        line_key_(lineitem_["l_orderkey"].values),
        shipdate_(lineitem_["l_shipdate"].values),
        commitdate_(lineitem_["l_commitdate"].values),
        receiptdate_(lineitem_["l_receiptdate"].values),
        order_key_(orders_["o_orderkey"].values),
        names_(ship_modes(given)) {
    // A mode that no line has gets a code that no line has.
    for (std::size_t i = 0; i < 2; ++i)
      codes_[i] = mode_.find(names_[i]).value_or(~std::uint64_t{0});
    const auto date = static_cast<std::int32_t>(given.number("DATE"));
    dates_ = codes_between(receiptdate_, date, add_months(date, 12) - 1);
  }

  [[nodiscard]] query_run run() const override {
    std::size_t left = 0;
    const std::vector<q12_lines> lines = select_lines(left);
    const key_index index(keys_of(lines, &q12_lines::order));
    query_run done = work_of(left, lines.size());
    done.result = answer_of(count(lines, index));
    done.steps.push_back(fmt::format("join on {} order keys, {} of {} bytes", lines.size(),
                                     index.dense() ? "a bitmap" : "a hash table", index.bytes()));
    done.steps.push_back(
        fmt::format("scan orders, {} rows, count lines by mode and priority", orders_.rows()));
    return done;
  }

  [[nodiscard]] query_run run_on(query_ranks& ranks) const override {
    std::size_t left = 0;
    std::vector<q12_lines> lines = ranks.compute([&] { return select_lines(left); });
    query_run done = work_of(left, lines.size());
    rank_join join(ranks, lines.size() * sizeof(q12_lines), orders_.rows() * sizeof(q12_order));
    lines = join.left(std::move(lines), &q12_lines::order);
    std::vector<q12_order> orders;
    if (!join.broadcasts()) {
      orders = join.right(ranks.compute([this] { return all_orders(); }), &q12_order::key);
    }
    const q12_counts counts = ranks.compute([&] {
      join_lines_of_orders(lines);
      const key_index index(keys_of(lines, &q12_lines::order));
      return join.broadcasts() ? count(lines, index) : count(lines, index, orders);
    });
    done.result = answer_of(ranks.combine(counts, add));
    done.steps.push_back(join.describe("lines", "orders"));
    done.steps.push_back(
        fmt::format("count lines by mode and priority, add the counts of {} ranks", ranks.size()));
    return done;
  }

 private:
  /// Returns the lines that are left by their orders, and in `left` how many they are.
  [[nodiscard]] std::vector<q12_lines> select_lines(std::size_t& left) const {
    std::vector<q12_lines> lines = gather_rows<q12_lines>(
        lineitem_.rows(),
        [&](const row_block& block, std::vector<q12_lines>& to) { select(block, to); });
    left = lines.size();
    join_lines_of_orders(lines);
    return lines;
  }

  [[nodiscard]] query_run work_of(std::size_t left, std::size_t orders) const {
    query_run done{.rows = rows_of_tables()};
    done.bytes = mode_.values.bytes() + shipdate_.bytes() + commitdate_.bytes() +
                 receiptdate_.bytes() + left * line_key_.width + order_key_.bytes() +
                 orders * priority_.values.width;
    done.steps = {
        fmt::format("scan lineitem, {} rows in blocks of {}", lineitem_.rows(), block_rows),
        fmt::format("select l_receiptdate, l_shipmode, l_shipdate < l_commitdate, "
                    "l_commitdate < l_receiptdate: {} rows left",
                    left)};
    return done;
  }

  [[nodiscard]] answer answer_of(const q12_counts& counts) const {
    answer result{{"l_shipmode", "high_line_count", "low_line_count"}, {}};
    for (std::size_t i = 0; i < 2; ++i) {
      if (counts[i][0] + counts[i][1] == 0) continue;
      result.rows.push_back({names_[i], counts[i][0], counts[i][1]});
    }
    return result;
  }

  void select(const row_block& block, std::vector<q12_lines>& to) const {
    if (codes_[0] == codes_[1]) return;  // neither mode occurs
    row_mask mask(block);
    keep_between(receiptdate_, block, dates_, mask);
    keep_modes(block, mask);
    keep_less(shipdate_, commitdate_, block, mask);
    keep_less(commitdate_, receiptdate_, block, mask);
    for (const std::size_t offset : row_list(block, mask)) {
      const std::size_t row = block.first + offset;
      const bool second = mode_.values.code(row) == codes_[1];
      to.push_back({line_key_.value(row), {second ? 0u : 1u, second ? 1u : 0u}});
    }
  }

  void keep_modes(const row_block& block, row_mask& mask) const {
    // A mode that occurs may replace one that does not.
    const std::uint64_t none = ~std::uint64_t{0};
    keep_either(mode_.values, block, codes_[0] == none ? codes_[1] : codes_[0],
                codes_[1] == none ? codes_[0] : codes_[1], mask);
  }

  /// Joins the lines to one entry per order, in the order of the keys.
  static void join_lines_of_orders(std::vector<q12_lines>& lines) {
    join_rows(lines, &q12_lines::order, [](q12_lines& to, const q12_lines& from) {
      for (std::size_t m = 0; m < 2; ++m) to.of_mode[m] += from.of_mode[m];
    });
  }

  [[nodiscard]] q12_counts count(const std::vector<q12_lines>& lines,
                                 const key_index& index) const {
    const priorities priority_of(priority_);
    const auto add_block = [&](const row_block& block, q12_counts& so_far) {
      row_mask mask(block);
      keep_members(order_key_, block, index, mask);
      for (const std::size_t offset : row_list(block, mask)) {
        const std::size_t row = block.first + offset;
        const std::size_t place = index.find(order_key_.value(row));
        if (place == key_index::absent) continue;  // the file has changed
        add_lines(lines[place], priority_of[row], so_far);
      }
    };
    return over_blocks(orders_.rows(), q12_counts{}, add_block, add);
  }

  [[nodiscard]] static q12_counts count(const std::vector<q12_lines>& lines, const key_index& index,
                                        const std::vector<q12_order>& orders) {
    const auto add_block = [&](const row_block& block, q12_counts& so_far) {
      for (std::size_t i = block.first; i < block.first + block.rows; ++i) {
        const std::size_t place = index.find(orders[i].key);
        if (place != key_index::absent) add_lines(lines[place], orders[i].priority, so_far);
      }
    };
    return over_blocks(orders.size(), q12_counts{}, add_block, add);
  }

  /// Returns all orders of this rank, as messages.
  [[nodiscard]] std::vector<q12_order> all_orders() const {
    const priorities priority_of(priority_);
    return gather_rows<q12_order>(
        orders_.rows(), [&](const row_block& block, std::vector<q12_order>& to) {
          for (std::size_t row = block.first; row < block.first + block.rows; ++row) {
            to.push_back({order_key_.value(row), priority_of[row]});
          }
        });
  }

  static void add_lines(const q12_lines& lines, std::size_t priority, q12_counts& to) {
    for (std::size_t m = 0; m < 2; ++m) to[m][priority] += lines.of_mode[m];
  }
  static q12_counts add(q12_counts a, const q12_counts& b) {
    for (std::size_t m = 0; m < 2; ++m) {
      for (std::size_t p = 0; p < 2; ++p) a[m][p] += b[m][p];
    }
    return a;
  }

  /// Index in q12_counts by the priority of an order: 0 if it is urgent or high, else 1.
  class priorities {
   public:
    explicit priorities(const column& priority)
        : codes_(priority.values),
          urgent_(priority.find("1-URGENT")),
          high_(priority.find("2-HIGH")) {}
    [[nodiscard]] std::size_t operator[](std::size_t row) const noexcept {
      const std::uint64_t code = codes_.code(row);
      return code == urgent_ || code == high_ ? 0 : 1;
    }

   private:
    const packed& codes_;
    std::optional<std::uint64_t> urgent_, high_;
  };

  const table &lineitem_, &orders_;
  const column& mode_;
  const column& priority_;
  const packed& line_key_;
  const packed& shipdate_;
  const packed& commitdate_;
  const packed& receiptdate_;
  const packed& order_key_;
  std::array<std::string, 2> names_;
  std::array<std::uint64_t, 2> codes_{};
  code_range dates_;
};

}  // namespace

const query q12 = make_query<q12_query>("q12", "Shipping modes and order priority", q12_parameters);

}  // namespace creek::tpch
