// SPDX-License-Identifier: Apache-2.0
// Q15, top supplier: who earned most in a quarter.
//
//   with revenue (supplier_no, total_revenue) as
//     (select l_suppkey, sum(l_extendedprice * (1 - l_discount)) from lineitem
//      where l_shipdate >= DATE and l_shipdate < DATE + 3 months group by l_suppkey)
//   select s_suppkey, s_name, s_address, s_phone, total_revenue
//   from supplier, revenue
//   where s_suppkey = supplier_no
//     and total_revenue = (select max(total_revenue) from revenue)
//   order by s_suppkey
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tpch/operators/group_sums.hpp"
#include "tpch/operators/keyed_rows.hpp"
#include "tpch/operators/select.hpp"
#include "tpch/queries/terms/net_price.hpp"
#include "tpch/query.hpp"
#include "tpch/values/date.hpp"
#include "tpch/values/day_limits.hpp"

namespace creek::tpch {
namespace {

constexpr std::array q15_parameters{
    parameter{"DATE", kind::date, "1996-01-01", first_day, last_day},
};

struct q15_revenue {
  std::int64_t supplier = 0;
  int128 total = 0;
};

class q15_query final : public query_on_tables {
 public:
  q15_query(database& from, const parameter_values& given)
      : supplier_(open(from, "supplier", {"s_suppkey", "s_name", "s_address", "s_phone"})),
        lineitem_(
            open(from, "lineitem", {"l_suppkey", "l_extendedprice", "l_discount", "l_shipdate"})),
        line_supplier_(lineitem_["l_suppkey"].values),
        shipdate_(lineitem_["l_shipdate"].values),
        net_price_(lineitem_) {
    const auto date = static_cast<std::int32_t>(given.number("DATE"));
    dates_ = codes_between(shipdate_, date, add_months(date, 3) - 1);
  }

  [[nodiscard]] query_run run() const override {
    using sum = group_sum<int128>;
    const auto sums = group_sums<sum>(
        lineitem_.rows(), key_range::of(line_supplier_), [&](const row_block& block, auto&& emit) {
          row_mask mask(block);
          keep_between(shipdate_, block, dates_, mask);
          for (const std::size_t offset : row_list(block, mask)) {
            const std::size_t row = block.first + offset;
            emit(line_supplier_.value(row), {.sum = net_price_(row), .rows = 1});
          }
        });
    std::uint64_t lines = 0;
    const auto revenues = sums.gather<std::pair<q15_revenue, std::uint64_t>>(
        [](std::int64_t supplier, const sum& of, auto& to) {
          to.push_back({{supplier, of.sum}, of.rows});
        });
    std::vector<q15_revenue> best;
    for (const auto& [revenue, rows] : revenues) {
      lines += rows;
      if (best.empty() || revenue.total > best.front().total) best.clear();
      if (best.empty() || revenue.total == best.front().total) best.push_back(revenue);
    }

    query_run done{.result = answer_of(best), .rows = rows_of_tables()};
    done.bytes = shipdate_.bytes() + supplier_["s_suppkey"].values.bytes() +
                 lines * (line_supplier_.width + net_price_.bytes_a_row());
    done.steps = {
        fmt::format("scan lineitem, {} rows, select l_shipdate: {} left", lineitem_.rows(), lines),
        fmt::format("sum by supplier in {} of {} bytes: {} groups", sums.way(), sums.bytes(),
                    revenues.size()),
        fmt::format("take those of the greatest sum, look suppliers up: {} rows",
                    done.result.rows.size())};
    return done;
  }

 private:
  [[nodiscard]] answer answer_of(std::vector<q15_revenue> best) const {
    const keyed_rows suppliers(supplier_["s_suppkey"]);
    std::ranges::sort(best, {}, &q15_revenue::supplier);
    answer result{{"s_suppkey", "s_name", "s_address", "s_phone", "total_revenue"}, {}};
    for (const q15_revenue& of : best) {
      const std::size_t row = suppliers.find(of.supplier);
      if (row == keyed_rows::absent) continue;
      const auto text = [&](std::string_view column) {
        return std::string(supplier_[column].text(row));
      };
      result.rows.push_back({of.supplier, text("s_name"), text("s_address"), text("s_phone"),
                             decimal{of.total, net_price::scale}});
    }
    return result;
  }

  const table &supplier_, &lineitem_;
  const packed& line_supplier_;
  const packed& shipdate_;
  net_price net_price_;
  code_range dates_;
};

}  // namespace

const query q15 = make_query<q15_query>("q15", "Top supplier", q15_parameters);

}  // namespace creek::tpch
