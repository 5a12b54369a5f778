// SPDX-License-Identifier: Apache-2.0
// Networks of processes on simulated cores: the messages of channels, what they cost, and that runs
// repeat.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <creek/scc.hpp>
#include <creek/stream.hpp>
#include <creek/tasking.hpp>

namespace {

using namespace creek;
using scc_backend::simulated_now;
using scc_backend::task_report;
using stream::in;
using stream::network;
using stream::out;

struct run_of_items {
  double ns_per_item = 0;
  std::uint64_t messages = 0;
  std::uint64_t schedule = 0;
};

struct channel_case {
  unsigned reader = 1;  ///< its core; the writer is on core 0
  std::size_t capacity = 64;
  std::size_t batch = 1;  ///< items that are written at once
};

/// Copies of `item` go from one process to another.
template <class T>
run_of_items pass(const channel_case& how, const T& item, int count = 1000) {
  task_report report;
  scc chosen(8);
  chosen.report = &report;
  run_of_items result;
  int got = 0;
  {
    runtime rt(chosen);
    rt.run([&] {
      network net;
      auto ends = net.make_channel<T>(how.capacity);
      const auto writer = net.add(
          "writer",
          [&](out<T>& to) {
            const std::vector<T> some(how.batch, item);
            for (int i = 0; i < count; i += static_cast<int>(how.batch))
              to.write(std::span<const T>(some));
          },
          std::move(ends.writer));
      const auto reader = net.add(
          "reader",
          [&](in<T>& from) {
            for (const T& each : from) got += each == item ? 1 : 0;
          },
          std::move(ends.reader));
      net.place(writer, 0);
      net.place(reader, how.reader);
      const virtual_time begun = *simulated_now();
      net.run();
      result.ns_per_item =
          static_cast<double>((*simulated_now() - begun).femtoseconds) * 1e-6 / count;
    });
  }
  EXPECT_EQ(got, count);
  result.messages = report.counters[counter::messages];
  result.schedule = report.schedule;
  return result;
}

TEST(StreamsOnChip, ItemsBetweenCoresTravelInMessages) {
  const run_of_items here = pass<std::uint64_t>({.reader = 0}, 1);
  const run_of_items there = pass<std::uint64_t>({.reader = 1}, 1);
  EXPECT_LT(here.messages, 10U);  // only what starts the processes
  EXPECT_GT(there.messages, 1000U);
  EXPECT_GT(here.ns_per_item, 1);
  EXPECT_GT(there.ns_per_item, 5 * here.ns_per_item);
}

TEST(StreamsOnChip, RoomIsReturnedByQuarters) {
  const run_of_items many = pass<std::uint64_t>({.capacity = 256}, 1);
  const run_of_items one = pass<std::uint64_t>({.capacity = 1}, 1);
  // An item, a quarter of 64 items, sometimes a request; with one place a message for each of them.
  EXPECT_LT(many.messages, 1100U);
  EXPECT_NEAR(static_cast<double>(one.messages), 3000, 20);
  EXPECT_LT(many.ns_per_item, one.ns_per_item / 2);
}

TEST(StreamsOnChip, ABatchTravelsTogether) {
  const run_of_items each = pass<std::uint64_t>({.capacity = 256}, 1);
  const run_of_items fives = pass<std::uint64_t>({.capacity = 256, .batch = 5}, 1);
  EXPECT_LT(fives.messages, each.messages / 4);
  EXPECT_LT(fives.ns_per_item, each.ns_per_item / 3);
}

TEST(StreamsOnChip, BytesCost) {
  double before = 0;
  for (const std::size_t bytes : {8U, 100U, 1000U, 4000U, 16000U}) {
    const run_of_items now = pass<std::string>({.reader = 2}, std::string(bytes, 'x'), 100);
    EXPECT_GT(now.ns_per_item, 1.2 * before) << bytes;
    before = now.ns_per_item;
  }
  // On one core a string moves without its text.
  const double small = pass<std::string>({.reader = 0}, std::string(100, 'x'), 100).ns_per_item;
  const double large = pass<std::string>({.reader = 0}, std::string(9000, 'x'), 100).ns_per_item;
  EXPECT_NEAR(large, small, 0.01 * small);
}

TEST(StreamsOnChip, ItemsMaySayTheirSize) {
  struct picture {
    std::size_t bytes = 0;
    [[nodiscard]] std::size_t transfer_bytes() const { return bytes; }
    bool operator==(const picture&) const = default;
  };
  const run_of_items small = pass<picture>({}, {100}, 100);
  const run_of_items large = pass<picture>({}, {100'000}, 100);
  EXPECT_GT(large.ns_per_item, 100 * small.ns_per_item);
}

TEST(StreamsOnChip, RunsRepeat) {
  for (const unsigned reader : {0U, 1U, 7U}) {
    const run_of_items one = pass<std::string>({.reader = reader, .capacity = 5}, "some text");
    const run_of_items two = pass<std::string>({.reader = reader, .capacity = 5}, "some text");
    EXPECT_EQ(one.schedule, two.schedule);
    EXPECT_EQ(one.ns_per_item, two.ns_per_item);
    EXPECT_EQ(one.messages, two.messages);
  }
}

TEST(StreamsOnChip, AreCleanByEveryMessageProtocol) {
  using enum message_protocol;
  for (const message_protocol by :
       {synchronized_ring, notification_vector, flagged_slot, linked_messages, pair_ring}) {
    for (const unsigned workers : {1U, 4U, 12U}) {
      task_report report;
      scc chosen(workers);
      chosen.options.messages = by;
      chosen.machine.check = true;
      chosen.report = &report;
      long sum = 0;
      {
        runtime rt(chosen);
        rt.run([&sum] {
          network net({.capacity = 3});
          auto [first, last] = net.make_channel<long>();
          net.add(
              "numbers",
              [](out<long>& to) {
                for (long i = 0; i < 500; ++i) to.write(i);
              },
              std::move(first));
          for (int i = 0; i < 10; ++i) {
            auto next = net.make_channel<long>();
            net.add(
                "adds one",
                [](in<long>& from, out<long>& to) {
                  for (const long each : from) to.write(each + 1);
                },
                std::move(last), std::move(next.writer));
            last = std::move(next.reader);
          }
          net.add(
              "sum",
              [&sum](in<long>& from) {
                for (const long each : from) sum += each;
              },
              std::move(last));
          net.run();
        });
      }
      EXPECT_EQ(sum, 500 * 499 / 2 + 500 * 10);
      EXPECT_TRUE(report.faults.empty()) << to_string(by) << ", " << workers;
    }
  }
}

/// The items of a parallel stage lie in memory that all cores share.
TEST(StreamsOnChip, ParallelStagesMoveTheirItems) {
  const auto time_of = [](std::size_t bytes) {
    scc chosen(4);
    runtime rt(chosen);
    double ns = 0;
    rt.run([&] {
      const std::vector<std::string> items(20, std::string(bytes, 'x'));
      std::size_t sum = 0;
      const virtual_time begun = *simulated_now();
      pipeline(items, parallel_stage([](const std::string& text) { return text.size(); }),
               [&sum](std::size_t each) { sum += each; });
      ns = static_cast<double>((*simulated_now() - begun).femtoseconds) * 1e-6;
      EXPECT_EQ(sum, 20 * bytes);
    });
    return ns;
  };
  EXPECT_GT(time_of(20'000), 10 * time_of(20));
}

/// A network that fails or is stopped while messages are under way leaves nothing behind.
TEST(StreamsOnChip, EndsWithMessagesUnderWay) {
  scc chosen(8);
  runtime rt(chosen);
  rt.run([&] {
    for (int limit = 1; limit < 40; ++limit) {
      network net({.capacity = 4});
      auto alive = std::make_shared<int>(limit);
      auto [first, last] = net.make_channel<std::shared_ptr<int>>();
      net.add(
          "source",
          [alive](out<std::shared_ptr<int>>& to) {
            for (;;) to.write(alive);
          },
          std::move(first));
      for (int i = 0; i < 5; ++i) {
        auto next = net.make_channel<std::shared_ptr<int>>();
        net.add(
            "stage",
            [](in<std::shared_ptr<int>>& from, out<std::shared_ptr<int>>& to) {
              for (auto& each : from) to.write(std::move(each));
            },
            std::move(last), std::move(next.writer));
        last = std::move(next.reader);
      }
      net.add(
          "sink",
          [limit](in<std::shared_ptr<int>>& from) {
            for (int i = 0; i < limit; ++i) (void)from.read();
            if (limit % 2 == 0) throw std::runtime_error("enough");
          },
          std::move(last));
      if (limit % 2 == 0) {
        EXPECT_THROW(net.run(), stream::process_error);
      } else {
        net.run();  // each process ends when nobody reads what it writes
      }
    }
  });
}

/// An item whose copy fails.
struct fragile {
  int value = 0;
  fragile(int number) : value(number) {}  // NOLINT
  fragile(const fragile& from) : value(from.value) {
    if (value == 3) throw std::runtime_error("three");
  }
  fragile(fragile&&) = default;
};

TEST(StreamsOnChip, SendsWhatWasMadeBeforeAFailure) {
  for (const unsigned place : {0U, 1U}) {
    runtime rt(scc(4));
    rt.run([&] {
      std::vector<int> got;
      network net;
      auto ends = net.make_channel<fragile>(8);
      const auto writer = net.add(
          "writer",
          [](out<fragile>& to) {
            std::vector<fragile> some;
            some.reserve(4);
            for (int i = 1; i <= 4; ++i) some.emplace_back(i);
            EXPECT_THROW(to.write(std::span<const fragile>(some)), std::runtime_error);
            to.write(7);
          },
          std::move(ends.writer));
      const auto reader = net.add(
          "reader",
          [&](in<fragile>& from) {
            while (const auto each = from.read()) got.push_back(each->value);
          },
          std::move(ends.reader));
      net.place(writer, 0);
      net.place(reader, place);
      net.run();
      EXPECT_EQ(got, (std::vector<int>{1, 2, 7}));
    });
  }
}

TEST(TransferBytes, CountsWhatAnItemHolds) {
  using stream::transfer_bytes;
  EXPECT_EQ(transfer_bytes(7), sizeof(int));
  EXPECT_EQ(transfer_bytes(std::array<int, 5>{}), 5 * sizeof(int));
  EXPECT_EQ(transfer_bytes(std::string("1234")), sizeof(std::string) + 4);
  EXPECT_EQ(transfer_bytes(std::vector<double>(3)), sizeof(std::vector<double>) + 24);
  const std::vector<std::string> words{"ab", "cde"};
  EXPECT_EQ(transfer_bytes(words), sizeof words + 2 * sizeof(std::string) + 5);
  EXPECT_EQ(transfer_bytes(std::make_unique<int>(3)), sizeof(void*));
}

}  // namespace
