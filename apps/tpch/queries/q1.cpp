// SPDX-License-Identifier: Apache-2.0
// Q1, pricing summary report: sums and averages of nearly all lines, by return flag and status.
//
//   select l_returnflag, l_linestatus, sum(l_quantity) as sum_qty,
//     sum(l_extendedprice) as sum_base_price,
//     sum(l_extendedprice * (1 - l_discount)) as sum_disc_price,
//     sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) as sum_charge,
//     avg(l_quantity) as avg_qty, avg(l_extendedprice) as avg_price, avg(l_discount) as avg_disc,
//     count(*) as count_order
//   from lineitem where l_shipdate <= 1998-12-01 - DELTA days
//   group by l_returnflag, l_linestatus order by l_returnflag, l_linestatus
//
// There are few groups, so a group is a number made of the two codes and its sums lie in an array.
// A block is summed in 64 bits where the columns' greatest values show that this is enough, as it
// is for dbgen's data; what a block gave is added up in 128 bits.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>
#include <utility>

#include "tpch/operators/join_rows.hpp"
#include "tpch/operators/row_mask.hpp"
#include "tpch/operators/select.hpp"
#include "tpch/query.hpp"
#include "tpch/ranks/query_ranks.hpp"
#include "tpch/values/date.hpp"

namespace creek::tpch {
namespace {

constexpr std::array q1_parameters{
    parameter{"DELTA", kind::integer, "90", 0, 10'000},
};

/// The sums of a group; their scales are those of the products: 2, 2, 4, 6, 2.
template <class Number>
struct q1_sums {
  Number quantity = 0, price = 0, discounted = 0, charge = 0, discount = 0;
  std::uint64_t count = 0;

  template <class Other>
  void add(const q1_sums<Other>& other) {
    using exact = std::conditional_t<sizeof(Other) == 8, std::int64_t, Other>;
    quantity += static_cast<exact>(other.quantity);
    price += static_cast<exact>(other.price);
    discounted += static_cast<exact>(other.discounted);
    charge += static_cast<exact>(other.charge);
    discount += static_cast<exact>(other.discount);
    count += other.count;
  }
  /// Adds a row, with amounts in hundredths.
  void add_row(Number q, Number p, Number d, Number t) {
    const Number net = p * (100 - d);
    quantity += q;
    price += p;
    discounted += net;
    charge += net * (100 + t);
    discount += d;
    ++count;
  }
};

/// A group by the letters of its return flag and status.
struct q1_group {
  unsigned char flag = 0, status = 0;
  q1_sums<int128> sums{};

  [[nodiscard]] auto key() const noexcept { return std::pair(flag, status); }
};

class q1_query final : public query_on_tables {
 public:
  q1_query(database& from, const parameter_values& given)
      : lineitem_(open(from, "lineitem",
                       {"l_returnflag", "l_linestatus", "l_quantity", "l_extendedprice",
                        "l_discount", "l_tax", "l_shipdate"})),
        flag_(lineitem_["l_returnflag"]),
        status_(lineitem_["l_linestatus"]),
        quantity_(lineitem_["l_quantity"].values),
        price_(lineitem_["l_extendedprice"].values),
        discount_(lineitem_["l_discount"].values),
        tax_(lineitem_["l_tax"].values),
        shipdate_(lineitem_["l_shipdate"].values) {
    const std::int64_t end = *parse_date("1998-12-01") - given.number("DELTA");
    dates_ = codes_between(shipdate_, std::min(shipdate_.least(), end), end);
  }

  [[nodiscard]] query_run run() const override {
    const std::vector<q1_group> groups = sum_rows();
    query_run done = work_of(groups);
    done.result = answer_of(groups);
    return done;
  }

  [[nodiscard]] query_run run_on(query_ranks& ranks) const override {
    std::vector<q1_group> groups = ranks.compute([this] { return sum_rows(); });
    query_run done = work_of(groups);
    groups = ranks.to_first(std::move(groups));
    join_rows(groups, &q1_group::key,
              [](q1_group& to, const q1_group& from) { to.sums.add(from.sums); });
    done.result = answer_of(groups);
    done.steps.push_back(fmt::format("join the groups of {} ranks", ranks.size()));
    return done;
  }

 private:
  using sums_by_code = std::vector<q1_sums<int128>>;

  /// Returns the groups that have rows, by their letters.
  [[nodiscard]] std::vector<q1_group> sum_rows() const {
    const bool narrow = sums_narrow();
    const sums_by_code sums = over_blocks(
        lineitem_.rows(), sums_by_code(flag_.words() * status_.words()),
        [&](const row_block& block, sums_by_code& so_far) {
          if (narrow) {
            add_narrow(block, so_far);
          } else {
            add_wide(block, so_far);
          }
        },
        [](sums_by_code a, const sums_by_code& b) {
          for (std::size_t g = 0; g < a.size(); ++g) a[g].add(b[g]);
          return a;
        });
    std::vector<q1_group> groups;
    for (std::size_t g = 0; g < sums.size(); ++g) {
      if (sums[g].count == 0) continue;
      groups.push_back({letter(flag_.word(g / status_.words())),
                        letter(status_.word(g % status_.words())), sums[g]});
    }
    return groups;
  }

  [[nodiscard]] query_run work_of(const std::vector<q1_group>& groups) const {
    query_run done{.rows = rows_of_tables()};
    for (const packed* column :
         {&flag_.values, &status_.values, &quantity_, &price_, &discount_, &tax_, &shipdate_}) {
      done.bytes += column->bytes();
    }
    std::uint64_t rows = 0;
    for (const q1_group& group : groups) rows += group.sums.count;
    done.steps = {
        fmt::format("scan lineitem, {} rows in blocks of {}", lineitem_.rows(), block_rows),
        fmt::format("select l_shipdate ({} bytes per row): {} rows left", shipdate_.width, rows),
        fmt::format("sum by l_returnflag and l_linestatus, an array of {} groups, {}",
                    flag_.words() * status_.words(),
                    sums_narrow() ? "64 bits in a block" : "128 bits throughout")};
    return done;
  }

  /// Returns the letter of a word of one byte; 0 if a changed file has none.
  [[nodiscard]] static unsigned char letter(std::string_view word) noexcept {
    return word.empty() ? 0 : static_cast<unsigned char>(word[0]);
  }
  [[nodiscard]] static std::string text_of(unsigned char letter) {
    return letter == 0 ? std::string() : std::string(1, static_cast<char>(letter));
  }

  [[nodiscard]] std::size_t group_of(std::size_t row) const noexcept {
    return static_cast<std::size_t>(flag_.values.code(row) * status_.words() +
                                    status_.values.code(row));
  }

  /// Returns whether the widths are those of dbgen's values, for which there is a fast loop.
  [[nodiscard]] bool usual_widths() const noexcept {
    return flag_.values.width == 1 && status_.values.width == 1 && quantity_.width == 1 &&
           price_.width == 4 && discount_.width == 1 && tax_.width == 1 &&
           flag_.words() * status_.words() <= most_narrow;
  }

  [[nodiscard]] bool sums_narrow() const noexcept { return usual_widths() && block_fits_64_bits(); }

  [[nodiscard]] bool block_fits_64_bits() const noexcept {
    const auto most = [](const packed& column, std::int64_t plus) {
      const int128 low = int128{column.least()} + plus, high = int128{column.greatest()} + plus;
      return std::max({low, -low, high, -high});
    };
    // Each factor is below 2^42 at these widths, unless a base is far off, which this checks.
    constexpr int128 limit = std::numeric_limits<std::int64_t>::max() / block_rows;
    const int128 p = most(price_, 0), d = most(discount_, -100), t = most(tax_, 100);
    return most(quantity_, 0) < limit && p < limit && d < limit && p * d < limit && t < limit &&
           p * d * t < limit;
  }

  void add_narrow(const row_block& block, sums_by_code& so_far) const {
    row_mask mask(block);
    keep_between(shipdate_, block, dates_, mask);
    // Unsigned, since unbounded codes may overflow in a file that changes while it is read.
    using number = std::uint64_t;
    std::array<q1_sums<number>, most_narrow> sums{};
    const std::uint8_t *flags = flag_.values.as<std::uint8_t>(),
                       *statuses = status_.values.as<std::uint8_t>(),
                       *quantities = quantity_.as<std::uint8_t>(),
                       *discounts = discount_.as<std::uint8_t>(), *taxes = tax_.as<std::uint8_t>();
    const std::uint32_t* prices = price_.as<std::uint32_t>();
    const auto per_flag = static_cast<unsigned>(status_.words());
    for_each_row(block, mask, [&](std::size_t row) {
      sums[(flags[row] * per_flag + statuses[row]) % most_narrow].add_row(
          static_cast<number>(quantity_.value_of(quantities[row])),
          static_cast<number>(price_.value_of(prices[row])),
          static_cast<number>(discount_.value_of(discounts[row])),
          static_cast<number>(tax_.value_of(taxes[row])));
    });
    for (std::size_t g = 0; g < so_far.size(); ++g) so_far[g].add(sums[g]);
  }

  void add_wide(const row_block& block, sums_by_code& so_far) const {
    row_mask mask(block);
    keep_between(shipdate_, block, dates_, mask);
    for_each_row(block, mask, [&](std::size_t row) {
      so_far[group_of(row)].add_row(quantity_.value(row), price_.value(row), discount_.value(row),
                                    tax_.value(row));
    });
  }

  [[nodiscard]] static answer answer_of(const std::vector<q1_group>& groups) {
    answer result{{"l_returnflag", "l_linestatus", "sum_qty", "sum_base_price", "sum_disc_price",
                   "sum_charge", "avg_qty", "avg_price", "avg_disc", "count_order"},
                  {}};
    constexpr int average_scale = 6;
    for (const q1_group& group : groups) {
      const q1_sums<int128>& of = group.sums;
      const auto count = static_cast<std::int64_t>(of.count);
      result.rows.push_back({text_of(group.flag), text_of(group.status), decimal{of.quantity, 2},
                             decimal{of.price, 2}, decimal{of.discounted, 4}, decimal{of.charge, 6},
                             average({of.quantity, 2}, count, average_scale),
                             average({of.price, 2}, count, average_scale),
                             average({of.discount, 2}, count, average_scale), count});
    }
    return result;
  }

  static constexpr std::size_t most_narrow = 16;  // a power of two; dbgen makes six

  const table& lineitem_;
  const column& flag_;
  const column& status_;
  const packed& quantity_;
  const packed& price_;
  const packed& discount_;
  const packed& tax_;
  const packed& shipdate_;
  code_range dates_;
};

}  // namespace

const query q1 = make_query<q1_query>("q1", "Pricing summary report", q1_parameters);

}  // namespace creek::tpch
