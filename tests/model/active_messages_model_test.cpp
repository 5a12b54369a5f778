// SPDX-License-Identifier: Apache-2.0
// The protocols of active messages over memory that goes stale: two senders and one receiver, and
// two cores that send each other more messages than fit, with the smallest possible buffers.
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include <creek/core/messages/flagged_slot.hpp>
#include <creek/core/messages/linked_messages.hpp>
#include <creek/core/messages/notification_vector.hpp>
#include <creek/core/messages/pair_ring.hpp>
#include <creek/core/messages/synchronized_ring.hpp>

#include "stale_memory.hpp"

namespace {

using namespace creek;
using namespace creek::model;

/// Makers of the ends of a protocol, with little room, and of messages by their number.
struct of_words {
  static std::size_t bytes(word /*number*/) { return sizeof(word); }
};
struct by_vector : of_words {
  template <class Memory>
  static auto make(Memory& m) {
    return notification_vector<Memory>(m, team(m), 0);
  }
};
struct by_ring : of_words {
  template <class Memory>
  static auto make(Memory& m) {
    return synchronized_ring<Memory>(m, team(m), 0, 1);
  }
};
struct by_ring_of_two : of_words {
  template <class Memory>
  static auto make(Memory& m) {
    return synchronized_ring<Memory>(m, team(m), 0, 2);
  }
};
struct by_slot : of_words {
  template <class Memory>
  static auto make(Memory& m) {
    return flagged_slot<Memory>(m, team(m), 0);
  }
};
struct by_link : of_words {
  template <class Memory>
  static auto make(Memory& m) {
    return linked_messages<Memory>(m, team(m), 0, 1);
  }
};
/// One message fills the ring.
struct by_pair {
  static std::size_t bytes(word /*number*/) { return active_message_bytes; }
  template <class Memory>
  static auto make(Memory& m) {
    return pair_ring<Memory>(m, team(m), 0);
  }
};
/// Messages of two and of four lines by turns: the second one goes on at the ring's beginning, and
/// has room only if the receiver says early enough that it has read the first.
struct by_pair_of_five {
  static std::size_t bytes(word number) {
    return number % 2 != 0 ? stale_line_bytes + 8 : active_message_bytes;
  }
  template <class Memory>
  static auto make(Memory& m) {
    return pair_ring<Memory>(m, team(m), 0, 5);
  }
};

template <class Make>
class ActiveMessageModel : public testing::Test {};
using makers =
    testing::Types<by_vector, by_ring, by_ring_of_two, by_slot, by_link, by_pair, by_pair_of_five>;
TYPED_TEST_SUITE(ActiveMessageModel, makers);

void expect_sound(const outcome& result) {
  EXPECT_EQ(result.failure, "");
  EXPECT_TRUE(result.complete);
}

/// Sends a message that begins and ends with its number.
template <class Make, class Protocol, class Handler>
void send_number(Protocol& p, int to, word number, Handler handle) {
  std::array<std::byte, active_message_bytes> data{};
  const std::size_t bytes = Make::bytes(number);
  std::memcpy(data.data(), &number, sizeof number);
  std::memcpy(data.data() + bytes - sizeof number, &number, sizeof number);
  send(p, to, data.data(), bytes, handle);
}

/// Returns the number of a message that has arrived complete.
template <class Make>
word number_of(const std::byte* data, std::size_t bytes) {
  word first = 0, last = 0;
  std::memcpy(&first, data, sizeof first);
  expect(bytes == Make::bytes(first), "another length than was sent");
  std::memcpy(&last, data + bytes - sizeof last, sizeof last);
  expect(first == last, "parts of two messages");
  return first;
}

/// Receives `count` messages, and expects every sender's in order.
template <class Make, class Protocol>
void take(Protocol& p, word count) {
  std::array<word, 8> next{};
  word taken = 0;
  while (taken < count) {
    receive(p, [&](int from, const std::byte* data, std::size_t bytes) {
      const word got = number_of<Make>(data, bytes);
      expect(got == ++next[static_cast<std::size_t>(from)], "lost, doubled or out of order");
      ++taken;
    });
  }
  expect(!p.has_message(), "more messages than were sent");
}

template <class Make, class Protocol>
void give(Protocol& p, int to, word count) {
  for (word number = 1; number <= count; ++number) {
    send_number<Make>(p, to, number, [](int, const std::byte*, std::size_t) {
      expect(false, "a message for nobody");
    });
  }
}

// Sends three from one core, so that a reused slot would show an old message.
template <class Make>
const auto one_way = [](auto& m) {
  auto p = Make::make(m);
  if (m.self() == core_id{0}) give<Make>(p, 1, 3);
  if (m.self() == core_id{1}) take<Make>(p, 3);
};

template <class Make>
const auto two_senders = [](auto& m) {
  auto p = Make::make(m);
  if (m.self() == core_id{2}) {
    take<Make>(p, 4);
  } else {
    give<Make>(p, 2, 2);
  }
};

template <class Make>
const auto both_ways = [](auto& m) {
  auto p = Make::make(m);
  const int other = 1 - m.self().value;
  word next = 0;
  const auto handle = [&](int from, const std::byte* data, std::size_t bytes) {
    expect(from == other && number_of<Make>(data, bytes) == ++next,
           "lost, doubled or out of order");
  };
  for (word number = 1; number <= 2; ++number) send_number<Make>(p, other, number, handle);
  while (next < 2) receive(p, handle);
};

TYPED_TEST(ActiveMessageModel, OneSender) {
  expect_sound(explore_on<stale_memory>(2, {.preemptions = 3}, one_way<TypeParam>));
}
TYPED_TEST(ActiveMessageModel, TwoSendersAndOneReceiver) {
  expect_sound(explore_on<stale_memory>(3, {.preemptions = 2}, two_senders<TypeParam>));
}
TYPED_TEST(ActiveMessageModel, TwoThatSendEachOtherMoreThanThereIsRoomFor) {
  expect_sound(explore_on<stale_memory>(2, {.preemptions = 3}, both_ways<TypeParam>));
}
TYPED_TEST(ActiveMessageModel, RandomRuns) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const exploration how{.random_runs = 2000, .seed = seed};
    EXPECT_EQ(explore_on<stale_memory>(3, how, two_senders<TypeParam>).failure, "") << seed;
    EXPECT_EQ(explore_on<stale_memory>(2, how, both_ways<TypeParam>).failure, "") << seed;
  }
}

TYPED_TEST(ActiveMessageModel, NeedsItsFlushesAndInvalidations) {
  EXPECT_NE(explore_on<memory_that_never_flushes>(2, {}, one_way<TypeParam>).failure, "");
  EXPECT_NE(explore_on<memory_that_never_invalidates>(2, {}, one_way<TypeParam>).failure, "");
}

}  // namespace
