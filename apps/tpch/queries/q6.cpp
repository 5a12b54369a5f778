// SPDX-License-Identifier: Apache-2.0
// Q6, forecasting revenue change: what would have been earned more without some discounts.
//
//   select sum(l_extendedprice * l_discount) as revenue from lineitem
//   where l_shipdate >= DATE and l_shipdate < DATE + 1 year
//     and l_discount between DISCOUNT - 0.01 and DISCOUNT + 0.01 and l_quantity < QUANTITY
//
// The three narrow columns are filtered first, a block at a time; the price is only read for the
// rows that are left, about one in fifty.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "tpch/operators/row_mask.hpp"
#include "tpch/operators/select.hpp"
#include "tpch/operators/sum_products.hpp"
#include "tpch/query.hpp"
#include "tpch/ranks/query_ranks.hpp"
#include "tpch/values/date.hpp"
#include "tpch/values/day_limits.hpp"

namespace creek::tpch {
namespace {

constexpr std::array q6_parameters{
    parameter{"DATE", kind::date, "1994-01-01", first_day, last_day},
    parameter{"DISCOUNT", kind::decimal, "0.06", 0, 100},
    parameter{"QUANTITY", kind::integer, "24", 0, 1'000'000},
};

class q6_query final : public query_on_tables {
 public:
  q6_query(database& from, const parameter_values& given)
      : lineitem_(
            open(from, "lineitem", {"l_shipdate", "l_discount", "l_quantity", "l_extendedprice"})),
        shipdate_(lineitem_["l_shipdate"].values),
        discount_(lineitem_["l_discount"].values),
        quantity_(lineitem_["l_quantity"].values),
        price_(lineitem_["l_extendedprice"].values) {
    const auto date = static_cast<std::int32_t>(given.number("DATE"));
    const std::int64_t near = given.number("DISCOUNT");
    dates_ = codes_between(shipdate_, date, add_months(date, 12) - 1);
    discounts_ = codes_between(discount_, near - 1, near + 1);
    quantities_ = codes_between(quantity_, quantity_.least(), 100 * given.number("QUANTITY") - 1);
    vector_sums_ = vector_sums();
  }

  [[nodiscard]] query_run run() const override { return run_of(sum_rows()); }

  [[nodiscard]] query_run run_on(query_ranks& ranks) const override {
    const sum own = ranks.compute([this] { return sum_rows(); });
    query_run done = run_of(own);
    done.result = answer_of(ranks.combine(own, std::plus{}));
    done.steps.push_back(fmt::format("add the sums of {} ranks", ranks.size()));
    return done;
  }

 private:
  struct sum {
    int128 revenue = 0;
    std::uint64_t rows = 0;
    std::uint64_t price_bytes = 0;  // read, though not all of them are used

    [[nodiscard]] sum operator+(const sum& other) const noexcept {
      return {revenue + other.revenue, rows + other.rows, price_bytes + other.price_bytes};
    }
  };

  [[nodiscard]] sum sum_rows() const {
    return over_blocks(
        lineitem_.rows(), sum{},
        [this](const row_block& block, sum& so_far) { add(block, so_far); }, std::plus{});
  }

  [[nodiscard]] static answer answer_of(const sum& all) {
    return {{"revenue"}, {{all.rows == 0 ? cell(null{}) : decimal{all.revenue, 4}}}};
  }

  [[nodiscard]] query_run run_of(const sum& all) const {
    query_run done{.result = answer_of(all)};
    done.rows = rows_of_tables();
    done.bytes = shipdate_.bytes() + discount_.bytes() + quantity_.bytes() + all.price_bytes;
    done.steps = {
        fmt::format("scan lineitem, {} rows in blocks of {}", lineitem_.rows(), block_rows),
        fmt::format("select l_shipdate ({} bytes per row)", shipdate_.width),
        fmt::format("select l_discount ({} bytes per row)", discount_.width),
        fmt::format("select l_quantity ({} bytes per row): {} rows left", quantity_.width,
                    all.rows),
        fmt::format("sum l_extendedprice ({} bytes per row) * l_discount of these", price_.width)};
    return done;
  }

  /// Adds a block in steps so short that the CPU sees the columns as four streams read side by side
  /// and prefetches all of them: 4096 rows at a time took a quarter longer.
  void add(const row_block& block, sum& so_far) const {
    constexpr std::size_t step = 512;
    for (std::size_t at = 0; at < block.rows; at += step) {
      add_step({block.first + at, std::min(step, block.rows - at)}, so_far);
    }
  }

  void add_step(const row_block& block, sum& so_far) const {
    row_mask mask(block);
    keep_between(shipdate_, block, dates_, mask);
    keep_between(discount_, block, discounts_, mask);
    keep_between(quantity_, block, quantities_, mask);
    if (vector_sums_) {
      add_products(block, mask, so_far);
      return;
    }
    for_each_row(block, mask, [&](std::size_t row) {
      so_far.revenue += int128{price_.value(row)} * discount_.value(row);
      ++so_far.rows;
      so_far.price_bytes += price_.width;
    });
  }

  /// Returns whether widths and ranges are those of dbgen's values.
  [[nodiscard]] bool vector_sums() const noexcept {
    return price_.width == 4 && discount_.width == 1 && discount_.least() >= 0 &&
           discount_.least() <= 0xffff - 255 * discount_.factor;
  }

  /// Adds sum (b + f code) d = b sum d + f sum code d, both of which fit 64 bits in a block.
  void add_products(const row_block& block, const row_mask& mask, sum& so_far) const {
    const product_sums sums = sum_products(
        price_.as<std::uint32_t>() + block.first, discount_.as<std::uint8_t>() + block.first,
        static_cast<std::uint32_t>(discount_.base), static_cast<std::uint32_t>(discount_.factor),
        mask.words, block.words());
    so_far.revenue += int128{price_.base} * sums.others + int128{price_.factor} * sums.products;
    so_far.rows += sums.rows;
    so_far.price_bytes += sums.words * 64 * price_.width;
  }

  const table& lineitem_;
  const packed& shipdate_;
  const packed& discount_;
  const packed& quantity_;
  const packed& price_;
  code_range dates_, discounts_, quantities_;
  bool vector_sums_;
};

}  // namespace

const query q6 = make_query<q6_query>("q6", "Forecasting revenue change", q6_parameters);

}  // namespace creek::tpch
