// SPDX-License-Identifier: Apache-2.0
// Q6 as in [DSS 2011]: a scan of lineitem, then the sum of its result stream. Nothing is left
// out.
#pragma once

#include <functional>

#include "../database.hpp"
#include "../query.hpp"
#include "rank_streams.hpp"
#include "tpch/values/date.hpp"

namespace creek::tpch::paper {

class q6_form {
 public:
  q6_form(database& from, const parameter_values& given)
      : lineitem_(
            from.open("lineitem", {"l_shipdate", "l_discount", "l_quantity", "l_extendedprice"})),
        from_(given.number("DATE")),
        until_(add_months(static_cast<std::int32_t>(from_), 12)),
        discount_(given.number("DISCOUNT")),
        quantity_(100 * given.number("QUANTITY")) {}

  [[nodiscard]] std::uint64_t rows() const noexcept { return lineitem_.rows(); }
  [[nodiscard]] bool lost() const noexcept { return lineitem_.lost(); }

  /// Collective. Calls has_read() when this rank has its streams. Returns the answer at rank 0.
  template <class Ranks, class HasRead>
  [[nodiscard]] answer run(Ranks& ranks, HasRead&& has_read) const {
    const rank_streams me(ranks);
    const row_part part = me.part_of(lineitem_.rows());
    const stream shipdate = me.read(lineitem_["l_shipdate"].values, part);
    const stream discount = me.read(lineitem_["l_discount"].values, part);
    const stream quantity = me.read(lineitem_["l_quantity"].values, part);
    const stream price = me.read(lineitem_["l_extendedprice"].values, part);
    has_read();
    const auto lines = me.template scan<line>(part.rows, 4, [&](std::size_t i, auto& result) {
      if (shipdate[i] >= from_ && shipdate[i] < until_ && discount[i] >= discount_ - 1 &&
          discount[i] <= discount_ + 1 && quantity[i] < quantity_) {
        result.push_back({price[i], discount[i]});
      }
    });
    sum mine{0, lines.size()};
    for (const line& l : lines) mine.revenue += int128{l.price} * l.discount;
    me.state_sums(lines, 1);
    const sum all = ranks.reduce(mine, std::plus{}, 0);
    return {{"revenue"}, {{all.lines == 0 ? cell(null{}) : decimal{all.revenue, 4}}}};
  }

 private:
  struct line {
    std::int64_t price, discount;
  };
  struct sum {
    int128 revenue;
    std::uint64_t lines;
    friend sum operator+(const sum& a, const sum& b) {
      return {a.revenue + b.revenue, a.lines + b.lines};
    }
  };

  table lineitem_;
  std::int64_t from_, until_, discount_, quantity_;
};

}  // namespace creek::tpch::paper
