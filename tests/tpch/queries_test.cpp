// SPDX-License-Identifier: Apache-2.0
// Random tables, random parameters: the queries against plain loops, on text and on caches, for any
// number of workers.
#include <gtest/gtest.h>

#include <creek/core/error.hpp>
#include <creek/tasking/runtime.hpp>
#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "oracle.hpp"
#include "rows.hpp"
#include "support/few_cases.hpp"
#include "support/temporary_folder.hpp"
#include "tpch/query.hpp"

namespace creek::tpch {
namespace {

using testing::modes, testing::segments, testing::small_database;

answer ask(const query& which, const std::string& folder, const std::vector<std::string>& given) {
  database from(folder);
  const auto prepared = which.prepare(from, parameter_values(which.parameters, given));
  const query_run first = prepared->run();
  EXPECT_EQ(prepared->run().result, first.result);
  EXPECT_FALSE(prepared->lost());
  EXPECT_GT(first.bytes, 0u);
  return first.result;
}

void expect_same(const answer& got, const answer& wanted, const std::vector<std::string>& given) {
  std::string all;
  for (const std::string& value : given) all += value + " ";
  EXPECT_EQ(got.columns, wanted.columns);
  EXPECT_EQ(to_text(got), to_text(wanted)) << all;
}

class with_tables : public ::testing::TestWithParam<testing::flavour> {
 protected:
  explicit with_tables(std::size_t orders = support::few_cases ? 1500 : 4000)
      : data_(testing::make_rows(11, orders, GetParam())) {
    testing::write_tables(folder(), data_);
    testing::write_other_tables(folder());
  }
  std::string folder() const { return folder_.path().string(); }
  std::int32_t day() { return *parse_date("1992-01-01") + static_cast<std::int32_t>(below(2700)); }
  std::size_t below(std::size_t n) { return random_() % n; }

  std::mt19937_64 random_{7};
  small_database data_;
  support::temporary_folder folder_;
};

using tpch_queries = with_tables;

TEST_P(tpch_queries, q1) {
  for (int i = 0; i < 12; ++i) {
    const int delta = static_cast<int>(below(2800));
    const std::vector<std::string> given{"DELTA=" + std::to_string(delta)};
    expect_same(ask(q1, folder(), given), testing::oracle_q1(data_, delta), given);
  }
}

TEST_P(tpch_queries, q3) {
  for (int i = 0; i < 12; ++i) {
    const std::string segment(segments[below(5)]);
    const std::int32_t date = day();
    const std::vector<std::string> given{"SEGMENT=" + segment, "DATE=" + date_to_string(date)};
    expect_same(ask(q3, folder(), given), testing::oracle_q3(data_, segment, date), given);
  }
}

TEST_P(tpch_queries, q6) {
  for (int i = 0; i < 12; ++i) {
    const std::int32_t date = day();
    const auto discount = static_cast<std::int64_t>(below(12));
    const auto quantity = static_cast<std::int64_t>(below(60));
    const std::vector<std::string> given{"DATE=" + date_to_string(date),
                                         "DISCOUNT=" + testing::money(discount),
                                         "QUANTITY=" + std::to_string(quantity)};
    expect_same(ask(q6, folder(), given), testing::oracle_q6(data_, date, discount, quantity),
                given);
  }
}

TEST_P(tpch_queries, q12) {
  for (int i = 0; i < 12; ++i) {
    const std::size_t one = below(7);
    const std::string a(modes[one]), b(modes[(one + 1 + below(6)) % 7]);
    const std::int32_t date = day();
    const std::vector<std::string> given{"SHIPMODE1=" + a, "SHIPMODE2=" + b,
                                         "DATE=" + date_to_string(date)};
    expect_same(ask(q12, folder(), given), testing::oracle_q12(data_, a, b, date), given);
  }
}

TEST_P(tpch_queries, words_that_no_row_has) {
  const std::int32_t date = *parse_date("1994-01-01");
  EXPECT_TRUE(ask(q3, folder(), {"SEGMENT=NONE"}).rows.empty());
  EXPECT_TRUE(ask(q12, folder(), {"SHIPMODE1=CART", "SHIPMODE2=SLED"}).rows.empty());
  EXPECT_TRUE(ask(q5, folder(), {"REGION=ATLANTIS"}).rows.empty());
  EXPECT_TRUE(ask(q7, folder(), {"NATION1=ATLANTIS"}).rows.empty());
  EXPECT_TRUE(ask(q8, folder(), {"TYPE=NONE"}).rows.empty());
  EXPECT_TRUE(ask(q2, folder(), {"REGION=ATLANTIS"}).rows.empty());
  EXPECT_TRUE(ask(q9, folder(), {"COLOR=ultraviolet"}).rows.empty());
  EXPECT_TRUE(ask(q11, folder(), {"NATION=ATLANTIS"}).rows.empty());
  EXPECT_TRUE(ask(q15, folder(), {"DATE=9000-01-01"}).rows.empty());
  EXPECT_TRUE(ask(q20, folder(), {"NATION=ATLANTIS"}).rows.empty());
  EXPECT_TRUE(ask(q21, folder(), {"NATION=ATLANTIS"}).rows.empty());
  for (const std::string none : {"AAA", "ZZZ"}) {
    const std::vector<std::string> given{"SHIPMODE1=" + none, "SHIPMODE2=RAIL"};
    expect_same(ask(q12, folder(), given), testing::oracle_q12(data_, none, "RAIL", date), given);
  }
}

TEST_P(tpch_queries, a_sum_of_no_rows_is_null) {
  const answer got = ask(q6, folder(), {"DATE=9000-01-01"});
  EXPECT_EQ(got, (answer{{"revenue"}, {{null{}}}}));
  EXPECT_EQ(to_text(got), "revenue\n   NULL\n");
  EXPECT_EQ(to_json(got).dump(), R"([{"revenue":null}])");
  EXPECT_EQ(ask(q14, folder(), {"DATE=9000-01-01"}).rows, (answer{{}, {{null{}}}}.rows));
  EXPECT_EQ(ask(q19, folder(), {"BRAND1=A", "BRAND2=B", "BRAND3=C"}).rows,
            (answer{{}, {{null{}}}}.rows));
  EXPECT_EQ(ask(q17, folder(), {"BRAND=A"}).rows, (answer{{}, {{null{}}}}.rows));
}

TEST_P(tpch_queries, same_on_workers_and_from_caches) {
  const std::int32_t date = *parse_date("1995-03-15");
  for (const unsigned workers : {1u, 2u, 5u}) {
    runtime rt({.workers = workers});
    rt.run([&] {
      if (workers == 2) database(folder()).make_caches();
      expect_same(ask(q1, folder(), {}), testing::oracle_q1(data_, 90), {});
      expect_same(ask(q3, folder(), {}), testing::oracle_q3(data_, "BUILDING", date), {});
      expect_same(ask(q6, folder(), {}),
                  testing::oracle_q6(data_, *parse_date("1994-01-01"), 6, 24), {});
      expect_same(ask(q12, folder(), {}),
                  testing::oracle_q12(data_, "MAIL", "SHIP", *parse_date("1994-01-01")), {});
    });
  }
}

/// Queries that the oracle's tests check by value; with parameters for which there are rows.
struct asked {
  const query* which;
  std::vector<std::string> given{};
};

const std::vector<asked>& others() {
  static const std::vector<asked> all{{&q2},
                                      {&q4},
                                      {&q5},
                                      {&q7},
                                      {&q8},
                                      {&q9},
                                      {&q10},
                                      {&q11},
                                      {&q13},
                                      {&q14},
                                      {&q15},
                                      {&q16},
                                      {&q17, {"CONTAINER=MED BAG"}},
                                      {&q18, {"QUANTITY=120"}},
                                      {&q19},
                                      {&q20, {"COLOR=green", "NATION=GERMANY"}},
                                      {&q21, {"NATION=GERMANY"}},
                                      {&q22}};
  return all;
}

TEST_P(tpch_queries, others_answer_the_same_on_workers_and_from_caches) {
  std::vector<answer> wanted;
  for (const auto& [which, given] : others()) wanted.push_back(ask(*which, folder(), given));
  for (const unsigned workers : {1u, 2u, 5u}) {
    runtime rt({.workers = workers});
    rt.run([&] {
      if (workers == 2) database(folder()).make_caches();
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        expect_same(ask(*others()[i].which, folder(), others()[i].given), wanted[i],
                    others()[i].given);
      }
    });
  }
}

TEST(tpch_query_answers, find_rows) {
  support::temporary_folder folder;
  testing::write_tables(folder.path(), testing::make_rows(11, 4000));
  testing::write_other_tables(folder.path());
  for (const auto& [which, given] : others()) {
    const answer got = ask(*which, folder.path(), given);
    ASSERT_FALSE(got.rows.empty()) << which->name;
    EXPECT_NE(got.rows[0].back(), cell(null{})) << which->name;
  }
}

TEST(tpch_query_answers, name_each_supplier_of_q21_once) {
  support::temporary_folder folder;
  testing::write_tables(folder.path(), testing::make_rows(11, 4000));
  testing::write_other_tables(folder.path());
  const answer got = ask(q21, folder.path(), {"NATION=GERMANY"});
  ASSERT_GT(got.rows.size(), 1u);
  std::set<std::string> names;
  for (const auto& row : got.rows) {
    const std::string name = std::get<std::string>(row.front());
    EXPECT_TRUE(name.starts_with("Supplier#")) << name;
    EXPECT_TRUE(names.insert(name).second) << name;
  }
}

TEST(tpch_query_answers, do_not_depend_on_the_order_of_rows) {
  support::temporary_folder folder;
  testing::write_tables(folder.path(), testing::make_rows(11, 4000));
  testing::write_other_tables(folder.path());
  std::vector<answer> wanted;
  const std::vector<asked> some{{&q4}, {&q10}, {&q13}, {&q18, {"QUANTITY=120"}}, {&q22}};
  for (const auto& [which, given] : some) wanted.push_back(ask(*which, folder.path(), given));
  testing::write_tables(folder.path(), testing::make_rows(11, 4000, {.shuffled = true}));
  for (std::size_t i = 0; i < some.size(); ++i) {
    expect_same(ask(*some[i].which, folder.path(), some[i].given), wanted[i], some[i].given);
  }
}

INSTANTIATE_TEST_SUITE_P(
    tpch, tpch_queries,
    ::testing::Values(testing::flavour{}, testing::flavour{.shuffled = true, .orphans = true},
                      testing::flavour{.wide = true},
                      testing::flavour{
                          .wide = true, .sparse = true, .shuffled = true, .orphans = true}));

TEST(tpch_query_errors, keys_that_are_not_unique) {
  support::temporary_folder folder;
  small_database data = testing::make_rows(3, 200);
  for (testing::customer_row& customer : data.customers) customer.segment = "BUILDING";
  data.customers.push_back(data.customers.front());
  testing::write_tables(folder.path(), data);
  EXPECT_THROW(static_cast<void>(ask(q3, folder.path(), {})), error);
}

TEST(tpch_query_errors, a_missing_table_is_named) {
  support::temporary_folder folder;
  testing::write_tables(folder.path(), testing::make_rows(3, 20));
  std::filesystem::remove(folder / "orders.tbl");
  try {
    static_cast<void>(ask(q12, folder.path(), {}));
    FAIL();
  } catch (const error& e) {
    EXPECT_EQ(std::string(e.what()),
              (folder / "orders.tbl").string() + ": No such file or directory");
  }
}

std::string complaint(const query& which, const std::vector<std::string>& given) {
  try {
    const parameter_values values(which.parameters, given);
  } catch (const usage_error& e) {
    return e.what();
  }
  return "none";
}

TEST(tpch_parameters, are_checked) {
  EXPECT_EQ(complaint(q6, {"date=1995-01-01", "Quantity=25"}), "none");
  EXPECT_EQ(complaint(q6, {"DATE"}), "--param DATE: must be NAME=VALUE");
  EXPECT_EQ(complaint(q6, {"DAY=1"}), "--param DAY=1: this query has DATE, DISCOUNT, QUANTITY");
  EXPECT_EQ(complaint(q6, {"DATE=1995-01-01", "DATE=1995-01-01"}),
            "--param DATE=1995-01-01: given twice");
  EXPECT_EQ(complaint(q6, {"DATE=1995-02-29"}),
            "--param DATE=1995-02-29: must be a date YYYY-MM-DD");
  EXPECT_EQ(complaint(q6, {"DISCOUNT=0.061"}),
            "--param DISCOUNT=0.061: must be a number with at most two digits after the point");
  EXPECT_EQ(complaint(q6, {"DISCOUNT=1.01"}), "--param DISCOUNT=1.01: must be 0.00 to 1.00");
  EXPECT_EQ(complaint(q6, {"QUANTITY=-1"}), "--param QUANTITY=-1: must be 0 to 1000000");
  EXPECT_EQ(complaint(q6, {"QUANTITY="}), "--param QUANTITY=: must be a whole number");
  EXPECT_EQ(complaint(q3, {"SEGMENT="}), "--param SEGMENT=: the value is empty");
  EXPECT_EQ(complaint(q11, {"FRACTION=0.0000000001"}), "none");
  EXPECT_EQ(
      complaint(q11, {"FRACTION=0.00000000001"}),
      "--param FRACTION=0.00000000001: must be a number with at most 10 digits after the point");
  EXPECT_EQ(complaint(q11, {"FRACTION=2"}),
            "--param FRACTION=2: must be 0.0000000000 to 1.0000000000");
  EXPECT_EQ(parameter_values(q6.parameters, {}).describe(),
            "DATE=1994-01-01 DISCOUNT=0.06 QUANTITY=24");
}

}  // namespace
}  // namespace creek::tpch
