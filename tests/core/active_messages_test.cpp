// SPDX-License-Identifier: Apache-2.0
// Active messages between host threads: contents, order, full buffers, bad arguments.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/core/messages/flagged_slot.hpp>
#include <creek/core/messages/linked_messages.hpp>
#include <creek/core/messages/notification_vector.hpp>
#include <creek/core/messages/pair_ring.hpp>
#include <creek/core/messages/synchronized_ring.hpp>
#include <creek/host/memory.hpp>

#include "support/few_cases.hpp"

namespace {

using namespace creek;
using host_backend::memory;
using host_backend::memory_space;

struct letter {
  std::uint32_t number = 0;
  std::uint32_t answers = 0;  ///< number of messages wanted
};

template <class Protocol>
class ActiveMessages : public testing::Test {
 protected:
  /// Runs `body(protocol, rank)` on this number of threads.
  template <class Body>
  static void run(int members, Body body) {
    memory_space space(members, {.mpm_bytes = Protocol::bytes_needed(members)});
    std::vector<std::thread> threads;
    for (int rank = 0; rank < members; ++rank) {
      threads.emplace_back([&, rank] {
        memory view = space.core(core_id{rank});
        Protocol protocol(view, team(view), 0);
        body(protocol, rank);
      });
    }
    for (std::thread& each : threads) each.join();
  }
};

using protocols = testing::Types<notification_vector<memory>, synchronized_ring<memory>,
                                 flagged_slot<memory>, linked_messages<memory>, pair_ring<memory>>;
TYPED_TEST_SUITE(ActiveMessages, protocols);

static_assert(active_message_protocol<notification_vector<memory>>);
static_assert(active_message_protocol<synchronized_ring<memory>>);
static_assert(active_message_protocol<flagged_slot<memory>>);
static_assert(active_message_protocol<linked_messages<memory>>);
static_assert(active_message_protocol<pair_ring<memory>>);

TYPED_TEST(ActiveMessages, CarryAllSizes) {
  this->run(2, [](TypeParam& p, int rank) {
    std::byte sent[active_message_bytes];
    for (std::size_t i = 0; i < sizeof sent; ++i) sent[i] = static_cast<std::byte>(i * 3 + 1);
    if (rank == 0) {
      for (std::size_t bytes = 0; bytes <= active_message_bytes; ++bytes) {
        send(p, 1, sent, bytes, [](int, const std::byte*, std::size_t) { FAIL(); });
      }
      return;
    }
    std::size_t expected = 0;
    while (expected <= active_message_bytes) {
      receive(p, [&](int from, const std::byte* data, std::size_t bytes) {
        EXPECT_EQ(from, 0);
        ASSERT_EQ(bytes, expected++);
        EXPECT_EQ(std::memcmp(data, sent, bytes), 0);
      });
    }
    EXPECT_FALSE(p.has_message());
    EXPECT_EQ(p.counts().received, active_message_bytes + 1);
  });
}

/// Each rank floods all ranks, itself included, and answers messages from within the handler.
TYPED_TEST(ActiveMessages, LoseAndDoubleNothingUnderFlood) {
  static constexpr int members = 4;
  static constexpr std::uint32_t letters = 500;
  this->run(members, [](TypeParam& p, int rank) {
    std::vector<std::uint32_t> next(members, 1), answered(members, 0);
    std::uint32_t missing = 2 * letters * members;  // messages and answers
    std::vector<std::vector<letter>> owed(members);
    const auto handle = [&](int from, const std::byte* data, std::size_t bytes) {
      letter got;
      ASSERT_EQ(bytes, sizeof got);
      std::memcpy(&got, data, sizeof got);
      const auto who = static_cast<std::size_t>(from);
      --missing;
      if (got.answers == 0) {
        ++answered[who];
        return;
      }
      EXPECT_EQ(got.number, next[who]++) << "from " << from << " to " << rank;
      owed[who].push_back({got.number, 0});
    };
    const auto answer = [&] {
      // Loops until no message is owed: while one is sent, others come, also from earlier senders.
      for (int to = 0; to < members;) {
        auto& list = owed[static_cast<std::size_t>(to)];
        if (list.empty()) {
          ++to;
          continue;
        }
        const letter back = list.back();
        list.pop_back();
        send(p, to, &back, sizeof back, handle);
        to = 0;
      }
    };
    for (std::uint32_t number = 1; number <= letters; ++number) {
      for (int step = 0; step < members; ++step) {
        const letter out{number, 1};
        send(p, (rank + step) % members, &out, sizeof out, handle);
      }
      answer();
    }
    while (missing > 0) {
      receive(p, handle);
      answer();
    }
    for (const std::uint32_t each : answered) EXPECT_EQ(each, letters);
    EXPECT_EQ(p.counts().sent, 2 * letters * members);
    EXPECT_EQ(p.counts().received, 2 * letters * members);
  });
}

/// A handler that sends to a core whose buffer is full, and so polls within a poll.
TYPED_TEST(ActiveMessages, MayBeSentFromHandlers) {
  static constexpr std::uint32_t hops = support::few_cases ? 250 : 1000, balls = 40;
  std::atomic<std::uint32_t> ended{0};
  this->run(2, [&](TypeParam& p, int rank) {
    const int other = 1 - rank;
    const auto handle = [&](auto& self, int from, const std::byte* data,
                            std::size_t bytes) -> void {
      letter got;
      ASSERT_EQ(bytes, sizeof got);
      ASSERT_EQ(from, other);
      std::memcpy(&got, data, sizeof got);
      if (got.number == hops) {
        ++ended;
        return;
      }
      ++got.number;
      send(p, other, &got, sizeof got,
           [&](int f, const std::byte* d, std::size_t b) { self(self, f, d, b); });
    };
    const auto handler = [&](int f, const std::byte* d, std::size_t b) { handle(handle, f, d, b); };
    for (std::uint32_t i = 0; i < balls; ++i) {
      const letter ball{0, i};
      send(p, other, &ball, sizeof ball, handler);
    }
    while (ended < 2 * balls) {
      if (p.poll(handler) == 0) std::this_thread::yield();
    }
  });
}

TYPED_TEST(ActiveMessages, RefuseWhatCannotBeSent) {
  this->run(1, [](TypeParam& p, int) {
    const std::byte data[active_message_bytes + 1] = {};
    EXPECT_THROW((void)p.try_send(1, data, 4), usage_error);
    EXPECT_THROW((void)p.try_send(-1, data, 4), usage_error);
    EXPECT_THROW((void)p.try_send(0, data, sizeof data), usage_error);
    EXPECT_EQ(p.poll([](int, const std::byte*, std::size_t) { FAIL(); }), 0U);
    EXPECT_EQ(p.counts().empty_polls, 1U);
  });
}

TEST(SynchronizedRing, NeedsAPowerOfTwo) {
  memory_space space(1);
  memory view = space.core(core_id{0});
  EXPECT_THROW((synchronized_ring<memory>(view, team(view), 0, 12)), usage_error);
}

TEST(PairRing, NeedsRoomForAMessageAndPositionsOfAByte) {
  memory_space space(1);
  memory view = space.core(core_id{0});
  using ring = pair_ring<memory>;
  EXPECT_THROW((ring(view, team(view), 0, ring::message_lines - 1)), usage_error);
  EXPECT_THROW((ring(view, team(view), 0, 256)), usage_error);
}

TEST(PairRing, IsAsLongAsHalfOfTheRoomAllows) {
  using ring = pair_ring<memory>;
  for (const int members : {1, 2, 8, 40}) {
    const std::size_t least = ring::bytes_needed(members);
    EXPECT_EQ(ring::lines_for(members, least - 1), 0U);
    EXPECT_EQ(ring::lines_for(members, least), ring::message_lines);
    EXPECT_LT(ring::max_members(least - 1), members);
    EXPECT_GE(ring::max_members(least), members);
    for (const std::size_t lines : {ring::message_lines + 3, std::size_t{16}}) {
      const std::size_t room = 2 * ring::bytes_needed(members, lines);
      EXPECT_EQ(ring::lines_for(members, room), lines);
      EXPECT_EQ(ring::lines_for(members, room - 1), lines - 1);
    }
    EXPECT_EQ(ring::lines_for(members, std::size_t{1} << 20), 16U);
  }
}

/// Messages of all lengths begin on every line of the ring, and positions wrap many times.
TEST(PairRing, KeepsMessagesCompleteAcrossItsEnd) {
  using ring = pair_ring<memory>;
  for (const std::size_t lines :
       {ring::message_lines, ring::message_lines + 1, std::size_t{7}, ring::max_lines}) {
    memory_space space(1, {.mpm_bytes = ring::bytes_needed(1, lines)});
    memory view = space.core(core_id{0});
    ring p(view, team(view), 0, lines);
    std::byte sent[active_message_bytes];
    const auto fill = [&](std::size_t number) {
      for (std::size_t i = 0; i < sizeof sent; ++i) sent[i] = static_cast<std::byte>(number + i);
      return number * 31 % (active_message_bytes + 1);
    };
    std::size_t next = 0;
    const auto check = [&](int, const std::byte* data, std::size_t bytes) {
      ASSERT_EQ(bytes, fill(next++));
      EXPECT_EQ(std::memcmp(data, sent, bytes), 0);
    };
    for (std::size_t number = 0; number < 2000; ++number) {
      for (std::size_t bytes = fill(number); !p.try_send(0, sent, bytes); bytes = fill(number)) {
        EXPECT_GT(p.poll(check), 0U);
      }
    }
    while (p.has_message()) p.poll(check);
    EXPECT_EQ(next, 2000U) << lines << " lines";
  }
}

}  // namespace
