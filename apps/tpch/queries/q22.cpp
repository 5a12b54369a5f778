// SPDX-License-Identifier: Apache-2.0
// Q22, global sales opportunity: customers of some countries with much money and no orders.
//
//   select cntrycode, count(*) as numcust, sum(c_acctbal) as totacctbal
//   from (select substring(c_phone from 1 for 2) as cntrycode, c_acctbal from customer
//         where substring(c_phone from 1 for 2) in (I1, ... I7)
//           and c_acctbal > (select avg(c_acctbal) from customer
//                            where c_acctbal > 0.00
//                              and substring(c_phone from 1 for 2) in (I1, ... I7))
//           and not exists (select * from orders where o_custkey = c_custkey))
//   group by cntrycode order by cntrycode
//
// One customer in eight is left before the orders are read: only orders of these are counted.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tpch/operators/gather_rows.hpp"
#include "tpch/operators/group_sums.hpp"
#include "tpch/operators/keyed_rows.hpp"
#include "tpch/query.hpp"

namespace creek::tpch {
namespace {

constexpr std::int64_t q22_last_code = 99;

constexpr std::array q22_parameters{
    parameter{"I1", kind::integer, "13", 10, q22_last_code},
    parameter{"I2", kind::integer, "31", 10, q22_last_code},
    parameter{"I3", kind::integer, "23", 10, q22_last_code},
    parameter{"I4", kind::integer, "29", 10, q22_last_code},
    parameter{"I5", kind::integer, "30", 10, q22_last_code},
    parameter{"I6", kind::integer, "18", 10, q22_last_code},
    parameter{"I7", kind::integer, "17", 10, q22_last_code},
};

class q22_query final : public query_on_tables {
 public:
  q22_query(database& from, const parameter_values& given)
      : customer_(open(from, "customer", {"c_custkey", "c_phone", "c_acctbal"})),
        orders_(open(from, "orders", {"o_custkey"})),
        phone_(customer_["c_phone"]),
        balance_(customer_["c_acctbal"].values),
        order_customer_(orders_["o_custkey"].values) {
    for (const parameter& code : q22_parameters) {
      wanted_[static_cast<std::size_t>(given.number(code.name))] = true;
    }
  }

  [[nodiscard]] query_run run() const override {
    const std::vector<std::size_t> there =
        select_rows(customer_.rows(), [&](const row_block& block, row_mask& mask) {
          keep_if(block, mask, [&](std::size_t row) { return wanted_[country_of(row)]; });
        });
    const keyed_rows rich(customer_["c_custkey"], above_average(there));
    const auto orders = group_sums<group_count>(
        orders_.rows(), key_range::below(rich.size()), [&](const row_block& block, auto&& emit) {
          row_mask mask(block);
          for_each_match(order_customer_, block, rich, mask, [&](std::size_t, std::size_t place) {
            emit(static_cast<std::int64_t>(place), {.rows = 1});
          });
        });

    query_run done{.result = answer_of(rich, orders), .rows = rows_of_tables()};
    done.bytes = phone_.scan_bytes() + there.size() * balance_.width +
                 rich.size() * customer_["c_custkey"].values.width + order_customer_.bytes();
    done.steps = {
        fmt::format("scan customer, {} rows: {} of the countries, {} above the average",
                    customer_.rows(), there.size(), rich.size()),
        fmt::format("scan orders, {} rows, join on {}, count by customer in {} of {} bytes",
                    orders_.rows(), rich.describe(), orders.way(), orders.bytes()),
        fmt::format("sum customers without orders by country: {} groups", done.result.rows.size())};
    return done;
  }

 private:
  /// Returns the number in the first two characters of the phone, or 0, which is no parameter.
  [[nodiscard]] std::size_t country_of(std::size_t row) const noexcept {
    const std::string_view phone = phone_.text(row);
    if (phone.size() < 2) return 0;
    const auto digit = [&](std::size_t i) { return static_cast<unsigned char>(phone[i]) - '0'; };
    const auto tens = static_cast<unsigned>(digit(0)), ones = static_cast<unsigned>(digit(1));
    return tens > 9 || ones > 9 ? 0 : 10 * tens + ones;
  }

  /// Returns the rows whose balance is above the average of the positive balances.
  [[nodiscard]] std::vector<std::size_t> above_average(const std::vector<std::size_t>& rows) const {
    using sum = group_sum<int128>;
    const sum positive = over_blocks(
        rows.size(), sum(),
        [&](const row_block& block, sum& so_far) {
          for (std::size_t i = block.first; i < block.first + block.rows; ++i) {
            const std::int64_t balance = balance_.value(rows[i]);
            if (balance > 0) so_far.join({.sum = balance, .rows = 1});
          }
        },
        [](sum a, const sum& b) {
          a.join(b);
          return a;
        });
    return gather_rows<std::size_t>(
        rows.size(), [&](const row_block& block, std::vector<std::size_t>& to) {
          for (std::size_t i = block.first; i < block.first + block.rows; ++i) {
            const int128 balance = balance_.value(rows[i]);
            // The average of no rows is NULL, and no balance is above NULL.
            const bool above = balance * static_cast<int128>(positive.rows) > positive.sum;
            if (positive.any() && above) to.push_back(rows[i]);
          }
        });
  }

  [[nodiscard]] answer answer_of(const keyed_rows& rich, const groups<group_count>& orders) const {
    const auto sums = group_sums<group_sum<int128>>(
        rich.size(), {0, q22_last_code}, [&](const row_block& block, auto&& emit) {
          for (std::size_t place = block.first; place < block.first + block.rows; ++place) {
            if (orders.find(static_cast<std::int64_t>(place)) != nullptr) continue;
            const std::size_t row = rich.row(place);
            emit(static_cast<std::int64_t>(country_of(row)),
                 {.sum = balance_.value(row), .rows = 1});
          }
        });
    using row = std::vector<cell>;
    return {{"cntrycode", "numcust", "totacctbal"},
            sums.gather<row>(
                [](std::int64_t country, const group_sum<int128>& of, std::vector<row>& to) {
                  to.push_back({std::to_string(country), static_cast<std::int64_t>(of.rows),
                                decimal{of.sum, 2}});
                })};
  }

  const table &customer_, &orders_;
  const column& phone_;
  const packed& balance_;
  const packed& order_customer_;
  std::array<bool, q22_last_code + 1> wanted_{};
};

}  // namespace

const query q22 = make_query<q22_query>("q22", "Global sales opportunity", q22_parameters);

}  // namespace creek::tpch
