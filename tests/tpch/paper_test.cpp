// SPDX-License-Identifier: Apache-2.0
// The forms of [DSS 2011] against plain loops, and, where they omit nothing, against the full
// queries: random tables and parameters, on host threads and on a simulated chip.
#include <gtest/gtest.h>

#include <creek/core/error.hpp>
#include <creek/host/spmd.hpp>
#include <creek/scc/spmd.hpp>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "oracle.hpp"
#include "rows.hpp"
#include "support/temporary_folder.hpp"
#include "tpch/paper/q12.hpp"
#include "tpch/paper/q3.hpp"
#include "tpch/paper/q6.hpp"

namespace creek::tpch {
namespace {

using paper::q12_form, paper::q3_form, paper::q6_form;
using testing::modes, testing::segments, testing::small_database;

/// Expects the same answer on any number of ranks, and returns it. If there are enough rows, three
/// cores of a chip must be faster than one.
template <class Form>
answer ask(const Form& form) {
  answer first;
  for (const int ranks : {1, 2, 5}) {
    answer got;
    spmd(ranks, [&](host_communicator& c) {
      bool read = false;
      answer mine = form.run(c, [&] { read = true; });
      EXPECT_TRUE(read);
      if (c.rank() == 0) got = std::move(mine);
    });
    if (ranks == 1) first = got;
    EXPECT_EQ(to_text(got), to_text(first)) << ranks << " ranks";
  }
  virtual_time last;
  for (const int cores : {1, 3, 48}) {
    answer got;
    const auto report = simulate(cores, [&](scc_communicator& c) {
      answer mine = form.run(c, [] {});
      if (c.rank() == 0) got = std::move(mine);
    });
    EXPECT_EQ(to_text(got), to_text(first)) << cores << " cores";
    EXPECT_GT(report.length(), virtual_time{});
    if (cores == 3 && form.rows() > 1000) {
      EXPECT_LT(report.length(), last);
    }
    last = report.length();
  }
  EXPECT_FALSE(form.lost());
  return first;
}

answer oracle_q3_lines(const small_database& data, const std::string& segment, std::int32_t date) {
  std::set<std::int64_t> customers, orders;
  for (const auto& customer : data.customers) {
    if (customer.segment == segment) customers.insert(customer.key);
  }
  for (const auto& order : data.orders) {
    if (order.date < date && customers.contains(order.customer)) orders.insert(order.key);
  }
  std::int64_t lines = 0;
  int128 revenue = 0;
  for (const auto& line : data.lines) {
    if (line.shipped <= date || !orders.contains(line.order)) continue;
    ++lines;
    revenue += int128{line.price} * (100 - line.discount);
  }
  return {{"lines", "revenue"}, {{lines, decimal{revenue, 4}}}};
}

class tpch_paper : public ::testing::TestWithParam<testing::flavour> {
 protected:
  tpch_paper() : data_(testing::make_rows(5, 1500, GetParam())) {
    testing::write_tables(folder_.path().string(), data_);
  }
  database tables() const { return database(folder_.path().string()); }
  std::size_t below(std::size_t n) { return random_() % n; }
  std::int32_t day() { return *parse_date("1992-01-01") + static_cast<std::int32_t>(below(2700)); }

  std::mt19937_64 random_{8};
  small_database data_;
  support::temporary_folder folder_;
};

TEST_P(tpch_paper, q3) {
  for (int i = 0; i < 4; ++i) {
    const std::string segment(segments[below(5)]);
    const std::int32_t date = day();
    database from = tables();
    const q3_form form(from, parameter_values(q3.parameters, {"SEGMENT=" + segment,
                                                              "DATE=" + date_to_string(date)}));
    EXPECT_EQ(form.rows(), data_.customers.size() + data_.orders.size() + data_.lines.size());
    EXPECT_EQ(to_text(ask(form)), to_text(oracle_q3_lines(data_, segment, date)))
        << segment << " " << date_to_string(date);
  }
}

TEST_P(tpch_paper, q6) {
  for (int i = 0; i < 4; ++i) {
    const std::int32_t date = day();
    const auto discount = static_cast<std::int64_t>(below(12));
    const auto quantity = static_cast<std::int64_t>(below(60));
    database from = tables();
    const q6_form form(from,
                       parameter_values(q6.parameters, {"DATE=" + date_to_string(date),
                                                        "DISCOUNT=" + testing::money(discount),
                                                        "QUANTITY=" + std::to_string(quantity)}));
    EXPECT_EQ(to_text(ask(form)), to_text(testing::oracle_q6(data_, date, discount, quantity)))
        << date_to_string(date);
  }
}

TEST_P(tpch_paper, q12_as_the_full_query) {
  for (int i = 0; i < 4; ++i) {
    const std::size_t one = below(7);
    const std::string a(modes[one]), b(i == 0 ? "CART" : modes[(one + 1 + below(6)) % 7]);
    const parameter_values values(
        q12.parameters, {"SHIPMODE1=" + a, "SHIPMODE2=" + b, "DATE=" + date_to_string(day())});
    database from = tables();
    EXPECT_EQ(to_text(ask(q12_form(from, values))),
              to_text(q12.prepare(from, values)->run().result))
        << values.describe();
  }
}

INSTANTIATE_TEST_SUITE_P(
    tpch, tpch_paper,
    ::testing::Values(testing::flavour{}, testing::flavour{.shuffled = true, .orphans = true},
                      testing::flavour{
                          .wide = true, .sparse = true, .shuffled = true, .orphans = true}));

TEST(tpch_paper_forms, fewer_rows_than_ranks_and_words_that_no_row_has) {
  support::temporary_folder folder;
  const small_database data = testing::make_rows(3, 1);
  testing::write_tables(folder.path().string(), data);
  database from(folder.path().string());
  EXPECT_EQ(to_text(ask(q3_form(from, parameter_values(q3.parameters, {"SEGMENT=NONE"})))),
            to_text(answer{{"lines", "revenue"}, {{std::int64_t{0}, decimal{0, 4}}}}));
  EXPECT_TRUE(
      ask(q12_form(from, parameter_values(q12.parameters, {"SHIPMODE1=CART", "SHIPMODE2=SLED"})))
          .rows.empty());
  EXPECT_THROW(q12_form(from, parameter_values(q12.parameters, {"SHIPMODE1=SHIP"})), usage_error);
}

}  // namespace
}  // namespace creek::tpch
