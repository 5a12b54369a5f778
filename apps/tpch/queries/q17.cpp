// SPDX-License-Identifier: Apache-2.0
// Q17, small-quantity-order revenue: what a year would lose without the small orders of some parts.
//
//   select sum(l_extendedprice) / 7.0 as avg_yearly
//   from lineitem, part
//   where p_partkey = l_partkey and p_brand = BRAND and p_container = CONTAINER
//     and l_quantity < (select 0.2 * avg(l_quantity) from lineitem where l_partkey = p_partkey)
//
// One part in a thousand is left, so one scan of lineitem gathers everything that both levels of
// the query need. A quantity is less than a fifth of the average if five times the quantity times
// the count is less than the sum: this compares integers.
#include <fmt/format.h>

#include <array>

#include "tpch/operators/gather_rows.hpp"
#include "tpch/operators/group_sums.hpp"
#include "tpch/operators/keyed_rows.hpp"
#include "tpch/query.hpp"

namespace creek::tpch {
namespace {

constexpr std::array q17_parameters{
    parameter{"BRAND", kind::text, "Brand#23"},
    parameter{"CONTAINER", kind::text, "MED BOX"},
};

struct q17_line {
  std::int64_t part = 0;  ///< index among the parts that are left
  std::size_t row = 0;
};

class q17_query final : public query_on_tables {
 public:
  q17_query(database& from, const parameter_values& given)
      : part_(open(from, "part", {"p_partkey", "p_brand", "p_container"})),
        lineitem_(open(from, "lineitem", {"l_partkey", "l_quantity", "l_extendedprice"})),
        brand_(part_["p_brand"]),
        container_(part_["p_container"]),
        line_part_(lineitem_["l_partkey"].values),
        quantity_(lineitem_["l_quantity"].values),
        price_(lineitem_["l_extendedprice"].values) {
    if (const auto code = brand_.find(given.text("BRAND"))) brands_ = {*code, *code};
    if (const auto code = container_.find(given.text("CONTAINER"))) containers_ = {*code, *code};
  }

  [[nodiscard]] query_run run() const override {
    const keyed_rows parts(part_["p_partkey"],
                           select_rows(part_.rows(), [&](const row_block& block, row_mask& mask) {
                             keep_between(brand_.values, block, brands_, mask);
                             keep_between(container_.values, block, containers_, mask);
                           }));
    const auto lines = gather_rows<q17_line>(
        lineitem_.rows(), [&](const row_block& block, std::vector<q17_line>& to) {
          row_mask mask(block);
          for_each_match(line_part_, block, parts, mask, [&](std::size_t row, std::size_t part) {
            to.push_back({static_cast<std::int64_t>(part), row});
          });
        });
    const sum small = sum_of_small(lines, parts.size());

    query_run done{.rows = rows_of_tables()};
    // sum / 7.0
    done.result = {{"avg_yearly"}, {{small.any() ? cell(average({small.sum, 2}, 7, 6)) : null{}}}};
    done.bytes = brand_.values.bytes() + container_.values.bytes() +
                 parts.size() * part_["p_partkey"].values.width + line_part_.bytes() +
                 lines.size() * quantity_.width + small.rows * price_.width;
    done.steps = {fmt::format("scan part, {} rows, select p_brand, p_container: {} left",
                              part_.rows(), parts.size()),
                  fmt::format("scan lineitem, {} rows, join on {}: {} left", lineitem_.rows(),
                              parts.describe(), lines.size()),
                  fmt::format("average by part, select l_quantity: {} left, sum", small.rows)};
    return done;
  }

 private:
  using sum = group_sum<int128>;

  [[nodiscard]] sum sum_of_small(const std::vector<q17_line>& lines, std::size_t parts) const {
    const auto quantities = group_sums<sum>(
        lines.size(), key_range::below(parts), [&](const row_block& block, auto&& emit) {
          for (std::size_t i = block.first; i < block.first + block.rows; ++i) {
            emit(lines[i].part, {.sum = quantity_.value(lines[i].row), .rows = 1});
          }
        });
    return over_blocks(
        lines.size(), sum(),
        [&](const row_block& block, sum& so_far) {
          for (std::size_t i = block.first; i < block.first + block.rows; ++i) {
            const sum& of = *quantities.find(lines[i].part);
            const int128 quantity = quantity_.value(lines[i].row);
            if (5 * quantity * static_cast<int128>(of.rows) >= of.sum) continue;
            so_far.join({.sum = price_.value(lines[i].row), .rows = 1});
          }
        },
        [](sum a, const sum& b) {
          a.join(b);
          return a;
        });
  }

  const table &part_, &lineitem_;
  const column& brand_;
  const column& container_;
  const packed& line_part_;
  const packed& quantity_;
  const packed& price_;
  code_range brands_, containers_;
};

}  // namespace

const query q17 = make_query<q17_query>("q17", "Small-quantity-order revenue", q17_parameters);

}  // namespace creek::tpch
