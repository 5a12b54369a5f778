// SPDX-License-Identifier: Apache-2.0
// Graphs on the host: a run allocates nothing, and large graphs that are cut short at random run in
// full afterwards.
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <creek/host.hpp>
#include <creek/tasking.hpp>

#include "support/allocations.hpp"
#include "support/seed.hpp"

namespace {

TEST(Graph, ARunAllocatesNothing) {
  creek::runtime rt{creek::host{1}};
  rt.run([] {
    int loops = 0;
    creek::graph inner, g;
    inner.emplace([] {}).precede(inner.emplace([] {}));
    auto [init, body, done] = g.emplace([&] { loops = 0; }, [] {}, [] {});
    auto again = g.condition([&] { return ++loops == 3; });
    init.precede(body);
    again.precede(body, done);
    auto join = g.composed_of(inner).succeed(body).precede(again);
    for (int i = 0; i < 100; ++i) g.emplace([] {}).succeed(body).precede(join);
    g.run_n(2);
    const long before = creek::support::allocations;
    g.run_n(10);
    EXPECT_EQ(creek::support::allocations, before);
  });
}

/// A graph whose nodes check that their predecessors ran before them in this run.
class checked_graph {
 public:
  checked_graph(std::size_t size, std::uint64_t seed) : runs_(size) {
    std::mt19937_64 random(seed);
    for (std::size_t i = 0; i < size; ++i) {
      std::vector<std::size_t> before;
      if (i != 0) {
        for (std::size_t k = random() % 4; k > 0; --k) {
          before.push_back(i - 1 - random() % std::min<std::size_t>(i, 50));
        }
      }
      nodes_.push_back(graph_.emplace([this, i, before] { run(i, before); }));
      for (const std::size_t from : before) nodes_[from].precede(nodes_[i]);
    }
  }
  /// Runs it; node `fails` throws, and node `stops` requests a stop.
  void run(std::size_t fails, std::size_t stops) {
    for (auto& count : runs_) count.store(0, std::memory_order_relaxed);
    fails_ = fails;
    stops_ = stops;
    source_ = std::stop_source();
    graph_.run(source_.get_token());
  }
  std::size_t size() const { return runs_.size(); }
  std::size_t count() const {
    std::size_t total = 0;
    for (const auto& count : runs_) total += count.load(std::memory_order_relaxed);
    return total;
  }
  std::atomic<int> wrong{0};

 private:
  void run(std::size_t i, const std::vector<std::size_t>& before) {
    for (const std::size_t from : before) {
      if (runs_[from].load(std::memory_order_relaxed) != 1) ++wrong;
    }
    if (runs_[i].fetch_add(1, std::memory_order_relaxed) != 0) ++wrong;
    if (i % 16 == 0) creek::fork_join([] {}, [] {});
    if (i == fails_) throw i;
    if (i == stops_) source_.request_stop();
  }

  std::vector<std::atomic<int>> runs_;
  std::vector<creek::graph::node> nodes_;
  creek::graph graph_;
  std::size_t fails_ = 0, stops_ = 0;
  std::stop_source source_;
};

TEST(Graph, RunsInFullAfterRunsThatWereCutShort) {
  const std::uint64_t seed = creek::support::chosen_seed();
  SCOPED_TRACE("replay: CREEK_TEST_SEED=" + std::to_string(seed));
  constexpr std::size_t none = ~std::size_t{0};
  std::mt19937_64 random(seed);
  creek::runtime rt{creek::host{4}};
  for (int graphs = 0; graphs < 5; ++graphs) {
    checked_graph g(1 + random() % 1500, random());
    rt.run([&] {
      for (int round = 0; round < 12; ++round) {
        const std::size_t at = random() % g.size();
        if (round % 3 == 0) {
          EXPECT_THROW(g.run(at, none), std::size_t);
          EXPECT_LE(g.count(), g.size());
        } else if (round % 3 == 1) {
          g.run(none, at);
          EXPECT_LE(g.count(), g.size());
        } else {
          g.run(none, none);
          EXPECT_EQ(g.count(), g.size());
        }
        ASSERT_EQ(g.wrong, 0);
      }
    });
  }
}

// A stop request may come from any thread, at any time.
TEST(Graph, AThreadMayRequestAStop) {
  creek::runtime rt{creek::host{2}};
  std::stop_source source;
  std::atomic<bool> begun{false};
  creek::graph g;
  g.emplace([&] { begun = true; });
  std::thread requests([&] {
    while (!begun) std::this_thread::yield();
    source.request_stop();
  });
  rt.run([&] { g.run_until([] { return false; }, source.get_token()); });
  requests.join();
  begun = false;
  rt.run(g);
  EXPECT_TRUE(begun);
}

// One of two runs at the same time is refused, or they follow each other.
TEST(Graph, TwoThreadsDoNotRunOneGraphAtOnce) {
  creek::runtime rt{creek::host{2}};
  std::atomic<int> ran{0}, refused{0}, inside{0};
  creek::graph g;
  g.emplace([&] {
     EXPECT_EQ(++inside, 1);
     ++ran;
   }).precede(g.emplace([&] { --inside; }));
  const auto runs = [&] {
    for (int i = 0; i < 200; ++i) {
      try {
        rt.run(g);
      } catch (const creek::usage_error&) {
        ++refused;
      }
    }
  };
  std::thread other(runs);
  runs();
  other.join();
  EXPECT_EQ(ran + refused, 400);
  EXPECT_GT(ran, 0);
}

// Reports of tasks that wait show the names of nodes.
TEST(Graph, AWaitingNodeIsReportedByItsName) {
  creek::runtime rt{creek::host{2}};
  creek::promise<void> promise;
  auto future = promise.get_future();
  creek::graph g;
  g.emplace([&] { future.wait(); }).name("the slow one");
  auto ended = rt.async([&] { g.run(); });
  const auto is_shown = [&] {
    for (const creek::waiting_task& task : rt.waiting()) {
      if (task.task == "the slow one") return true;
    }
    return false;
  };
  while (!is_shown()) std::this_thread::yield();
  promise.set_value();
  ended.get();
}

}  // namespace
