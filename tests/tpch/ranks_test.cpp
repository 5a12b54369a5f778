// SPDX-License-Identifier: Apache-2.0
// Queries on ranks, here of host threads, answer what one process answers: from text, caches and
// memory, with rows in any order, by broadcasts and by repartitions. One process is compared with
// oracles by queries_test.cpp and tests/tpch/oracle.
#include <gtest/gtest.h>

#include <array>
#include <creek/core/error.hpp>
#include <creek/core/messages/any_communicator.hpp>
#include <creek/host/spmd.hpp>
#include <creek/tasking/runtime.hpp>
#include <set>
#include <string>
#include <vector>

#include "rows.hpp"
#include "support/temporary_folder.hpp"
#include "tpch/query.hpp"
#include "tpch/ranks/owner_of_key.hpp"
#include "tpch/ranks/query_ranks.hpp"

namespace creek::tpch {
namespace {

struct asked {
  const query* which;
  std::vector<std::string> given{};
};

const std::vector<asked>& questions() {
  static const std::vector<asked> all{{&q1},
                                      {&q3},
                                      {&q3, {"DATE=1992-02-01"}},
                                      {&q3, {"DATE=1998-06-01"}},
                                      {&q6},
                                      {&q6, {"DATE=1900-01-01"}},
                                      {&q12},
                                      {&q18, {"QUANTITY=120"}},
                                      {&q18, {"QUANTITY=0"}}};
  return all;
}

query_run run_alone(const asked& question, const std::string& folder, residence where) {
  database from(folder, where);
  return question.which->prepare(from, {question.which->parameters, question.given})->run();
}

/// Returns the result of rank 0.
query_run run_on(int ranks, const asked& question, const std::string& folder, residence where) {
  query_run first;
  spmd(ranks, [&](host_communicator& c) {
    any_communicator_of<host_communicator> all(c);
    runtime workers({.workers = c.rank() % 2 == 0 ? 1u : 2u});
    query_ranks group(all, workers);
    database from(folder, where,
                  {static_cast<unsigned>(c.rank()), static_cast<unsigned>(c.size())});
    const parameter_values values(question.which->parameters, question.given);
    const auto prepared = group.compute([&] { return question.which->prepare(from, values); });
    query_run run = prepared->run_on(group);
    EXPECT_FALSE(prepared->lost());
    if (c.rank() == 0) first = std::move(run);
  });
  return first;
}

/// Asks everything of 1 to 5 ranks, and returns the first words of all steps.
std::set<std::string> expect_the_same(const std::string& folder, residence where) {
  std::set<std::string> ways;
  for (const asked& question : questions()) {
    const query_run alone = run_alone(question, folder, where);
    for (const int ranks : {1, 2, 5}) {
      const query_run together = run_on(ranks, question, folder, where);
      EXPECT_EQ(to_text(together.result), to_text(alone.result))
          << question.which->name << " on " << ranks;
      for (const std::string& step : together.steps) ways.insert(step.substr(0, step.find(',')));
    }
  }
  return ways;
}

class tpch_ranks : public ::testing::TestWithParam<testing::flavour> {
 protected:
  std::string folder() const { return folder_.path().string(); }
  support::temporary_folder folder_;
};

TEST_P(tpch_ranks, answer_as_one_process) {
  testing::write_tables(folder(), testing::make_rows(5, 1500, GetParam()));
  const std::set<std::string> ways = expect_the_same(folder(), residence::file);
  for (const char* way : {"broadcast customers", "repartition customers", "broadcast orders",
                          "repartition orders", "broadcast lines", "broadcast large orders"}) {
    EXPECT_TRUE(ways.contains(way)) << way;
  }
  database(folder()).make_caches();
  expect_the_same(folder(), residence::file);
  expect_the_same(folder(), residence::memory);
}

TEST_P(tpch_ranks, answer_with_few_orders_and_customers) {
  testing::small_database data = testing::make_rows(6, 1000, GetParam());
  data.orders.resize(40);
  data.customers.resize(3);
  testing::write_tables(folder(), data);
  const std::set<std::string> ways = expect_the_same(folder(), residence::file);
  EXPECT_TRUE(ways.contains("repartition lines"));
  EXPECT_TRUE(ways.contains("repartition large orders"));
}

INSTANTIATE_TEST_SUITE_P(
    tpch, tpch_ranks,
    ::testing::Values(testing::flavour{}, testing::flavour{.shuffled = true, .orphans = true},
                      testing::flavour{
                          .wide = true, .sparse = true, .shuffled = true, .orphans = true}));

TEST(tpch_rank_errors, keys_that_are_not_unique) {
  support::temporary_folder folder;
  testing::small_database data = testing::make_rows(3, 200);
  for (testing::customer_row& customer : data.customers) customer.segment = "BUILDING";
  data.customers.push_back(data.customers.front());
  testing::write_tables(folder.path(), data);
  for (const int ranks : {1, 2, 4}) {
    EXPECT_THROW(static_cast<void>(run_on(ranks, {&q3}, folder.path(), residence::file)), error);
  }
}

TEST(tpch_rank_errors, queries_of_one_process) {
  support::temporary_folder folder;
  testing::write_tables(folder.path(), testing::make_rows(3, 20));
  testing::write_other_tables(folder.path());
  for (const query* each : queries()) {
    const std::set<const query*> answered{&q1, &q3, &q6, &q12, &q18};
    EXPECT_EQ(each->on_ranks, answered.contains(each)) << each->name;
  }
  EXPECT_THROW(static_cast<void>(run_on(1, {&q5}, folder.path(), residence::file)), usage_error);
}

TEST(tpch_owners, share_keys_that_lie_close_or_apart) {
  for (const std::int64_t step : {1, 4, 32, 1'000'000'007}) {
    std::array<int, 5> owned{};
    for (std::int64_t i = 0; i < 5000; ++i) ++owned[owner_of_key(i * step, owned.size())];
    for (const int keys : owned) {
      EXPECT_GT(keys, 700) << step;
      EXPECT_LT(keys, 1300) << step;
    }
  }
}

}  // namespace
}  // namespace creek::tpch
