// SPDX-License-Identifier: Apache-2.0
// Channels between tasks, and between tasks and other threads.
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "channel_forms.hpp"

namespace {

using namespace conformance;
using namespace std::chrono_literals;
using creek::channel;
using creek::channel_status;

class Channel : public ChannelConformance {};
CONFORMANCE(Channel);

TEST_P(Channel, TriesWithoutWaiting) {
  in_each_runtime([] {
    for_each_form([](auto form) {
      channel<int, decltype(form)> c(3);
      EXPECT_EQ(c.capacity(), 3U);
      EXPECT_EQ(c.try_receive().status(), channel_status::not_ready);
      for (int i = 0; i < 3; ++i) EXPECT_TRUE(c.try_send(i));
      EXPECT_EQ(c.try_send(3).status(), channel_status::not_ready);
      EXPECT_EQ(c.size(), 3U);
      EXPECT_EQ(*c.try_receive(), 0);
      EXPECT_TRUE(c.try_send(3)) << "a single free slot is seen";
      for (int i = 1; i < 4; ++i) EXPECT_EQ(*c.receive(), i);
      EXPECT_EQ(c.size(), 0U);
    });
  });
}

TEST_P(Channel, SuspendsWhenItIsFullOrEmpty) {
  in_each_runtime([] {
    for_each_form([](auto form) {
      for (const std::size_t capacity : {1U, 2U, 7U}) {
        channel<int, decltype(form)> there(capacity), back(capacity);
        constexpr int count = 50;
        creek::spawn([&] {
          for (int& item : there) EXPECT_TRUE(back.send(item * 2));
          back.close();
        });
        creek::spawn([&] {
          for (int i = 0; i < count; ++i) EXPECT_TRUE(there.send(i));
          there.close();
        });
        int next = 0;
        for (const int item : back) EXPECT_EQ(item, 2 * next++);
        EXPECT_EQ(next, count);
        creek::taskwait();
      }
    });
  });
}

TEST_P(Channel, SendsBatches) {
  in_each_runtime([] {
    for_each_form([](auto form) {
      channel<std::unique_ptr<int>, decltype(form)> c(5);
      creek::spawn([&] {
        std::vector<std::unique_ptr<int>> items;
        for (int i = 0; i < 23; ++i) items.push_back(std::make_unique<int>(i));
        EXPECT_EQ(c.send_batch(std::make_move_iterator(items.begin()), 23), 23U);
        EXPECT_TRUE(std::all_of(items.begin(), items.end(), [](auto& each) { return !each; }));
        c.close();
        EXPECT_EQ(c.send_batch(std::make_move_iterator(items.begin()), 23), 0U);
      });
      int next = 0;
      for (;;) {
        std::vector<std::unique_ptr<int>> got;
        const std::size_t count = c.receive_batch(std::back_inserter(got), 4);
        EXPECT_EQ(count, got.size());
        EXPECT_LE(count, 4U);
        for (auto& each : got) EXPECT_EQ(*each, next++);
        if (count == 0) break;
      }
      EXPECT_EQ(next, 23);
      creek::taskwait();
      channel<int, decltype(form)> small(2);
      const std::array<int, 3> three{1, 2, 3};
      std::array<int, 3> got{};
      EXPECT_EQ(small.try_send_batch(three.begin(), 3), 2U);
      EXPECT_EQ(small.try_send_batch(three.begin(), 3), 0U);
      EXPECT_EQ(small.try_receive_batch(got.begin(), 3), 2U);
      EXPECT_EQ(small.try_receive_batch(got.begin(), 3), 0U);
      EXPECT_EQ(got, (std::array<int, 3>{1, 2, 0}));
    });
  });
}

TEST_P(Channel, ClosesInEveryState) {
  in_each_runtime([] {
    for_each_form([](auto form) {
      {  // empty, with a receiver that waits
        channel<int, decltype(form)> c(1);
        creek::spawn([&] { EXPECT_EQ(c.receive().status(), channel_status::closed); });
        creek::spawn([&] { EXPECT_TRUE(c.close()); });
        creek::taskwait();
        EXPECT_FALSE(c.close());
        EXPECT_TRUE(c.is_closed());
        EXPECT_EQ(c.try_receive().status(), channel_status::closed);
        EXPECT_EQ(c.try_send(1).status(), channel_status::closed);
        EXPECT_EQ(c.send(1).status(), channel_status::closed);
        EXPECT_EQ(c.send_for(1, 1h).status(), channel_status::closed);
        EXPECT_EQ(c.receive_for(1h).status(), channel_status::closed);
      }
      {  // full, with a sender that waits
        channel<int, decltype(form)> c(2);
        EXPECT_TRUE(c.send(1));
        EXPECT_TRUE(c.send(2));
        bool sent = true;
        creek::spawn([&] { sent = static_cast<bool>(c.send(3)); });
        creek::spawn([&] { c.close(); });
        creek::taskwait();
        EXPECT_FALSE(sent);
        EXPECT_EQ(*c.receive(), 1) << "items that were sent before are received";
        EXPECT_EQ(*c.receive(), 2);
        EXPECT_FALSE(c.receive());
      }
      {  // neither, with a reason
        channel<int, decltype(form)> c(2);
        EXPECT_TRUE(c.send(5));
        c.close(std::make_exception_ptr(failure{8}));
        EXPECT_EQ(failure_of([&] { (void)c.send(6); }), 8);
        EXPECT_EQ(failure_of([&] { (void)c.try_send(6); }), 8);
        EXPECT_EQ(*c.receive(), 5);
        EXPECT_EQ(failure_of([&] { (void)c.receive(); }), 8);
        EXPECT_EQ(failure_of([&] { (void)c.try_receive(); }), 8);
        int none = 0;
        EXPECT_EQ(failure_of([&] { (void)c.receive_batch(&none, 1); }), 8);
        EXPECT_EQ(failure_of([&] {
                    for (int item : c) none = item;
                  }),
                  8);
      }
    });
  });
}

TEST_P(Channel, WaitsForALimitedTime) {
  in_each_runtime([&] {
    for_each_form([&](auto form) {
      channel<int, decltype(form)> c(1);
      EXPECT_EQ(c.receive_for(0s).status(), channel_status::timeout);
      EXPECT_EQ(c.receive_for(100us).status(), channel_status::timeout);
      EXPECT_TRUE(c.send_for(1, 0s));
      EXPECT_EQ(c.send_for(2, -1s).status(), channel_status::timeout);
      EXPECT_EQ(c.send_for(2, 100us).status(), channel_status::timeout);
      if (is_simulated()) {
        EXPECT_THROW((void)c.receive_until(std::chrono::steady_clock::now()), creek::usage_error);
        EXPECT_THROW((void)c.send_until(3, std::chrono::steady_clock::now()), creek::usage_error);
      } else {
        const auto soon = std::chrono::steady_clock::now() + 100us;
        EXPECT_EQ(c.send_until(2, soon).status(), channel_status::timeout);
        EXPECT_GE(std::chrono::steady_clock::now(), soon);
        EXPECT_EQ(*c.receive_until(soon), 1) << "an item that is there needs no time";
        EXPECT_EQ(c.receive_until(std::chrono::system_clock::now() + 100us).status(),
                  channel_status::timeout);
        EXPECT_TRUE(c.send_until(1, std::chrono::system_clock::time_point::max()));
      }
      creek::spawn([&] { EXPECT_TRUE(c.send_for(4, std::chrono::hours::max())); });
      EXPECT_EQ(*c.receive_for(1h), 1);
      EXPECT_EQ(*c.receive_for(1h), 4);
      creek::taskwait();
    });
  });
}

TEST_P(Channel, EndsAWaitByAStopRequest) {
  in_each_runtime([] {
    for_each_form([](auto form) {
      channel<int, decltype(form)> c(1);
      std::stop_source receiving, sending;
      creek::spawn([&] {
        EXPECT_EQ(c.receive(receiving.get_token()).status(), channel_status::stopped);
        EXPECT_TRUE(c.send(1));
        EXPECT_EQ(c.send(2, sending.get_token()).status(), channel_status::stopped);
        EXPECT_EQ(c.send_for(2, 1h, sending.get_token()).status(), channel_status::stopped);
        EXPECT_EQ(*c.receive(receiving.get_token()), 1) << "an item that is there comes first";
      });
      creek::spawn([&] { receiving.request_stop(); });
      creek::spawn([&] { sending.request_stop(); });
      creek::taskwait();
    });
  });
}

struct alignas(128) wide {
  std::unique_ptr<int> value;
};

TEST_P(Channel, CarriesOverAlignedItemsAndDestroysThoseLeft) {
  std::atomic<int> alive{0};
  in_each_runtime([&] {
    for_each_form([&](auto form) {
      channel<wide, decltype(form)> c(2);
      EXPECT_TRUE(c.send(wide{std::make_unique<int>(3)}));
      auto item = c.receive();
      EXPECT_EQ(*item->value, 3);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&*item) % alignof(wide), 0U);
      channel<counted, decltype(form)> left(4);
      const counted original(alive);
      for (int i = 0; i < 4; ++i) EXPECT_TRUE(left.send(original));
      EXPECT_FALSE(left.try_send(original));
      // Its end has seen four items, not the fifth.
      EXPECT_TRUE(left.receive());
      EXPECT_TRUE(left.send(original));
    });
  });
  EXPECT_EQ(alive, 0);
}

/// Throws in its moves while `armed` is one; each of them counts it down.
struct fragile {
  explicit fragile(int n) : number(n) {}
  fragile(fragile&& other) : number(other.number) {
    if (armed > 0 && --armed == 0) throw failure{number};
  }
  fragile& operator=(fragile&& other) noexcept {
    number = other.number;
    return *this;
  }
  static inline std::atomic<int> armed{0};
  int number;
};

TEST_P(Channel, IsAsBeforeWhenAMoveThrows) {
  in_each_runtime([] {
    for_each_form([](auto form) {
      channel<fragile, decltype(form)> c(2);
      fragile item(7);
      fragile::armed = 1;
      EXPECT_EQ(failure_of([&] { (void)c.send(std::move(item)); }), 7);
      EXPECT_EQ(c.size(), 0U);
      EXPECT_TRUE(c.send(std::move(item)));
      fragile::armed = 1;
      EXPECT_EQ(failure_of([&] { (void)c.receive(); }), 7);
      EXPECT_EQ(c.size(), 1U) << "it stays the next item";
      EXPECT_EQ(c.receive()->number, 7);
    });
  });
}

/// A receiver that fails wakes the next one: the item is for whoever is left.
TEST_P(Channel, PassesANotificationOn) {
  in_each_runtime([] {
    channel<fragile> c(1);
    std::atomic<int> received{0}, failed{0};
    fragile::armed = 0;
    for (int i = 0; i < 2; ++i) {
      creek::spawn([&] {
        try {
          if (c.receive()) ++received;
        } catch (const failure&) {
          ++failed;
        }
      });
    }
    creek::spawn([&] {
      fragile item(1);
      fragile::armed = 2;  // into the channel, then out of it
      EXPECT_TRUE(c.send(std::move(item)));
    });
    creek::taskwait();
    EXPECT_EQ(failed, 1);
    EXPECT_EQ(received, 1);
  });
}

TEST_P(Channel, ConnectsTasksAndForeignThreads) {
  if (is_simulated()) return;  // its run would end as a deadlock: only foreign threads go on
  on_each_runtime([](creek::runtime& rt) {
    for_each_form([&](auto form) {
      channel<int, decltype(form)> there(2), back(3);
      std::thread foreign([&] {
        for (int item : there) EXPECT_TRUE(back.send(item + 1));
        back.close();
      });
      rt.run([&] {
        creek::spawn([&] {
          for (int i = 0; i < 100; ++i) EXPECT_TRUE(there.send(i));
          there.close();
        });
        int next = 0;
        for (int item : back) EXPECT_EQ(item, ++next);
        EXPECT_EQ(next, 100);
        creek::taskwait();
      });
      foreign.join();
    });
  });
}

TEST(ChannelAlone, RejectsCapacitiesOutOfRange) {
  EXPECT_THROW(channel<int>(0), creek::usage_error);
  EXPECT_THROW(channel<int>((std::size_t{1} << 29) + 1), creek::usage_error);
}

/// A value that is not sent is left alone.
TEST(ChannelAlone, LeavesAValueThatWasNotSent) {
  channel<std::unique_ptr<int>> c(1);
  EXPECT_TRUE(c.send(std::make_unique<int>(1)));
  auto kept = std::make_unique<int>(2);
  EXPECT_FALSE(c.try_send(std::move(kept)));
  EXPECT_FALSE(c.send_for(std::move(kept), 1us));
  EXPECT_FALSE(c.send_until(std::move(kept), std::chrono::steady_clock::now() + 1us));
  c.close();
  EXPECT_FALSE(c.send(std::move(kept)));
  EXPECT_EQ(*kept, 2);
  EXPECT_EQ(**c.receive(), 1);
  channel<std::string> texts(1);
  EXPECT_TRUE(texts.send("made of another type"));
  EXPECT_EQ(*texts.receive(), "made of another type");
}

}  // namespace
