// SPDX-License-Identifier: Apache-2.0
// Turn-taking of messages, without a runtime: their order, refusal, and turns among threads.
#include <creek/tasking/ext/mailbox.hpp>

#include <cstring>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace {

using creek::ext::admission;
using creek::ext::mailbox;

admission bring(mailbox& box, int number, bool refused = false) {
  std::byte message[sizeof number];
  std::memcpy(message, &number, sizeof number);
  return box.admit(message, sizeof message, [&] { return refused; });
}

int number_of(const creek::ext::kept_message& message) {
  int number = 0;
  std::memcpy(&number, message.data, sizeof number);
  return number;
}

TEST(Mailbox, RunsOneMessageAtATimeInOrder) {
  mailbox box(false);
  EXPECT_EQ(bring(box, 0), admission::runs);
  for (int i = 1; i <= 3; ++i) EXPECT_EQ(bring(box, i), admission::waits);
  for (int i = 1; i <= 3; ++i) {
    const auto next = box.next();
    ASSERT_NE(next, nullptr);
    EXPECT_EQ(number_of(*next), i);
    if (i == 1) {
      EXPECT_EQ(bring(box, 4), admission::waits);
    }
  }
  EXPECT_EQ(number_of(*box.next()), 4);
  EXPECT_EQ(box.next(), nullptr);
  EXPECT_EQ(bring(box, 5), admission::runs);
}

TEST(Mailbox, RefusesOnlyMessagesThatWouldWait) {
  mailbox box(false);
  EXPECT_EQ(bring(box, 0, true), admission::runs);
  EXPECT_EQ(bring(box, 1, true), admission::refused);
  EXPECT_EQ(bring(box, 2), admission::waits);
  EXPECT_EQ(number_of(*box.next()), 2);
  EXPECT_EQ(box.next(), nullptr);
}

TEST(Mailbox, EndsAloneOnlyWithoutWaiters) {
  mailbox box(false);
  EXPECT_EQ(bring(box, 0), admission::runs);
  EXPECT_EQ(bring(box, 1), admission::waits);
  EXPECT_FALSE(box.end_if_last());
  EXPECT_EQ(bring(box, 2), admission::waits) << "the first counts as running until next()";
  EXPECT_EQ(number_of(*box.next()), 1);
  EXPECT_EQ(number_of(*box.next()), 2);
  EXPECT_TRUE(box.end_if_last());
  EXPECT_EQ(bring(box, 3), admission::runs);
}

TEST(Mailbox, ThreadsTakeTurns) {
  constexpr int threads = 4, messages = 1000;
  mailbox box(true);
  int run = 0;  // not atomic: guarded by the turns
  std::vector<std::thread> senders;
  for (int t = 0; t < threads; ++t) {
    senders.emplace_back([&] {
      for (int i = 0; i < messages; ++i) {
        if (bring(box, i) != admission::runs) continue;
        do {
          ++run;
        } while (box.next() != nullptr);
      }
    });
  }
  for (std::thread& sender : senders) sender.join();
  EXPECT_EQ(run, threads * messages);
}

}  // namespace
