// SPDX-License-Identifier: Apache-2.0
// Q6, forecasting revenue change: what would have been earned more without some discounts.
//
//   select sum(l_extendedprice * l_discount) as revenue from lineitem
//   where l_shipdate >= DATE and l_shipdate < DATE + 1 year
//     and l_discount between DISCOUNT - 0.01 and DISCOUNT + 0.01 and l_quantity < QUANTITY
//
// The three narrow columns are filtered first, a block at a time; the price is read only of the
// rows that are left, about one in fifty.
#include <fmt/format.h>

#include <array>

#include "date.hpp"
#include "day_limits.hpp"
#include "query.hpp"
#include "row_mask.hpp"
#include "select.hpp"

namespace creek::tpch {
namespace {

constexpr std::array q6_parameters{
    parameter{"DATE", kind::date, "1994-01-01", first_day, last_day},
    parameter{"DISCOUNT", kind::decimal, "0.06", 0, 100},
    parameter{"QUANTITY", kind::integer, "24", 0, 1'000'000},
};

class q6_query final : public prepared_query {
 public:
  q6_query(database& from, const parameter_values& given)
      : lineitem_(
            from.open("lineitem", {"l_shipdate", "l_discount", "l_quantity", "l_extendedprice"})),
        shipdate_(lineitem_["l_shipdate"].values),
        discount_(lineitem_["l_discount"].values),
        quantity_(lineitem_["l_quantity"].values),
        price_(lineitem_["l_extendedprice"].values) {
    const auto date = static_cast<std::int32_t>(given.number("DATE"));
    const std::int64_t near = given.number("DISCOUNT");
    dates_ = codes_between(shipdate_, date, add_months(date, 12) - 1);
    discounts_ = codes_between(discount_, near - 1, near + 1);
    quantities_ = codes_between(quantity_, quantity_.least(), 100 * given.number("QUANTITY") - 1);
  }

  [[nodiscard]] bool lost() const noexcept override { return lineitem_.lost(); }

  [[nodiscard]] query_run run() const override {
    const sum all = over_blocks(
        lineitem_.rows(), sum{},
        [this](const row_block& block, sum& so_far) { add(block, so_far); },
        [](const sum& a, const sum& b) {
          return sum{a.revenue + b.revenue, a.rows + b.rows};
        });
    query_run done;
    done.result = {{"revenue"}, {{decimal{all.revenue, 4}}}};
    done.rows = lineitem_.rows();
    done.bytes =
        shipdate_.bytes() + discount_.bytes() + quantity_.bytes() + all.rows * price_.width;
    done.steps = {
        fmt::format("scan lineitem, {} rows in blocks of {}", lineitem_.rows(), block_rows),
        fmt::format("select l_shipdate ({} bytes a row)", shipdate_.width),
        fmt::format("select l_discount ({} bytes a row)", discount_.width),
        fmt::format("select l_quantity ({} bytes a row): {} rows left", quantity_.width, all.rows),
        fmt::format("sum l_extendedprice ({} bytes a row) * l_discount of these", price_.width)};
    return done;
  }

 private:
  struct sum {
    int128 revenue = 0;
    std::uint64_t rows = 0;
  };

  void add(const row_block& block, sum& so_far) const {
    row_mask mask(block);
    keep_between(shipdate_, block, dates_, mask);
    keep_between(discount_, block, discounts_, mask);
    keep_between(quantity_, block, quantities_, mask);
    if (price_.width == 4 && discount_.width == 1) {
      add_products<std::uint32_t, std::uint8_t>(block, mask, so_far);
    } else {
      for_each_row(block, mask, [&](std::size_t row) {
        so_far.revenue += int128{price_.value(row)} * discount_.value(row);
        ++so_far.rows;
      });
    }
  }

  /// The sums of codes fit 64 bits a block; base and factor are put in once for all of its rows:
  /// sum (b + f p)(c + g d) = n b c + b g sum d + c f sum p + f g sum p d.
  template <class P, class D>
  void add_products(const row_block& block, const row_mask& mask, sum& so_far) const {
    const P* const prices = price_.as<P>() + block.first;
    const D* const discounts = discount_.as<D>() + block.first;
    const row_list left(block, mask);
    const std::uint64_t rows = left.size();
    // The prices are far apart: asked for all at once, they come while one another is waited for.
    for (const std::uint16_t row : left) __builtin_prefetch(prices + row);
    std::uint64_t p = 0, d = 0, products = 0;
    for (const std::uint16_t row : left) {
      const std::uint64_t price = prices[row], discount = discounts[row];
      p += price;
      d += discount;
      products += price * discount;
    }
    const int128 b = price_.base, f = price_.factor, c = discount_.base, g = discount_.factor;
    so_far.revenue += b * c * rows + b * g * d + c * f * p + f * g * products;
    so_far.rows += rows;
  }

  table lineitem_;
  const packed& shipdate_;
  const packed& discount_;
  const packed& quantity_;
  const packed& price_;
  code_range dates_, discounts_, quantities_;
};

}  // namespace

const query q6{
    "q6", "Forecasting revenue change", q6_parameters,
    [](database& from, const parameter_values& given) -> std::unique_ptr<prepared_query> {
      return std::make_unique<q6_query>(from, given);
    }};

}  // namespace creek::tpch
