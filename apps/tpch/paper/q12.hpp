// SPDX-License-Identifier: Apache-2.0
// Q12 as in [DSS 2011]: a scan of lineitem, joined with all orders by nested loops, and
// counted. Nothing is left out.
#pragma once

#include <array>
#include <functional>
#include <string>

#include "../database.hpp"
#include "../query.hpp"
#include "rank_streams.hpp"
#include "tpch/queries/terms/ship_modes.hpp"
#include "tpch/values/date.hpp"

namespace creek::tpch::paper {

class q12_form {
 public:
  q12_form(database& from, const parameter_values& given)
      : lineitem_(from.open("lineitem", {"l_orderkey", "l_shipdate", "l_commitdate",
                                         "l_receiptdate", "l_shipmode"})),
        orders_(from.open("orders", {"o_orderkey", "o_orderpriority"})),
        names_(ship_modes(given)),
        from_(given.number("DATE")),
        until_(add_months(static_cast<std::int32_t>(from_), 12)) {
    for (std::size_t i = 0; i < 2; ++i) modes_[i] = code_of(lineitem_["l_shipmode"], names_[i]);
    urgent_ = code_of(orders_["o_orderpriority"], "1-URGENT");
    high_ = code_of(orders_["o_orderpriority"], "2-HIGH");
  }

  [[nodiscard]] std::uint64_t rows() const noexcept { return lineitem_.rows() + orders_.rows(); }
  [[nodiscard]] bool lost() const noexcept { return lineitem_.lost() || orders_.lost(); }

  /// Collective. Calls has_read() when this rank has its streams. Returns the answer at rank 0.
  template <class Ranks, class HasRead>
  [[nodiscard]] answer run(Ranks& ranks, HasRead&& has_read) const {
    const rank_streams me(ranks);
    const row_part lines = me.part_of(lineitem_.rows());
    const row_part part = me.part_of(orders_.rows());
    const stream line_order = me.read(lineitem_["l_orderkey"].values, lines);
    const stream mode = me.read(lineitem_["l_shipmode"].values, lines);
    const stream shipped = me.read(lineitem_["l_shipdate"].values, lines);
    const stream committed = me.read(lineitem_["l_commitdate"].values, lines);
    const stream received = me.read(lineitem_["l_receiptdate"].values, lines);
    const stream order_key = me.read(orders_["o_orderkey"].values, part);
    const stream priority = me.read(orders_["o_orderpriority"].values, part);
    has_read();

    const auto late =
        me.gather(me.template scan<line>(lines.rows, 5, [&](std::size_t i, auto& result) {
          if (received[i] >= from_ && received[i] < until_ && shipped[i] < committed[i] &&
              committed[i] < received[i] && (mode[i] == modes_[0] || mode[i] == modes_[1])) {
            result.push_back({line_order[i], mode[i] == modes_[0] ? 0 : 1});
          }
        }));
    const auto orders = me.template scan<order>(part.rows, 2, [&](std::size_t i, auto& result) {
      result.push_back({order_key[i], priority[i] == urgent_ || priority[i] == high_ ? 0 : 1});
    });
    const auto joined = me.template join<std::int64_t>(
        orders, [](const order& o) { return o.key; }, late, [](const line& l) { return l.order; },
        [](const order& o, const line& l, auto& result) {
          result.push_back(2 * l.mode + o.priority);
        });

    std::array<std::int64_t, 4> counts{};
    for (const std::int64_t place : joined) ++counts[static_cast<std::size_t>(place)];
    me.state_sums(joined, 1);
    ranks.reduce(std::span<std::int64_t>{counts}, std::plus{}, 0);
    return answer_of(counts);
  }

 private:
  struct line {
    std::int64_t order, mode;  ///< index of the mode, 0 or 1
  };
  struct order {
    std::int64_t key, priority;  ///< 0 if high
  };

  /// Returns the code of a word; a word that no row has gets a code that no row has.
  static std::int64_t code_of(const column& words, std::string_view word) {
    const auto code = words.find(word);
    return code ? static_cast<std::int64_t>(*code) : -1;
  }

  [[nodiscard]] answer answer_of(const std::array<std::int64_t, 4>& counts) const {
    answer result{{"l_shipmode", "high_line_count", "low_line_count"}, {}};
    for (std::size_t i = 0; i < 2; ++i) {
      if (counts[2 * i] + counts[2 * i + 1] == 0) continue;
      result.rows.push_back({names_[i], counts[2 * i], counts[2 * i + 1]});
    }
    return result;
  }

  table lineitem_, orders_;
  std::array<std::string, 2> names_;
  std::array<std::int64_t, 2> modes_{};
  std::int64_t from_, until_, urgent_ = 0, high_ = 0;
};

}  // namespace creek::tpch::paper
