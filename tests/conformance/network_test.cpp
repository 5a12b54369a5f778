// SPDX-License-Identifier: Apache-2.0
// Networks of processes and channels: reading and writing, ends, errors, deadlocks.
#include <gmock/gmock.h>

#include <atomic>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <creek/stream.hpp>

#include "setups.hpp"
#include "support/few_cases.hpp"
#include "support/process_facts.hpp"

namespace {

using namespace conformance;
using creek::stream::deadlock_error;
using creek::stream::in;
using creek::stream::network;
using creek::stream::network_options;
using creek::stream::out;
using creek::stream::process_error;
using testing::ElementsAre;
using testing::HasSubstr;

class Network : public Conformance {};
CONFORMANCE(Network);

std::vector<int> numbers(int count) {
  std::vector<int> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

auto writes_numbers(int count) {
  return [count](out<int>& to) {
    for (int i = 0; i < count; ++i) to.write(i);
  };
}

auto appends_to(std::vector<int>& all) {
  return [&all](in<int>& from) {
    for (const int each : from) all.push_back(each);
  };
}

template <class Error, class F>
std::string text_of(F&& f) {
  try {
    f();
  } catch (const Error& caught) {
    return caught.what();
  }
  return "nothing was thrown";
}

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

TEST_P(Network, EndsByAnExceptionOfATaskOfAProcess) {
  in_each_runtime([] {
    network net;
    net.add("spawns", [] { creek::spawn([] { throw std::runtime_error("in a task"); }); });
    EXPECT_EQ(text_of<process_error>([&] { net.run(); }), "process 'spawns': in a task");
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

TEST_P(Network, GrowsAChannelInACycleOfWaits) {
  in_each_runtime([] {
    network net({.capacity = 2});
    auto first = net.make_channel<int>(), second = net.make_channel<int>();
    std::vector<int> got;
    net.add(
        "writes",
        [](out<int>& a, out<int>& b) {
          for (int i = 0; i < 100; ++i) a.write(i);
          b.write(-1);
        },
        std::move(first.writer), std::move(second.writer));
    net.add(
        "reads",
        [&](in<int>& a, in<int>& b) {
          got.push_back(b.read().value());
          for (const int each : a) got.push_back(each);
        },
        std::move(first.reader), std::move(second.reader));
    net.run();
    std::vector<int> expected = numbers(100);
    expected.insert(expected.begin(), -1);
    EXPECT_EQ(got, expected);
    EXPECT_GE(net.capacity(0), 100U);
    EXPECT_EQ(net.capacity(1), 2U);
  });
}

TEST_P(Network, NamesTheCycleIfNoChannelMayGrow) {
  in_each_runtime([] {
    network net({.capacity = 2, .max_capacity = 8});
    auto first = net.make_channel<int>(), second = net.make_channel<int>();
    net.add(
        "writes",
        [](out<int>& a, out<int>&) {
          for (int i = 0; i < 100; ++i) a.write(i);
        },
        std::move(first.writer), std::move(second.writer));
    net.add(
        "reads", [](in<int>&, in<int>& b) { static_cast<void>(b.read()); }, std::move(first.reader),
        std::move(second.reader));
    const std::string text = text_of<deadlock_error>([&] { net.run(); });
    EXPECT_THAT(text,
                HasSubstr("'writes' waits for room for 'reads' in channel 0 (int) of 8 items"));
    EXPECT_THAT(text, HasSubstr("'reads' waits for an item from 'writes' in channel 1 (int)"));
  });
}

// The rest of the network goes on for a while.
TEST_P(Network, NamesACycleOfReaders) {
  in_each_runtime([] {
    network net({.capacity = 4});
    auto a = net.make_channel<int>(), b = net.make_channel<int>(), c = net.make_channel<int>();
    const auto passes_on = [](in<int>& from, out<int>& to) {
      while (const auto each = from.read()) to.write(*each);
    };
    std::vector<int> got;
    net.add("p", passes_on, std::move(a.reader), std::move(b.writer));
    net.add("q", passes_on, std::move(b.reader), std::move(a.writer));
    net.add("numbers", writes_numbers(100), std::move(c.writer));
    net.add("sink", appends_to(got), std::move(c.reader));
    const std::string text = text_of<deadlock_error>([&] { net.run(); });
    EXPECT_THAT(text, HasSubstr("'p' waits for an item from 'q'"));
    EXPECT_THAT(text, HasSubstr("'q' waits for an item from 'p'"));
  });
}

// A network that never ends by itself, with a cycle of processes that do wait for each other.
TEST_P(Network, FindsADeadlockWhileOthersRun) {
  if (!is_host()) GTEST_SKIP() << "for ever";
  in_each_runtime([] {
    network net({.capacity = 4});
    auto a = net.make_channel<int>(), b = net.make_channel<int>(), c = net.make_channel<int>();
    const auto reads = [](in<int>& from, out<int>&) { static_cast<void>(from.read()); };
    net.add("p", reads, std::move(a.reader), std::move(b.writer));
    net.add("q", reads, std::move(b.reader), std::move(a.writer));
    net.add(
        "source",
        [](out<int>& to) {
          for (int i = 0;; ++i) to.write(i);
        },
        std::move(c.writer));
    net.add(
        "sink",
        [](in<int>& from) {
          while (from.read()) {
          }
        },
        std::move(c.reader));
    EXPECT_THROW(net.run(), deadlock_error);
  });
}

TEST_P(Network, EndsByAnExceptionOfAProcess) {
  in_each_runtime([] {
    std::atomic<int> alive{0};
    {
      network net({.capacity = 3});
      auto first = net.make_channel<counted>(), second = net.make_channel<counted>();
      net.add(
          "makes",
          [&](out<counted>& to) {
            for (;;) to.write(counted(alive));
          },
          std::move(first.writer));
      net.add(
          "fails",
          [](in<counted>& from, out<counted>& to) {
            for (int i = 0; i < 20; ++i) to.write(from.read().value());
            throw failure{42};
          },
          std::move(first.reader), std::move(second.writer));
      net.add(
          "sink",
          [](in<counted>& from) {
            while (from.read()) {
            }
          },
          std::move(second.reader));
      try {
        net.run();
        ADD_FAILURE() << "no exception";
      } catch (const process_error& caught) {
        EXPECT_EQ(caught.process(), "fails");
        EXPECT_EQ(failure_of([&] { std::rethrow_exception(caught.cause()); }), 42);
      }
    }
    EXPECT_EQ(alive, 0);
  });
}

TEST_P(Network, SaysTheTextOfAnExceptionAndTheProcess) {
  in_each_runtime([] {
    network net;
    net.add("lonely", [] { throw std::runtime_error("no luck"); });
    EXPECT_EQ(text_of<process_error>([&] { net.run(); }), "process 'lonely': no luck");
  });
}

TEST_P(Network, EndsByAStopRequest) {
  in_each_runtime([] {
    network net({.capacity = 2});
    auto ends = net.make_channel<int>();
    std::stop_source stop;
    net.add(
        "for ever",
        [](out<int>& to) {
          for (int i = 0;; ++i) to.write(i);
        },
        std::move(ends.writer));
    net.add(
        "asks",
        [&](in<int>& from) {
          for (const int each : from) {
            if (each == 10) stop.request_stop();
          }
        },
        std::move(ends.reader));
    EXPECT_THROW(net.run(stop.get_token()), creek::cancelled);
  });
}

TEST_P(Network, EndsAtOnceIfAStopWasRequested) {
  in_each_runtime([] {
    network net;
    bool ran = false;
    net.add("never", [&] { ran = true; });
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THROW(net.run(stop.get_token()), creek::cancelled);
    EXPECT_FALSE(ran);
  });
}

TEST_P(Network, RefusesWhatIsNotConnected) {
  in_each_runtime([] {
    using creek::usage_error;
    network net, other;
    auto ends = net.make_channel<int>(), foreign = other.make_channel<int>();
    net.add("writes", writes_numbers(1), std::move(ends.writer));
    EXPECT_EQ(
        text_of<usage_error>([&] { net.add("again", writes_numbers(1), std::move(ends.writer)); }),
        "stream: process 'again', port 1: it is the end of no channel, or was given away "
        "before");
    EXPECT_EQ(text_of<usage_error>(
                  [&] { net.add("strange", writes_numbers(1), std::move(foreign.writer)); }),
              "stream: process 'strange', port 1: its channel belongs to another network");
    EXPECT_EQ(text_of<usage_error>([&] { net.run(); }),
              "stream: channel 0 (int) has no reader, 'writes' writes it: give its end to a "
              "process");
    EXPECT_THROW(static_cast<void>(ends.reader.read()), usage_error);
    EXPECT_THROW(static_cast<void>(net.make_channel<int>(0)), usage_error);
    EXPECT_THROW(network({.capacity = 0}), usage_error);
  });
}

TEST_P(Network, RunsOnceAndInARuntime) {
  in_each_runtime([] {
    network net;
    net.add("nothing", [] {});
    net.run();
    EXPECT_THROW(net.run(), creek::usage_error);
    EXPECT_THROW(net.add("late", [] {}), creek::usage_error);
    EXPECT_THROW(static_cast<void>(net.make_channel<int>()), creek::usage_error);
    EXPECT_EQ(text_of<creek::usage_error>([&] { static_cast<void>(net.capacity(7)); }),
              "stream: there is no channel 7: the network has 0");
    network().run();
  });
  network outside;
  EXPECT_THROW(outside.run(), creek::usage_error);
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

}  // namespace
