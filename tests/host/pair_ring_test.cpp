// SPDX-License-Identifier: Apache-2.0
// The ring of a pair of workers, and the box in which the messages of several meet, by themselves.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "messages/message_box.hpp"
#include "support/seed.hpp"

namespace creek::host_backend {
namespace {

using ext::kept_message;

/// A message of a number and as many bytes of it as it takes, from 4 on.
struct numbered {
  std::array<std::byte, active_message_bytes> data{};
  std::size_t bytes;
  numbered(std::uint32_t number, std::size_t size) : bytes(size) {
    for (std::size_t i = 0; i < size; ++i) data[i] = std::byte(number + i);
    std::memcpy(data.data(), &number, sizeof number);
  }
};
std::uint32_t number_of(const std::byte* data) {
  std::uint32_t number;
  std::memcpy(&number, data, sizeof number);
  return number;
}
/// Calls take(data, bytes) for each message.
template <class Take>
struct receiver {
  Take take;
};
template <class Take>
receiver(Take) -> receiver<Take>;

/// Sends message `number`; returns false if there is no room.
bool send(pair_ring& ring, std::uint32_t number, std::size_t bytes = 8) {
  const numbered message(number, bytes);
  return ring.try_send(message.data.data(), message.bytes);
}
/// Takes all messages of a ring and checks that they are `next` and those after it, and whole.
void take(pair_ring& ring, std::uint32_t& next) {
  const auto check = [&](const std::byte* data, std::size_t bytes) {
    const numbered expected(next, bytes);
    EXPECT_EQ(number_of(data), next);
    EXPECT_EQ(std::memcmp(data, expected.data.data(), bytes), 0) << bytes << " bytes";
    ++next;
  };
  while (ring.has_message()) ring.poll(receiver{check}, pair_ring::lines);
}

TEST(pair_ring, carries_messages_of_all_sizes_round_and_round) {
  pair_ring ring;
  EXPECT_FALSE(ring.has_message());
  std::uint32_t sent = 0, taken = 0;
  for (int round = 0; round < 20; ++round) {
    for (std::size_t bytes = 4; bytes <= active_message_bytes; ++bytes, ++sent) {
      ASSERT_TRUE(send(ring, sent, bytes));
      if (bytes % 16 == 0) take(ring, taken);
    }
    take(ring, taken);
    EXPECT_EQ(taken, sent);
    EXPECT_FALSE(ring.has_message());
  }
}

TEST(pair_ring, is_full_before_the_last_line_and_has_room_again_by_quarters) {
  pair_ring ring;
  std::uint32_t sent = 0, taken = 0;
  while (send(ring, sent)) ++sent;
  EXPECT_EQ(sent, pair_ring::lines - 1);
  EXPECT_FALSE(send(ring, sent));
  take(ring, taken);
  EXPECT_EQ(taken, sent);
  for (std::uint32_t more = 0; more < pair_ring::lines - 1; ++more) EXPECT_TRUE(send(ring, sent++));
  take(ring, taken);
  EXPECT_EQ(taken, sent);
}

TEST(pair_ring, goes_on_in_its_overflow_and_comes_back) {
  pair_ring ring;
  std::uint32_t sent = 0, taken = 0;
  for (int round = 0; round < 3; ++round) {
    while (send(ring, sent)) ++sent;
    ASSERT_TRUE(ring.overflow());
    std::uint32_t more = 0;
    for (; send(ring, sent); ++more) ++sent;
    EXPECT_EQ(more, pair_ring::overflow_lines - 1);
    EXPECT_FALSE(ring.overflow()) << "there is one only";
    take(ring, taken);
    EXPECT_EQ(taken, sent);
    // Back in the usual lines, it is full after a few again.
    std::uint32_t few = 0;
    for (; few < pair_ring::overflow_lines && send(ring, sent); ++few) ++sent;
    EXPECT_LE(few, 2 * pair_ring::lines);
    take(ring, taken);
    EXPECT_EQ(taken, sent);
  }
}

TEST(pair_ring, does_not_enter_an_overflow_that_is_still_read) {
  pair_ring ring;
  std::uint32_t sent = 0, taken = 0;
  while (send(ring, sent)) ++sent;
  ASSERT_TRUE(ring.overflow());
  const auto fill = [&] {
    for (std::uint32_t i = 0; i < pair_ring::lines && send(ring, sent); ++i) ++sent;
  };
  fill();
  // The reader is near the end: the writer goes back, and the reader does not follow yet.
  const auto one = [&](const std::byte* data, std::size_t) { EXPECT_EQ(number_of(data), taken++); };
  while (taken + 8 < sent) ring.poll(receiver{one}, 1);
  fill();
  fill();
  EXPECT_FALSE(ring.overflow());
  take(ring, taken);
  EXPECT_EQ(taken, sent);
}

TEST(pair_ring, is_under_way_until_its_messages_are_taken) {
  pair_ring ring;
  EXPECT_FALSE(ring.is_under_way());
  std::uint32_t sent = 0, taken = 0;
  while (send(ring, sent, 90)) ++sent;
  ASSERT_TRUE(ring.overflow());
  const auto one = [&](const std::byte*, std::size_t) { ++taken; };
  while (taken < sent) {
    EXPECT_TRUE(ring.is_under_way());
    ring.poll(receiver{one}, 1);
  }
  EXPECT_FALSE(ring.is_under_way());
}

TEST(pair_ring, carries_messages_between_two_threads) {
  const std::uint64_t seed = support::chosen_seed();
  SCOPED_TRACE("CREEK_TEST_SEED=" + std::to_string(seed));
  constexpr std::uint32_t messages = 60'000;
  pair_ring ring;
  std::thread writer([&] {
    std::mt19937_64 random(seed);
    for (std::uint32_t i = 0; i < messages; ++i) {
      const numbered message(i, 4 + random() % (active_message_bytes - 3));
      for (int tries = 0; !ring.try_send(message.data.data(), message.bytes); ++tries) {
        if (tries > 10) (void)ring.overflow();
        std::this_thread::yield();
      }
    }
  });
  std::uint32_t taken = 0;
  std::mt19937_64 random(seed + 1);
  while (taken < messages) {
    take(ring, taken);
    if (random() % 8 == 0) std::this_thread::yield();
  }
  writer.join();
  EXPECT_EQ(taken, messages);
  EXPECT_FALSE(ring.is_under_way());
}

/// Takes what one poll gives, and returns the numbers in the order of taking.
std::vector<std::uint32_t> take_some(message_box& box) {
  struct numbers {
    std::vector<std::uint32_t>& all;
    void take(const std::byte* data, std::size_t) const { all.push_back(number_of(data)); }
    void take(kept_message* kept) const {
      const std::unique_ptr<kept_message> mine(kept);
      all.push_back(number_of(mine->data));
    }
  };
  std::vector<std::uint32_t> taken;
  box.poll(numbers{taken});
  return taken;
}
std::vector<std::uint32_t> take_all(message_box& box) {
  std::vector<std::uint32_t> numbers;
  while (box.has_message()) {
    const std::vector<std::uint32_t> some = take_some(box);
    numbers.insert(numbers.end(), some.begin(), some.end());
  }
  return numbers;
}
void send_from_outside(message_box& to, std::uint32_t number, message_turn turn) {
  auto kept = std::make_unique<kept_message>(&number, sizeof number);
  kept->turn = turn;
  ASSERT_TRUE(to.outside().try_push(kept));
}

TEST(message_box, takes_messages_of_several_rings_by_their_turns) {
  for (const bool first_made_sends_first : {false, true}) {
    std::vector<message_box> boxes(4);
    message_box& reader = boxes[0];
    pair_ring& a = boxes[1].ring_to(reader, 0, boxes.size());
    pair_ring& b = boxes[2].ring_to(reader, 0, boxes.size());
    pair_ring& c = boxes[3].ring_to(reader, 0, boxes.size());
    EXPECT_EQ(&boxes[1].ring_to(reader, 0, boxes.size()), &a);
    std::vector<std::uint32_t> expected;
    std::uint64_t news = 0;
    std::uint32_t number = 0;
    for (int round = 0; round < 10; ++round) {
      for (pair_ring* each :
           {first_made_sends_first ? &a : &c, &b, first_made_sends_first ? &c : &a}) {
        each->begin_turn(reader.next_turn(), ++news);
        EXPECT_TRUE(each->goes_on(news));
        EXPECT_FALSE(each->goes_on(news + 1));
        for (int i = 0; i < 3; ++i) {
          expected.push_back(number);
          ASSERT_TRUE(send(*each, number++));
        }
      }
      expected.push_back(number);
      send_from_outside(reader, number++, reader.next_turn());
    }
    EXPECT_TRUE(reader.is_under_way());
    EXPECT_TRUE(reader.has_message());
    EXPECT_EQ(take_all(reader), expected);
    EXPECT_FALSE(reader.has_message());
    EXPECT_FALSE(reader.is_under_way());
  }
}

TEST(message_box, ends_a_turn_after_a_ring_full) {
  std::vector<message_box> boxes(2);
  pair_ring& ring = boxes[1].ring_to(boxes[0], 0, boxes.size());
  ring.begin_turn(boxes[0].next_turn(), 1);
  std::uint32_t sent = 0;
  for (; ring.goes_on(1) && sent < 10 * pair_ring::lines; ++sent) {
    ASSERT_TRUE(send(ring, sent) || (ring.overflow() && send(ring, sent)));
  }
  EXPECT_LE(sent, pair_ring::lines);
}

TEST(message_box, takes_messages_to_itself_behind_those_that_it_knew_of) {
  std::vector<message_box> boxes(2);
  message_box& reader = boxes[0];
  pair_ring& ring = boxes[1].ring_to(reader, 0, boxes.size());
  std::vector<std::uint32_t> expected;
  std::uint32_t number = 0;
  const auto from_other = [&](std::uint32_t count) {
    for (; count > 0; --count, ++number) {
      if (!ring.goes_on(1)) ring.begin_turn(reader.next_turn(), 1);
      ASSERT_TRUE(send(ring, number) || (ring.overflow() && send(ring, number)));
    }
  };
  const auto to_itself = [&](std::uint64_t news, bool last) {
    reader.keep(new kept_message(&number, sizeof number), news, last);
    ++number;
  };
  to_itself(1, false);
  to_itself(1, false);
  from_other(10 * pair_ring::lines);  // more than one look takes
  to_itself(2, false);
  to_itself(2, false);
  from_other(2);
  to_itself(2, true);
  EXPECT_EQ(reader.own(), 5U);
  const std::vector<std::uint32_t> taken = take_all(reader);
  // The last two of the other worker belong to a turn from before, but not to a later one.
  ASSERT_EQ(taken.size(), number);
  EXPECT_EQ(taken[0], 0U);
  EXPECT_EQ(taken[1], 1U);
  EXPECT_EQ(taken.back(), number - 1);
  for (const std::uint32_t own : {10U * pair_ring::lines + 2, 10U * pair_ring::lines + 3}) {
    const auto at = std::find(taken.begin(), taken.end(), own) - taken.begin();
    EXPECT_GE(at, static_cast<std::ptrdiff_t>(own)) << "it overtook some";
  }
}

TEST(message_box, takes_messages_from_outside_before_those_that_knew_of_them) {
  std::vector<message_box> boxes(2);
  message_box& reader = boxes[0];
  pair_ring& ring = boxes[1].ring_to(reader, 0, boxes.size());
  send_from_outside(reader, 0, reader.next_turn());
  ring.begin_turn(reader.next_turn(), 1);
  ASSERT_TRUE(send(ring, 1));
  send_from_outside(reader, 2, reader.next_turn());
  EXPECT_EQ(take_all(reader), (std::vector<std::uint32_t>{0, 1, 2}));
}

TEST(message_box, bounds_what_waits_from_outside) {
  message_box box;
  for (std::uint32_t i = 0; i < outside_messages::limit; ++i) {
    send_from_outside(box, i, box.next_turn());
  }
  auto one_more = std::make_unique<kept_message>();
  EXPECT_FALSE(box.outside().try_push(one_more));
  ASSERT_NE(one_more, nullptr);
  EXPECT_EQ(take_some(box).size(), 2 * pair_ring::lines) << "the worker looks at others meanwhile";
  EXPECT_TRUE(box.outside().try_push(one_more));
}

}  // namespace
}  // namespace creek::host_backend
