// SPDX-License-Identifier: Apache-2.0
// Pipelines, and processes that come with the library.
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <ranges>
#include <span>
#include <sstream>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <creek/stream.hpp>

#include "setups.hpp"

namespace {

using namespace conformance;
using creek::parallel_stage;
using creek::pipeline;
using creek::pipeline_error;
using creek::stream::in;
using creek::stream::network;
using creek::stream::out;
using testing::ElementsAre;
using testing::IsEmpty;

class Pipeline : public Conformance {};
CONFORMANCE(Pipeline);

auto counts_to(int end) {
  return
      [next = 0, end]() mutable { return next < end ? std::optional<int>(next++) : std::nullopt; };
}

TEST_P(Pipeline, PassesAllItemsInOrder) {
  in_each_runtime([] {
    std::vector<std::string> got;
    pipeline(
        counts_to(300), [](int i) { return i * i; }, [](int i) { return std::to_string(i); },
        [&](std::string text) { got.push_back(std::move(text)); });
    ASSERT_EQ(got.size(), 300U);
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], std::to_string(i * i));
  });
}

TEST_P(Pipeline, TakesARange) {
  in_each_runtime([] {
    const std::vector<int> items{3, 1, 2};
    std::vector<int> got;
    pipeline(items, [&](int i) { got.push_back(i); });
    EXPECT_THAT(got, ElementsAre(3, 1, 2));
    got.clear();
    std::istringstream text("10 20 30");
    struct numbers {  // may be read once
      std::istream& from;
      [[nodiscard]] auto begin() const { return std::istream_iterator<int>(from); }
      [[nodiscard]] auto end() const { return std::istream_iterator<int>(); }
    };
    pipeline(numbers{text}, [&](int i) { got.push_back(i); });
    EXPECT_THAT(got, ElementsAre(10, 20, 30));
    got.clear();
    pipeline(std::vector<int>{}, [&](int i) { got.push_back(i); });
    EXPECT_THAT(got, IsEmpty());
  });
}

TEST_P(Pipeline, KeepsTheOrderOfAParallelStage) {
  for (const std::size_t max_items : {1U, 3U, 64U}) {
    in_each_runtime([&] {
      std::vector<int> got;
      pipeline({.capacity = 4}, counts_to(400),
               parallel_stage(
                   [](int i) {
                     if (i % 7 == 0) {  // the others overtake it
                       EXPECT_EQ(fib(10), 55);
                     }
                     return i;
                   },
                   max_items),
               [&](int i) { got.push_back(i); });
      std::vector<int> expected(400);
      std::iota(expected.begin(), expected.end(), 0);
      EXPECT_EQ(got, expected);
    });
  }
}

TEST_P(Pipeline, MovesItems) {
  in_each_runtime([] {
    int next = 0, sum = 0;
    pipeline(
        [&]() -> std::optional<std::unique_ptr<int>> {
          if (next == 100) return std::nullopt;
          return std::make_unique<int>(next++);
        },
        parallel_stage([](std::unique_ptr<int> i) {
          ++*i;
          return i;
        }),
        [](std::unique_ptr<int> i) { return i; }, [&](std::unique_ptr<int> i) { sum += *i; });
    EXPECT_EQ(sum, 5050);
  });
}

// With a bound of the items on their way.
TEST_P(Pipeline, KeepsTheSourceFromRunningAhead) {
  in_each_runtime([] {
    constexpr std::size_t capacity = 3, max_items = 2;
    int made = 0, taken = 0, ahead = 0;
    std::atomic<int> started{0};
    pipeline(
        {.capacity = capacity},
        [&]() -> std::optional<int> { return made < 200 ? std::optional(made++) : std::nullopt; },
        parallel_stage(
            [&](int i) {
              started.fetch_add(1);
              return i;
            },
            max_items),
        [&](int) { ahead = std::max(ahead, started.load() - ++taken); });
    // In two channels, with the process that starts them, the one that passes them on, and here.
    EXPECT_LE(ahead, static_cast<int>(capacity + max_items + 3));
  });
}

template <class F>
void expect_error(const std::string& stage, std::size_t item, int number, F&& f) {
  try {
    f();
    ADD_FAILURE() << "no exception";
  } catch (const pipeline_error& caught) {
    EXPECT_EQ(caught.stage(), stage);
    EXPECT_EQ(caught.item(), item);
    EXPECT_EQ(failure_of([&] { std::rethrow_exception(caught.cause()); }), number);
  }
}

TEST_P(Pipeline, NamesTheStageAndTheItemOfAnException) {
  const auto fails_at = [](int bad) {
    return [bad](int i) {
      if (i == bad) throw failure{bad};
      return i;
    };
  };
  const auto takes = [](int) {};
  const auto passes = [](int i) { return i; };
  in_each_runtime([&] {
    expect_error("stage 2", 17, 17, [&] { pipeline(counts_to(100), passes, fails_at(17), takes); });
    expect_error("stage 1", 40, 40,
                 [&] { pipeline(counts_to(100), parallel_stage(fails_at(40)), passes, takes); });
    expect_error("sink", 5, 5, [&] { pipeline(counts_to(100), passes, fails_at(5)); });
    int made = 0;
    const auto source = [&]() -> std::optional<int> {
      if (made == 7) throw failure{7};
      return made++;
    };
    expect_error("source", 7, 7, [&] { pipeline(source, passes, takes); });
  });
}

TEST_P(Pipeline, SaysWhatAnExceptionSays) {
  in_each_runtime([] {
    try {
      pipeline(counts_to(3), [](int) { throw std::runtime_error("no room"); });
      ADD_FAILURE() << "no exception";
    } catch (const pipeline_error& caught) {
      EXPECT_STREQ(caught.what(), "sink, item 0: no room");
    }
  });
}

TEST_P(Pipeline, EndsByAStopRequest) {
  in_each_runtime([] {
    std::stop_source stop;
    int taken = 0;
    EXPECT_THROW(pipeline({.capacity = 2, .stop = stop.get_token()}, counts_to(1'000'000'000),
                          parallel_stage([](int i) { return i; }),
                          [&](int) {
                            if (++taken == 10) stop.request_stop();
                          }),
                 creek::cancelled);
    EXPECT_EQ(taken, 10);
  });
}

TEST_P(Pipeline, RefusesWhatCannotWork) {
  EXPECT_THROW(static_cast<void>(parallel_stage([](int i) { return i; }, 0)), creek::usage_error);
  EXPECT_THROW(pipeline(counts_to(1), [](int) {}), creek::usage_error);  // outside of a runtime
  in_each_runtime([] {
    EXPECT_THROW(pipeline({.capacity = 0}, counts_to(1), [](int) {}), creek::usage_error);
  });
}

/// Runs a process with these inputs; returns what it writes to `Outputs` outputs.
template <std::size_t Outputs, class Item = int, class Body, class... Lists>
std::vector<std::vector<Item>> outputs_of(Body body, const Lists&... lists) {
  network net({.capacity = 2});
  std::vector<std::vector<Item>> got(Outputs);
  const auto source = [&](const std::vector<int>& list) {
    auto ends = net.make_channel<int>();
    net.add(
        "source", [&list](out<int>& to) { to.write(std::span<const int>(list)); },
        std::move(ends.writer));
    return std::move(ends.reader);
  };
  const auto sink = [&](std::size_t number) {
    auto ends = net.make_channel<Item>();
    net.add(
        "sink",
        [&got, number](in<Item>& from) {
          for (Item& each : from) got[number].push_back(std::move(each));
        },
        std::move(ends.reader));
    return std::move(ends.writer);
  };
  [&]<std::size_t... N>(std::index_sequence<N...>) {
    net.add("tested", std::move(body), source(lists)..., sink(N)...);
  }
  (std::make_index_sequence<Outputs>{});
  net.run();
  return got;
}

TEST_P(Pipeline, HasProcessesForManyNetworks) {
  using namespace creek::stream;
  using list = std::vector<int>;
  in_each_runtime([] {
    const list none, five{1, 2, 3, 4, 5}, two{10, 20};
    EXPECT_THAT(outputs_of<3>(tee{}, five), ElementsAre(five, five, five));
    EXPECT_THAT(outputs_of<2>(deal{}, five), ElementsAre(list{1, 3, 5}, list{2, 4}));
    EXPECT_THAT(outputs_of<1>(take_turns{}, five, two, none),
                ElementsAre(list{1, 10, 2, 20, 3, 4, 5}));
    EXPECT_THAT(outputs_of<1>(merge{}, list{1, 4, 9}, list{2, 4, 5}),
                ElementsAre(list{1, 2, 4, 4, 5, 9}));
    EXPECT_THAT(outputs_of<1>(merge{}, none, two), ElementsAre(two));
    using pair = std::tuple<int, int>;
    EXPECT_THAT((outputs_of<1, pair>(zip{}, five, two)),
                ElementsAre(std::vector<pair>{{1, 10}, {2, 20}}));
    EXPECT_THAT((outputs_of<1, list>(batch(2), five)),
                ElementsAre(std::vector<list>{{1, 2}, {3, 4}, {5}}));
    EXPECT_THAT((outputs_of<1, list>(window(3), five)),
                ElementsAre(std::vector<list>{{1, 2, 3}, {2, 3, 4}, {3, 4, 5}}));
    EXPECT_THAT((outputs_of<1, list>(window(2, 3), five)),
                ElementsAre(std::vector<list>{{1, 2}, {4, 5}}));
    EXPECT_THAT((outputs_of<1, list>(window(6), five)), ElementsAre(std::vector<list>{}));
  });
  EXPECT_THROW(batch(0), creek::usage_error);
  EXPECT_THROW(window(0), creek::usage_error);
  EXPECT_THROW(window(1, 0), creek::usage_error);
}

}  // namespace
