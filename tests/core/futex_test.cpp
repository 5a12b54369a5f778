// SPDX-License-Identifier: Apache-2.0
// The futex wrappers: how each outcome is reported.
#include <gtest/gtest.h>

#include <cerrno>
#include <thread>

#include <creek/core/threads/futex.hpp>

namespace creek {
namespace {

using namespace std::chrono_literals;

TEST(futex, does_not_sleep_when_the_word_has_changed) {
  std::atomic<std::uint32_t> word{1};
  errno = 42;
  EXPECT_EQ(futex_wait(word, 0), futex_status::changed);
  EXPECT_EQ(errno, 42) << "waits must leave errno alone";
}

TEST(futex, reports_a_passed_deadline) {
  std::atomic<std::uint32_t> word{0};
  const auto deadline = deadline_clock::now() + 5ms;
  EXPECT_EQ(futex_wait_until(word, 0, deadline), futex_status::timed_out);
  EXPECT_GE(deadline_clock::now(), deadline);
  EXPECT_EQ(futex_wait_until(word, 0, deadline_clock::time_point::min()), futex_status::timed_out);
}

TEST(futex, wakes_nobody_when_nobody_sleeps) {
  std::atomic<std::uint32_t> word{0};
  EXPECT_EQ(futex_wake(word, 1), 0U);
  EXPECT_EQ(futex_wake_all(word), 0U);
}

TEST(futex, wakes_a_sleeper) {
  std::atomic<std::uint32_t> word{0};
  std::jthread sleeper([&] {
    while (word.load(std::memory_order_acquire) == 0) futex_wait(word, 0);
  });
  // Wakes until the kernel reports a sleeper; the sleeper goes back to sleep on 0.
  while (futex_wake(word, 1) == 0) std::this_thread::yield();
  word.store(1, std::memory_order_release);
  futex_wake_all(word);
}

}  // namespace
}  // namespace creek
