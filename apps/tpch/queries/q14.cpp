// SPDX-License-Identifier: Apache-2.0
// Q14, promotion effect: which share of a month's revenue came from parts in promotion.
//
//   select 100.00 * sum(case when p_type like 'PROMO%' then l_extendedprice * (1 - l_discount)
//       else 0 end) / sum(l_extendedprice * (1 - l_discount)) as promo_revenue
//   from lineitem, part
//   where l_partkey = p_partkey and l_shipdate >= DATE and l_shipdate < DATE + 1 month
//
// One line in eighty is left, and looks up its part.
#include <fmt/format.h>

#include <array>

#include "tpch/operators/keyed_rows.hpp"
#include "tpch/operators/select.hpp"
#include "tpch/operators/text_pattern.hpp"
#include "tpch/queries/terms/net_price.hpp"
#include "tpch/query.hpp"
#include "tpch/values/date.hpp"
#include "tpch/values/day_limits.hpp"

namespace creek::tpch {
namespace {

constexpr std::array q14_parameters{
    parameter{"DATE", kind::date, "1995-09-01", first_day, last_day},
};

struct q14_sums {
  int128 promotion = 0, all = 0;
  std::uint64_t selected = 0, rows = 0;
};

class q14_query final : public query_on_tables {
 public:
  q14_query(database& from, const parameter_values& given)
      : lineitem_(
            open(from, "lineitem", {"l_partkey", "l_shipdate", "l_extendedprice", "l_discount"})),
        part_(open(from, "part", {"p_partkey", "p_type"})),
        line_part_(lineitem_["l_partkey"].values),
        shipdate_(lineitem_["l_shipdate"].values),
        part_key_(part_["p_partkey"]),
        type_(part_["p_type"]),
        net_price_(lineitem_) {
    const auto date = static_cast<std::int32_t>(given.number("DATE"));
    dates_ = codes_between(shipdate_, date, add_months(date, 1) - 1);
  }

  [[nodiscard]] query_run run() const override {
    const keyed_rows parts(part_key_);
    const key_index promotions = codes_like(type_, {.front = "PROMO"});
    const q14_sums sums = over_blocks(
        lineitem_.rows(), q14_sums{},
        [&](const row_block& block, q14_sums& so_far) { add(block, parts, promotions, so_far); },
        [](const q14_sums& a, const q14_sums& b) {
          return q14_sums{a.promotion + b.promotion, a.all + b.all, a.selected + b.selected,
                          a.rows + b.rows};
        });

    query_run done{.rows = rows_of_tables()};
    done.result = {{"promo_revenue"}, {{sums.all == 0 ? cell(null{}) : share_of(sums)}}};
    done.bytes = shipdate_.bytes() + sums.selected * line_part_.width + part_key_.values.bytes() +
                 sums.rows * (type_.values.width + net_price_.bytes_a_row());
    done.steps = {fmt::format("scan part, {} rows: {}, {} of {} types are promotions", part_.rows(),
                              parts.describe(), promotions.size(), type_.words()),
                  fmt::format("scan lineitem, {} rows, select l_shipdate: {} left",
                              lineitem_.rows(), sums.selected),
                  fmt::format("look their parts up: {} rows", sums.rows)};
    return done;
  }

 private:
  /// Returns the share in percent: two more digits, and the point moved by two digits.
  [[nodiscard]] static decimal share_of(const q14_sums& sums) {
    return {quotient(sums.promotion, sums.all, 6 + 2).units, 6};
  }

  void add(const row_block& block, const keyed_rows& parts, const key_index& promotions,
           q14_sums& so_far) const {
    row_mask mask(block);
    keep_between(shipdate_, block, dates_, mask);
    so_far.selected += mask.count(block);
    for_each_match(line_part_, block, parts, mask,
                   [&](std::size_t row, std::size_t place) {
                     const auto type =
                         static_cast<std::int64_t>(type_.values.code(parts.row(place)));
                     const int128 net = net_price_(row);
                     so_far.all += net;
                     if (promotions.find(type) != key_index::absent) so_far.promotion += net;
                     ++so_far.rows;
                   },
                   {&net_price_.price(), &net_price_.discount()});
  }

  const table &lineitem_, &part_;
  const packed& line_part_;
  const packed& shipdate_;
  const column& part_key_;
  const column& type_;
  net_price net_price_;
  code_range dates_;
};

}  // namespace

const query q14 = make_query<q14_query>("q14", "Promotion effect", q14_parameters);

}  // namespace creek::tpch
