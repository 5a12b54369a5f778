// SPDX-License-Identifier: Apache-2.0
// The event count: the meaning of each call, a hand-over that a lost wake-up would hang, and a
// stress run with every kind of wait (its seed is printed; CREEK_TEST_SEED replays it).
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include <creek/core/threads/event_count.hpp>

namespace creek {
namespace {

using namespace std::chrono_literals;

// So long that only a lost wake-up exceeds it, on any machine and under any sanitizer.
constexpr auto forever = 60s;

template <typename EventCount>
class event_counts : public testing::Test {};
using kinds = testing::Types<event_count, symmetric_event_count>;
TYPED_TEST_SUITE(event_counts, kinds, );

TYPED_TEST(event_counts, notifying_without_waiters_wakes_nobody) {
  TypeParam ec;
  EXPECT_EQ(ec.notify_one(), 0U);
  EXPECT_EQ(ec.notify_all(), 0U);
  EXPECT_EQ(ec.waiters(), 0U);
}

TYPED_TEST(event_counts, a_notification_after_prepare_ends_the_wait) {
  TypeParam ec;
  const auto key = ec.prepare_wait();
  EXPECT_EQ(ec.waiters(), 1U);
  ec.notify_one();
  ec.wait(key);  // hangs if the notification was not kept for this waiter
  EXPECT_EQ(ec.waiters(), 0U);
}

TYPED_TEST(event_counts, a_notification_before_prepare_does_not_count) {
  TypeParam ec;
  ec.notify_all();
  const auto key = ec.prepare_wait();
  EXPECT_FALSE(ec.wait_until(key, deadline_clock::now() + 1ms));
  EXPECT_EQ(ec.waiters(), 0U);
}

TYPED_TEST(event_counts, cancelling_withdraws_the_intent) {
  TypeParam ec;
  static_cast<void>(ec.prepare_wait());
  ec.cancel_wait();
  EXPECT_EQ(ec.waiters(), 0U);
}

TYPED_TEST(event_counts, a_timed_wait_reports_a_notification) {
  TypeParam ec;
  const auto key = ec.prepare_wait();
  ec.notify_one();
  EXPECT_TRUE(ec.wait_for(key, forever));
}

TYPED_TEST(event_counts, await_until_returns_the_last_value_of_the_condition) {
  TypeParam ec;
  EXPECT_TRUE(ec.await_until([] { return true; }, deadline_clock::now()));
  EXPECT_FALSE(ec.await_until([] { return false; }, deadline_clock::now() + 1ms));
  EXPECT_EQ(ec.waiters(), 0U);
}

TYPED_TEST(event_counts, a_condition_that_throws_withdraws_the_intent) {
  TypeParam ec;
  int calls = 0;
  const auto throws_second_time = [&]() -> bool {
    if (++calls == 2) throw std::runtime_error("condition");
    return false;
  };
  EXPECT_THROW(ec.await(throws_second_time), std::runtime_error);
  EXPECT_EQ(ec.waiters(), 0U);
}

// Takes one token if there is one.
bool take(std::atomic<int>& tokens) {
  int have = tokens.load(std::memory_order_acquire);
  while (have > 0) {
    if (tokens.compare_exchange_weak(have, have - 1, std::memory_order_acquire)) return true;
  }
  return false;
}

TYPED_TEST(event_counts, each_notify_one_lets_one_waiter_through) {
  TypeParam ec;
  std::atomic<int> tokens{0}, through{0};
  std::vector<std::jthread> waiters;
  for (int i = 0; i < 4; ++i) {
    waiters.emplace_back([&] {
      ec.await([&] { return take(tokens); });
      through.fetch_add(1);
    });
  }
  for (int given = 1; given <= 4; ++given) {
    tokens.fetch_add(1, std::memory_order_release);
    ec.notify_one();
    while (through.load() < given) std::this_thread::yield();
    EXPECT_EQ(through.load(), given);
  }
}

// Two threads wake each other in turn; every round is a chance to lose the wake-up between the
// check and the sleep. The value itself is passed with relaxed stores: the two fences alone carry
// the protocol.
TYPED_TEST(event_counts, a_hand_over_never_loses_its_wake_up) {
  TypeParam ping, pong;
  std::atomic<int> turn{0};
  constexpr int rounds = 50'000;
  const auto play = [&](TypeParam& mine, TypeParam& theirs, int parity) {
    for (int round = parity; round < rounds; round += 2) {
      if (!mine.await_until([&] { return turn.load(std::memory_order_relaxed) == round; },
                            deadline_clock::now() + forever)) {
        return round;
      }
      turn.store(round + 1, std::memory_order_relaxed);
      theirs.notify_one();
    }
    return rounds;
  };
  int other = -1;
  std::jthread second([&] { other = play(pong, ping, 1); });
  EXPECT_EQ(play(ping, pong, 0), rounds) << "wake-up lost in that round";
  second.join();
  EXPECT_EQ(other, rounds) << "wake-up lost in that round";
}

std::uint64_t stress_seed() {
  const char* given = std::getenv("CREEK_TEST_SEED");
  const std::uint64_t seed =
      given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  std::cout << "replay with CREEK_TEST_SEED=" << seed << '\n';
  return seed;
}

// Takes `quota` tokens; varies the way to wait.
template <typename EventCount>
void consume(EventCount& ec, std::atomic<int>& tokens, int quota, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto limit = [&] {
    return deadline_clock::now() + std::chrono::microseconds(random() % 50);
  };
  while (quota > 0) {
    switch (random() % 3) {
      case 0:
        ec.await([&] { return take(tokens); });
        --quota;
        break;
      case 1:
        quota -= ec.await_until([&] { return take(tokens); }, limit());
        break;
      default: {
        const auto key = ec.prepare_wait();
        const bool taken = take(tokens);
        taken ? ec.cancel_wait() : static_cast<void>(ec.wait_until(key, limit()));
        quota -= taken;
        // A wait that ends without taking may have used up a notification, so pass it on.
        if (!taken) ec.notify_one();
      }
    }
  }
}

TYPED_TEST(event_counts, stress_every_token_is_taken_once) {
  TypeParam ec;
  std::atomic<int> tokens{0};
  std::mt19937_64 random(stress_seed());
  constexpr int threads = 3, quota = 10'000;
  std::vector<std::jthread> consumers;
  for (int i = 0; i < threads; ++i) {
    consumers.emplace_back([&, seed = random()] { consume(ec, tokens, quota, seed); });
  }
  for (int given = 0; given < threads * quota;) {
    const int batch = std::min<int>(1 + static_cast<int>(random() % 4), threads * quota - given);
    tokens.fetch_add(batch, std::memory_order_release);
    ec.notify(static_cast<unsigned>(batch));
    given += batch;
    if (random() % 8 == 0) std::this_thread::yield();
  }
  consumers.clear();
  EXPECT_EQ(tokens.load(), 0);
  EXPECT_EQ(ec.waiters(), 0U);
}

}  // namespace
}  // namespace creek
