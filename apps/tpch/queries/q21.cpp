// SPDX-License-Identifier: Apache-2.0
// Q21, suppliers who kept orders waiting: those of a nation who alone were late with their part of
// a finished order of several suppliers.
//
//   select s_name, count(*) as numwait
//   from supplier, lineitem l1, orders, nation
//   where s_suppkey = l1.l_suppkey and o_orderkey = l1.l_orderkey and o_orderstatus = 'F'
//     and l1.l_receiptdate > l1.l_commitdate
//     and exists (select * from lineitem l2 where l2.l_orderkey = l1.l_orderkey
//                 and l2.l_suppkey <> l1.l_suppkey)
//     and not exists (select * from lineitem l3 where l3.l_orderkey = l1.l_orderkey
//                     and l3.l_suppkey <> l1.l_suppkey and l3.l_receiptdate > l3.l_commitdate)
//     and s_nationkey = n_nationkey and n_name = NATION
//   group by s_name order by numwait desc, s_name  -- the first hundred
//
// The late lines of the nation's suppliers are one in forty. All lines of their orders are summed
// by order, to find whether there is more than one supplier, and more than one late one.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "tpch/operators/gather_rows.hpp"
#include "tpch/operators/group_sums.hpp"
#include "tpch/operators/keyed_rows.hpp"
#include "tpch/operators/top_k.hpp"
#include "tpch/queries/terms/nation_rows.hpp"
#include "tpch/query.hpp"

namespace creek::tpch {
namespace {

constexpr std::array q21_parameters{
    parameter{"NATION", kind::text, "SAUDI ARABIA"},
};

constexpr std::size_t q21_limit = 100;

/// Says whether lines have no supplier, one or several.
struct q21_suppliers {
  std::int64_t one = 0;  ///< the supplier if there is one
  std::uint32_t lines = 0;
  bool several = false;

  void join(const q21_suppliers& other) noexcept {
    if (other.lines == 0) return;
    several = other.several || (lines > 0 && (several || one != other.one));
    one = other.one;
    lines += other.lines;
  }
};

struct q21_order {
  q21_suppliers all, late;

  void join(const q21_order& other) noexcept {
    all.join(other.all);
    late.join(other.late);
  }
  [[nodiscard]] bool any() const noexcept { return all.lines != 0; }
};

struct q21_wait {
  std::int64_t order = 0;
  std::size_t supplier = 0;  ///< index among the suppliers of the nation
  std::uint32_t lines = 0;
};

struct q21_row {
  std::string name;  ///< a copy: names are sorted, and a file may change meanwhile
  std::int64_t waits = 0;
};

class q21_query final : public query_on_tables {
 public:
  q21_query(database& from, const parameter_values& given)
      : supplier_(open(from, "supplier", {"s_suppkey", "s_name", "s_nationkey"})),
        lineitem_(
            open(from, "lineitem", {"l_orderkey", "l_suppkey", "l_commitdate", "l_receiptdate"})),
        orders_(open(from, "orders", {"o_orderkey", "o_orderstatus"})),
        nation_(open(from, "nation", {"n_nationkey", "n_name"})),
        line_order_(lineitem_["l_orderkey"].values),
        line_supplier_(lineitem_["l_suppkey"].values),
        commitdate_(lineitem_["l_commitdate"].values),
        receiptdate_(lineitem_["l_receiptdate"].values),
        order_key_(orders_["o_orderkey"]),
        status_(orders_["o_orderstatus"].values),
        nation_name_(given.text("NATION")) {
    if (const auto code = orders_["o_orderstatus"].find("F")) finished_ = {*code, *code};
  }

  [[nodiscard]] query_run run() const override {
    const keyed_rows nations =
        rows_with_word(nation_["n_nationkey"], nation_["n_name"], nation_name_);
    const keyed_rows suppliers =
        rows_of_partners(supplier_["s_suppkey"], supplier_["s_nationkey"], nations);
    const std::vector<std::int64_t> suspects = orders_with_late_lines(suppliers);
    const auto orders = lines_of(key_index(suspects));
    const std::vector<q21_wait> waits = waits_of(suspects, orders, suppliers);
    const keyed_rows finished = finished_orders(waits);

    query_run done{.result = answer_of(waits, finished, suppliers),
                   .rows = rows_of_tables() + lineitem_.rows()};
    done.bytes = supplier_["s_nationkey"].values.bytes() + 2 * commitdate_.bytes() +
                 2 * receiptdate_.bytes() + 2 * line_supplier_.bytes() + line_order_.bytes() +
                 suspects.size() * line_order_.width + order_key_.values.bytes() + status_.bytes();
    done.steps = {
        fmt::format("scan supplier, {} rows: {} of the nation", supplier_.rows(), suppliers.size()),
        fmt::format("scan lineitem, {} rows, select l_commitdate < l_receiptdate, join on {}: "
                    "{} orders",
                    lineitem_.rows(), suppliers.describe(), suspects.size()),
        fmt::format("scan lineitem again, join on these, suppliers and late ones by order in {} "
                    "of {} bytes: {} orders with one late supplier",
                    orders.way(), orders.bytes(), waits.size()),
        fmt::format("scan orders, {} rows, select o_orderstatus: {} left", orders_.rows(),
                    finished.size()),
        fmt::format("count by supplier, take the first {}", q21_limit)};
    return done;
  }

 private:
  /// Returns the keys of the orders in which one of these suppliers was late.
  [[nodiscard]] std::vector<std::int64_t> orders_with_late_lines(
      const keyed_rows& suppliers) const {
    auto keys = gather_rows<std::int64_t>(
        lineitem_.rows(), [&](const row_block& block, std::vector<std::int64_t>& to) {
          row_mask mask(block);
          keep_less(commitdate_, receiptdate_, block, mask);
          keep_members(line_supplier_, block, suppliers.index(), mask);
          for (const std::size_t row : row_list(block, mask)) {
            to.push_back(line_order_.value(block.first + row));
          }
        });
    make_key_set(keys);
    return keys;
  }

  [[nodiscard]] groups<q21_order> lines_of(const key_index& orders) const {
    return group_sums<q21_order>(
        lineitem_.rows(), key_range::below(orders.size()),
        [&](const row_block& block, auto&& emit) {
          row_mask mask(block);
          keep_members(line_order_, block, orders, mask);
          for (const std::size_t offset : row_list(block, mask)) {
            const std::size_t row = block.first + offset;
            const q21_suppliers line{.one = line_supplier_.value(row), .lines = 1};
            const bool late = commitdate_.value(row) < receiptdate_.value(row);
            emit(static_cast<std::int64_t>(orders.find(line_order_.value(row))),
                 {line, late ? line : q21_suppliers{}});
          }
        });
  }

  /// Returns the orders of several suppliers of which one, a supplier of the nation, was late.
  [[nodiscard]] static std::vector<q21_wait> waits_of(const std::vector<std::int64_t>& keys,
                                                      const groups<q21_order>& orders,
                                                      const keyed_rows& suppliers) {
    return orders.gather<q21_wait>(
        [&](std::int64_t place, const q21_order& of, std::vector<q21_wait>& to) {
          if (!of.all.several || of.late.several) return;
          const std::size_t supplier = suppliers.place(of.late.one);
          if (supplier == keyed_rows::absent) return;  // the file has changed
          to.push_back({keys[static_cast<std::size_t>(place)], supplier, of.late.lines});
        });
  }

  [[nodiscard]] keyed_rows finished_orders(const std::vector<q21_wait>& waits) const {
    std::vector<std::int64_t> keys(waits.size());
    std::ranges::transform(waits, keys.begin(), &q21_wait::order);
    make_key_set(keys);
    const key_index wanted(keys);
    return {order_key_, select_rows(orders_.rows(), [&](const row_block& block, row_mask& mask) {
              keep_between(status_, block, finished_, mask);
              keep_members(order_key_.values, block, wanted, mask);
            })};
  }

  [[nodiscard]] answer answer_of(const std::vector<q21_wait>& waits, const keyed_rows& finished,
                                 const keyed_rows& suppliers) const {
    std::vector<std::int64_t> counts(suppliers.size());
    for (const q21_wait& wait : waits) {
      if (finished.place(wait.order) != keyed_rows::absent) counts[wait.supplier] += wait.lines;
    }
    std::vector<q21_row> rows;
    const column& name = supplier_["s_name"];
    for (std::size_t place = 0; place < counts.size(); ++place) {
      if (counts[place] == 0) continue;
      rows.push_back({std::string(name.text(suppliers.row(place))), counts[place]});
    }
    add_up_names(rows);
    answer result{{"s_name", "numwait"}, {}};
    const auto before = [](const q21_row& a, const q21_row& b) {
      return a.waits != b.waits ? a.waits > b.waits : a.name < b.name;
    };
    const auto row = [&](std::size_t i) { return rows[i]; };
    for (const q21_row& best : first_of(rows.size(), q21_limit, row, before)) {
      result.rows.push_back({best.name, best.waits});
    }
    return result;
  }

  /// Adds up suppliers of the same name, which form one group.
  static void add_up_names(std::vector<q21_row>& rows) {
    std::ranges::sort(rows, {}, &q21_row::name);
    std::vector<q21_row> sums;
    for (q21_row& row : rows) {
      if (!sums.empty() && sums.back().name == row.name) {
        sums.back().waits += row.waits;
      } else {
        sums.push_back(std::move(row));
      }
    }
    rows = std::move(sums);
  }

  const table &supplier_, &lineitem_, &orders_, &nation_;
  const packed& line_order_;
  const packed& line_supplier_;
  const packed& commitdate_;
  const packed& receiptdate_;
  const column& order_key_;
  const packed& status_;
  std::string nation_name_;
  code_range finished_;
};

}  // namespace

const query q21 = make_query<q21_query>("q21", "Suppliers who kept orders waiting", q21_parameters);

}  // namespace creek::tpch
