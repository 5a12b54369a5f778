// SPDX-License-Identifier: Apache-2.0
// Messages over memory that goes stale: chunks, requests, mailboxes, and the collectives built on
// them.
#include <gtest/gtest.h>

#include <numeric>

#include <creek/core/messages/communicator.hpp>
#include <creek/core/messages/spsc_ring.hpp>

#include "stale_memory.hpp"

namespace {

using namespace creek;
using namespace creek::model;

constexpr communicator_options small{.buffer_bytes = 32, .mailbox_lines = 2};

// Runs `body(communicator)` on all ranks.
template <class Memory = stale_memory, class Body>
outcome explore_ranks(int ranks, exploration how, Body body) {
  return explore_on<Memory>(ranks, how, [=](Memory& memory) {
    symmetric_allocator allocator{0, memory.mpm_bytes(), Memory::line_bytes};
    communicator<Memory> c{memory, allocator, team{memory}, small};
    body(c);
  });
}

void expect_sound(const outcome& result) {
  EXPECT_EQ(result.failure, "");
  EXPECT_TRUE(result.complete);
}

template <std::size_t N>
std::array<word, N> numbered(word first) {
  std::array<word, N> data;
  std::iota(data.begin(), data.end(), first);
  return data;
}

// 20 words: three chunks of 32 bytes; twice, so that a stale buffer would show.
const auto one_way = [](auto& c) {
  for (word round = 0; round < 2; ++round) {
    const auto sent = numbered<20>(100 * (round + 1));
    std::array<word, 20> got{};
    if (c.rank() == 0) c.send(std::span<const word>{sent}, 1);
    if (c.rank() == 1) {
      c.recv(std::span<word>{got}, 0);
      expect(got == sent, "another message than was sent");
    }
  }
};

const auto both_ways = [](auto& c) {
  const int other = 1 - c.rank();
  const auto sent = numbered<12>(100 * (static_cast<word>(c.rank()) + 1));
  std::array<word, 12> got{};
  c.exchange(std::span<const word>{sent}, other, std::span<word>{got}, other);
  expect(got == numbered<12>(100 * (static_cast<word>(other) + 1)), "not what the other sent");
};

// More lines than the ring has, in both directions.
const auto mail = [](auto& c) {
  for (word n = 1; n <= 5; ++n) {
    if (c.rank() == 0) c.post(n, 1);
    if (c.rank() == 1) expect(c.template take<word>(0) == n, "mail lost, doubled or out of order");
  }
};

const auto long_mail = [](auto& c) {
  const auto sent = numbered<16>(7);
  std::array<word, 16> got{};
  if (c.rank() == 0) c.post(std::span<const word>{sent}, 1);
  if (c.rank() == 1) {
    c.take(std::span<word>{got}, 0);
    expect(got == sent, "long mail changed on its way");
  }
};

const auto all_collectives = [](auto& c) {
  const auto me = static_cast<word>(c.rank());
  const auto n = static_cast<word>(c.size());
  for (word root = 0; root < n; ++root) {
    expect(c.bcast(me * 10, static_cast<int>(root)) == root * 10, "bcast");
    const word total = c.reduce(me + 1, std::plus{}, static_cast<int>(root));
    expect(me != root || total == n * (n + 1) / 2, "reduce");
  }
  expect(c.allreduce(me + 1, std::plus{}) == n * (n + 1) / 2, "allreduce");
  expect(c.inclusive_scan(me, std::plus{}) == me * (me + 1) / 2, "scan");
  const std::vector<word> all = c.allgather(me);
  for (word rank = 0; rank < n; ++rank) expect(all[rank] == rank, "allgather");
  std::vector<word> out(n), in(n);
  for (word to = 0; to < n; ++to) out[to] = 100 * me + to;
  c.all_to_all(std::span<const word>{out}, std::span<word>{in});
  for (word from = 0; from < n; ++from) expect(in[from] == 100 * from + me, "all_to_all");
  c.barrier();
};

// More items than the ring has slots, each of two words, one by one or in batches.
template <class Memory = stale_memory>
outcome explore_ring(exploration how, std::size_t capacity, std::size_t batch) {
  return explore_on<Memory>(2, how, [=](Memory& memory) {
    using item = std::array<word, 2>;
    const auto where = spsc_place_between<item>(memory, core_id{0}, core_id{1}, 0);
    constexpr word count = 5;
    if (memory.self().value == 0) {
      spsc_producer<item, Memory> in{memory, where, capacity};
      std::vector<item> items;
      for (word n = 0; n < count; ++n) items.push_back({n, 10 * n});
      for (auto next = items.begin(); next != items.end();) {
        expect(in.wait_for_room(), "closed by nobody");
        next += static_cast<std::ptrdiff_t>(
            in.try_push(next, std::min(batch, static_cast<std::size_t>(items.end() - next))));
      }
      in.close(3);
    } else {
      spsc_consumer<item, Memory> out{memory, where, capacity};
      word next = 0;
      while (out.wait_for_item()) {
        out.consume(
            [&](const item& got) {
              expect(got == item{next, 10 * next}, "an item lost, doubled, torn or out of order");
              ++next;
            },
            batch);
      }
      expect(next == count, "closed too early");
      expect(out.closed_by_producer() == word{3}, "another reason");
    }
  });
}

TEST(MessageModel, TheRingOfOneProducer) {
  expect_sound(explore_ring({.preemptions = 3}, 2, 1));
  expect_sound(explore_ring({.preemptions = 3}, 1, 1));
  expect_sound(explore_ring({.preemptions = 2}, 4, 3));
  EXPECT_EQ(explore_ring({.random_runs = 2000}, 3, 2).failure, "");
  EXPECT_NE(explore_ring<memory_that_never_flushes>({}, 2, 1).failure, "");
  EXPECT_NE(explore_ring<memory_that_never_invalidates>({}, 2, 1).failure, "");
}

TEST(MessageModel, SendAndReceiveInChunks) {
  expect_sound(explore_ranks(2, {.preemptions = 3}, one_way));
}
TEST(MessageModel, ExchangeBothWays) {
  expect_sound(explore_ranks(2, {.preemptions = 3}, both_ways));
}
TEST(MessageModel, MailThroughAFullRing) {
  expect_sound(explore_ranks(2, {.preemptions = 3}, mail));
}
TEST(MessageModel, LongMail) {
  expect_sound(explore_ranks(2, {.preemptions = 3}, long_mail));
}

TEST(MessageModel, CollectivesInRandomRuns) {
  for (int ranks = 1; ranks <= 6; ++ranks) {
    const exploration how{.random_runs = 100, .seed = static_cast<std::uint64_t>(ranks)};
    EXPECT_EQ(explore_ranks(ranks, how, all_collectives).failure, "") << ranks;
  }
}

TEST(MessageModel, ABroadcastToThree) {
  expect_sound(explore_ranks(3, {.preemptions = 1}, [](auto& c) {
    expect(c.bcast(static_cast<word>(c.rank()) + 5, 1) == 6, "bcast");
    expect(c.allreduce(static_cast<word>(c.rank()), std::plus{}) == 3, "allreduce");
  }));
}

TEST(MessageModel, ADeadlockIsFound) {
  const outcome both_send = explore_ranks(2, {.preemptions = 0}, [](auto& c) {
    c.send(word{1}, 1 - c.rank());
    (void)c.template recv<word>(1 - c.rank());
  });
  EXPECT_NE(both_send.failure.find("deadlock"), std::string::npos) << both_send.failure;
}

TEST(MessageModel, NeedsItsFlushes) {
  EXPECT_NE(explore_ranks<memory_that_never_flushes>(2, {}, one_way).failure, "");
  EXPECT_NE(explore_ranks<memory_that_never_flushes>(2, {}, mail).failure, "");
}
TEST(MessageModel, NeedsItsInvalidations) {
  EXPECT_NE(explore_ranks<memory_that_never_invalidates>(2, {}, one_way).failure, "");
  EXPECT_NE(explore_ranks<memory_that_never_invalidates>(2, {}, mail).failure, "");
}

}  // namespace
