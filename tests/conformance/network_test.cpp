// SPDX-License-Identifier: Apache-2.0
// Networks of processes and channels: reading and writing, and their ends.
#include <gmock/gmock.h>

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "network_cases.hpp"
#include "support/few_cases.hpp"
#include "support/process_facts.hpp"

namespace {

using namespace conformance;
using testing::ElementsAre;

class Network : public Conformance {};
CONFORMANCE(Network);

TEST_P(Network, KeepsTheOrderThroughStages) {
  for (const std::size_t capacity : {1U, 2U, 7U, 256U}) {
    in_each_runtime([&] {
      network net({.capacity = capacity});
      auto first = net.make_channel<int>(), second = net.make_channel<int>();
      std::vector<int> got;
      net.add("numbers", writes_numbers(500), std::move(first.writer));
      net.add(
          "doubles",
          [](in<int>& from, out<int>& to) {
            while (const auto each = from.read()) to.write(2 * *each);
          },
          std::move(first.reader), std::move(second.writer));
      net.add("sink", appends_to(got), std::move(second.reader));
      net.run();
      std::vector<int> expected = numbers(500);
      for (int& each : expected) each *= 2;
      EXPECT_EQ(got, expected);
    });
  }
}

TEST_P(Network, ReadsAndWritesManyItemsAtATime) {
  in_each_runtime([] {
    network net({.capacity = 5});
    auto ends = net.make_channel<int>();
    std::vector<std::size_t> counts;
    std::vector<int> got;
    net.add(
        "numbers", [](out<int>& to) { to.write(std::span<const int>(numbers(103))); },
        std::move(ends.writer));
    net.add(
        "tens",
        [&](in<int>& from) {
          std::vector<int> ten(10);
          do {
            counts.push_back(from.read(ten));
            got.insert(got.end(), ten.begin(),
                       ten.begin() + static_cast<std::ptrdiff_t>(counts.back()));
          } while (counts.back() == ten.size());
        },
        std::move(ends.reader));
    net.run();
    EXPECT_EQ(got, numbers(103));
    EXPECT_THAT(counts, ElementsAre(10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 3));
  });
}

TEST_P(Network, MovesItems) {
  in_each_runtime([] {
    network net({.capacity = 2});
    auto ends = net.make_channel<std::unique_ptr<int>>();
    int sum = 0;
    net.add(
        "makes",
        [](out<std::unique_ptr<int>>& to) {
          for (int i = 0; i < 100; ++i) to.write(std::make_unique<int>(i));
        },
        std::move(ends.writer));
    net.add(
        "adds",
        [&](in<std::unique_ptr<int>>& from) {
          for (const auto& each : from) sum += *each;
        },
        std::move(ends.reader));
    net.run();
    EXPECT_EQ(sum, 4950);
  });
}

/// Adds the items of two inputs; counts the calls of its functions.
struct adder {
  int begun = 0, fired = 0, finished = 0;
  void init(in<int>&, in<int>&, out<int>&) { ++begun; }
  void fire(in<int>& a, in<int>& b, out<int>& to) {
    ++fired;
    to.write(a.read().value_or(1000) + b.read().value_or(1000));
  }
  void finish(in<int>&, in<int>&, out<int>& to) {
    ++finished;
    to.write(-1);
  }
};

TEST_P(Network, FiresAnObjectUntilAllInputsEnd) {
  in_each_runtime([] {
    network net;
    auto a = net.make_channel<int>(), b = net.make_channel<int>(), c = net.make_channel<int>();
    std::vector<int> got;
    adder one;
    net.add("three", writes_numbers(3), std::move(a.writer));
    net.add("five", writes_numbers(5), std::move(b.writer));
    net.add("adder", std::ref(one), std::move(a.reader), std::move(b.reader), std::move(c.writer));
    net.add("sink", appends_to(got), std::move(c.reader));
    net.run();
    EXPECT_THAT(got, ElementsAre(0, 2, 4, 1003, 1004, -1));
    EXPECT_EQ(one.begun, 1);
    EXPECT_EQ(one.fired, 5);
    EXPECT_EQ(one.finished, 1);
  });
}

struct counter {
  int next = 0;
  bool fire(out<int>& to) {
    to.write(next);
    return ++next < 4;
  }
};

TEST_P(Network, FiresASourceAsLongAsItSays) {
  in_each_runtime([] {
    network net;
    auto ends = net.make_channel<int>();
    std::vector<int> got;
    net.add("counter", counter{}, std::move(ends.writer));
    net.add("sink", appends_to(got), std::move(ends.reader));
    net.run();
    EXPECT_THAT(got, ElementsAre(0, 1, 2, 3));
  });
}

TEST_P(Network, EndsWritersWhoseReadersHaveEnded) {
  in_each_runtime([] {
    network net({.capacity = 3});
    auto ends = net.make_channel<int>(), kept = net.make_channel<int>();
    std::vector<int> got, all;
    net.add(
        "for ever",
        [](out<int>& to, out<int>& other) {
          for (int i = 0; i < 50; ++i) {
            to.write(i);
            other.write(i);
          }
          other.close();
          for (int i = 50;; ++i) to.write(i);
        },
        std::move(ends.writer), std::move(kept.writer));
    net.add(
        "takes five",
        [&](in<int>& from) {
          while (got.size() < 5) got.push_back(from.read().value());
        },
        std::move(ends.reader));
    net.add("takes all", appends_to(all), std::move(kept.reader));
    net.run();
    EXPECT_EQ(got, numbers(5));
    EXPECT_EQ(all, numbers(50));  // though one of its readers has ended, the writer went on
  });
}

// However large the channel is.
TEST_P(Network, EndsAWriterAtItsNextWrite) {
  in_each_runtime([] {
    network net;
    auto ends = net.make_channel<int>(100'000), go = net.make_channel<int>();
    int written = 0;
    net.add(
        "writer",
        [&](in<int>& when, out<int>& to) {
          for (; when.at_end(); ++written) to.write(written);
        },
        std::move(go.reader), std::move(ends.writer));
    net.add(
        "ends",
        [](in<int>& from, out<int>& then) {
          from.close();
          then.close();
        },
        std::move(ends.reader), std::move(go.writer));
    net.run();
    EXPECT_EQ(written, 0);
  });
}

TEST_P(Network, ClosesAPortThatWasMovedToAVariable) {
  in_each_runtime([] {
    network net;
    auto ends = net.make_channel<int>();
    std::vector<int> got;
    net.add(
        "moves",
        [](out<int>& to) {
          to.write(1);
          out<int> own = std::move(to);
          own.write(2);
          EXPECT_FALSE(to.is_open());
          EXPECT_THROW(to.write(3), creek::usage_error);
        },
        std::move(ends.writer));
    net.add("sink", appends_to(got), std::move(ends.reader));
    net.run();
    EXPECT_THAT(got, ElementsAre(1, 2));
  });
}

TEST_P(Network, WaitsForTheTasksThatAProcessSpawns) {
  in_each_runtime([] {
    std::atomic<int> ended{0};
    network net;
    for (int i = 0; i < 3; ++i) {
      net.add("spawns", [&] {
        creek::spawn([&] {
          creek::spawn([&] {
            fib(5);
            ++ended;
          });
          ++ended;
        });
      });
    }
    net.run();
    EXPECT_EQ(ended, 6);
  });
}

// On the chip a task runs in its maker if the queue is full.
TEST_P(Network, StartsBesideFullQueues) {
  constexpr std::uint32_t capacity = 4;
  in_each_runtime(
      [] {
        std::atomic<int> ended{0};
        for (int i = 0; i < 10; ++i) {
          creek::spawn([&] {
            fib(3);
            ++ended;
          });
        }
        network net({.capacity = 1});
        std::vector<int> got;
        auto ends = net.make_channel<int>();
        net.add(
            "numbers",
            [&](out<int>& to) {
              for (int i = 0; i < 20; ++i) {
                creek::spawn([&] { ++ended; });
                to.write(i);
              }
            },
            std::move(ends.writer));
        for (int i = 0; i < 8; ++i) {
          auto next = net.make_channel<int>();
          net.add(
              "stage",
              [&](in<int>& from, out<int>& to) {
                for (const int each : from) {
                  creek::spawn([&] { ++ended; });
                  to.write(each);
                }
              },
              std::move(ends.reader), std::move(next.writer));
          ends.reader = std::move(next.reader);
        }
        net.add("sink", appends_to(got), std::move(ends.reader));
        net.run();
        EXPECT_EQ(got, numbers(20));
        creek::taskwait();
        EXPECT_EQ(ended, 10 + 9 * 20);
      },
      capacity);
}

TEST_P(Network, HasManyProcesses) {
  if (GetParam().backend != "host") GTEST_SKIP() << "too many for a chip";
  const int count = creek::support::under_tsan || creek::support::few_cases ? 500 : 20'000;
  creek::runtime rt(creek::scheduler_options{.workers = GetParam().workers});
  rt.run([&] {
    network net({.capacity = 1});
    std::vector<int> got;
    auto ends = net.make_channel<int>();
    net.add("numbers", writes_numbers(10), std::move(ends.writer));
    for (int i = 0; i < count; ++i) {
      auto next = net.make_channel<int>();
      net.add(
          "adds one",
          [](in<int>& from, out<int>& to) {
            while (const auto each = from.read()) to.write(*each + 1);
          },
          std::move(ends.reader), std::move(next.writer));
      ends.reader = std::move(next.reader);
    }
    net.add("sink", appends_to(got), std::move(ends.reader));
    net.run();
    EXPECT_THAT(got, ElementsAre(count, count + 1, count + 2, count + 3, count + 4, count + 5,
                                 count + 6, count + 7, count + 8, count + 9));
  });
}

/// Two processes that wake each other without end keep no worker from other tasks.
TEST_P(Network, LeavesAWorkerToTasksFromOutside) {
  if (GetParam().backend != "host") GTEST_SKIP() << "a matter of this scheduler";
  on_each_runtime([](creek::runtime& rt) {
    std::atomic<bool> runs{false}, stops{false};
    std::jthread other([&] {
      runs.wait(false);
      rt.run([&] { stops = true; });
    });
    rt.run([&] {
      network net;
      auto ends = net.make_channel<int>(4);
      net.add(
          "writer",
          [&](out<int>& to) {
            while (!stops) {
              to.write(1);
              if (!runs.exchange(true)) runs.notify_one();
            }
          },
          std::move(ends.writer));
      net.add(
          "reader",
          [](in<int>& from) {
            while (from.read()) {
            }
          },
          std::move(ends.reader));
      net.run();
    });
  });
}

/// A process that was placed begins on its worker and goes on there behind each wait.
TEST_P(Network, KeepsProcessesWhereTheyWerePlaced) {
  const bool stays = GetParam().backend != "tbb";  // there oneTBB chooses the threads
  on_each_runtime([stays](creek::runtime& rt) {
    rt.run([&] {
      const unsigned workers = creek::ext::current_executor()->traits().worker_count;
      const auto here = [] {
        return static_cast<unsigned>(creek::ext::current_executor()->worker_index());
      };
      network net;
      std::vector<int> got;
      auto ends = net.make_channel<int>(2);
      const auto first = net.add("numbers", writes_numbers(100), std::move(ends.writer));
      net.place(first, workers - 1);
      for (unsigned i = 0; i < 2 * workers; ++i) {
        auto next = net.make_channel<int>(2);
        const unsigned place = i * 3 % workers;
        const auto one = net.add(
            "stage",
            [here, place, stays](in<int>& from, out<int>& to) {
              while (const auto each = from.read()) {
                if (stays) {
                  EXPECT_EQ(here(), place);
                }
                to.write(*each);
              }
            },
            std::move(ends.reader), std::move(next.writer));
        EXPECT_EQ(one, i + 1);
        net.place(one, place);
        ends.reader = std::move(next.reader);
      }
      net.add("sink", appends_to(got), std::move(ends.reader));
      net.run();
      EXPECT_EQ(got, numbers(100));
    });
  });
}

TEST_P(Network, RefusesPlacesThatDoNotExist) {
  creek::runtime rt(creek::scheduler_options{.workers = GetParam().workers}, GetParam().backend);
  rt.run([&] {
    network net;
    const auto only = net.add("only", [] {});
    EXPECT_EQ(text_of<creek::usage_error>([&] { net.place(1, 0); }),
              "stream: there is no process 1: the network has 1");
    net.place(only, GetParam().workers);
    const std::string count = std::to_string(GetParam().workers);
    EXPECT_EQ(text_of<creek::usage_error>([&] { net.run(); }),
              "stream: process 'only' is to run on worker " + count + ", of " + count + " workers");
    EXPECT_EQ(text_of<creek::usage_error>([&] { net.place(only, 0); }),
              "stream: a network is complete once it runs");
  });
}

}  // namespace
