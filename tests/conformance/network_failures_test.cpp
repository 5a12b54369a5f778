// SPDX-License-Identifier: Apache-2.0
// Networks that end early: deadlocks, exceptions, stop requests, mistakes of the program.
#include <gmock/gmock.h>

#include <atomic>
#include <exception>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "network_cases.hpp"

namespace {

using namespace conformance;
using creek::stream::deadlock_error;
using creek::stream::process_error;
using testing::HasSubstr;

class NetworkFailures : public Conformance {};
CONFORMANCE(NetworkFailures);

TEST_P(NetworkFailures, EndsByAnExceptionOfATaskOfAProcess) {
  in_each_runtime([] {
    network net;
    net.add("spawns", [] { creek::spawn([] { throw std::runtime_error("in a task"); }); });
    EXPECT_EQ(text_of<process_error>([&] { net.run(); }), "process 'spawns': in a task");
  });
}

TEST_P(NetworkFailures, GrowsAChannelInACycleOfWaits) {
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

TEST_P(NetworkFailures, NamesTheCycleIfNoChannelMayGrow) {
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
TEST_P(NetworkFailures, NamesACycleOfReaders) {
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
TEST_P(NetworkFailures, FindsADeadlockWhileOthersRun) {
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

TEST_P(NetworkFailures, EndsByAnExceptionOfAProcess) {
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

TEST_P(NetworkFailures, SaysTheTextOfAnExceptionAndTheProcess) {
  in_each_runtime([] {
    network net;
    net.add("lonely", [] { throw std::runtime_error("no luck"); });
    EXPECT_EQ(text_of<process_error>([&] { net.run(); }), "process 'lonely': no luck");
  });
}

TEST_P(NetworkFailures, EndsByAStopRequest) {
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

TEST_P(NetworkFailures, EndsAtOnceIfAStopWasRequested) {
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

TEST_P(NetworkFailures, RefusesWhatIsNotConnected) {
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

TEST_P(NetworkFailures, RunsOnceAndInARuntime) {
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

}  // namespace
