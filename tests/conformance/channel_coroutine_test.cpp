// SPDX-License-Identifier: Apache-2.0
// Coroutines that send to channels and receive from them, on every backend and outside of them.
#include <atomic>
#include <coroutine>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <creek/tasking/coroutine.hpp>

#include "channel_forms.hpp"

namespace {

using namespace conformance;
using creek::channel;
using creek::channel_status;
using creek::future;

class ChannelCoroutines : public ChannelConformance {};
CONFORMANCE(ChannelCoroutines);

template <class Form>
future<int> send_numbers(channel<int, Form>& to, int first, int count) {
  int sent = 0;
  for (int i = 0; i < count; ++i) {
    if (!co_await to.async_send(first + i)) break;
    ++sent;
  }
  co_return sent;
}

template <class Form>
future<long> add_numbers(channel<int, Form>& from) {
  long sum = 0;
  while (auto number = co_await from.async_receive()) sum += *number;
  co_return sum;
}

TEST_P(ChannelCoroutines, SendAndReceive) {
  in_each_runtime([] {
    for_each_form([](auto form) {
      for (const std::size_t capacity : {std::size_t{1}, std::size_t{3}}) {
        channel<int, decltype(form)> c(capacity);
        future<long> sum = add_numbers(c);
        EXPECT_EQ(send_numbers(c, 1, 100).get(), 100);
        c.close();
        EXPECT_EQ(sum.get(), 5050);
      }
    });
  });
}

TEST_P(ChannelCoroutines, AreManyOnFewWorkers) {
  in_each_runtime([] {
    constexpr int each = 20, pairs = 12;
    channel<int> c(2);
    std::vector<future<long>> sums;
    std::vector<future<int>> sent;
    for (int i = 0; i < pairs; ++i) sums.push_back(add_numbers(c));
    for (int i = 0; i < pairs; ++i) sent.push_back(send_numbers(c, i * each, each));
    // Beside strands.
    long received = 0;
    creek::spawn([&] {
      for (const int number : c) received += number;
    });
    creek::async([&] {
      for (int i = 0; i < each; ++i) EXPECT_TRUE(c.send(1000));
    }).get();
    for (auto& one : sent) EXPECT_EQ(one.get(), each);
    c.close();
    creek::taskwait();
    for (auto& one : sums) received += one.get();
    constexpr long total = pairs * each;
    EXPECT_EQ(received, total * (total - 1) / 2 + 1000 * each);
  });
}

future<channel_status> status_of_send(channel<std::unique_ptr<int>>& to,
                                      std::unique_ptr<int>& value) {
  co_return (co_await to.async_send(std::move(value))).status();
}

TEST_P(ChannelCoroutines, AreWokenByTheEndAndKeepWhatTheyDidNotSend) {
  in_each_runtime([] {
    channel<std::unique_ptr<int>> c(1);
    EXPECT_TRUE(c.send(std::make_unique<int>(1)));
    auto value = std::make_unique<int>(2);
    future<channel_status> waits = status_of_send(c, value);
    c.close();
    EXPECT_EQ(waits.get(), channel_status::closed);
    ASSERT_NE(value, nullptr);
    EXPECT_EQ(*value, 2);
  });
}

TEST_P(ChannelCoroutines, RethrowTheReasonOfTheEnd) {
  in_each_runtime([] {
    channel<int> c(1);
    future<long> waits = add_numbers(c);
    c.close(std::make_exception_ptr(failure{7}));
    EXPECT_EQ(failure_of([&] { waits.get(); }), 7);
    future<long> does_not_wait = add_numbers(c);
    EXPECT_EQ(failure_of([&] { does_not_wait.get(); }), 7);
  });
}

/// Throws in the move that takes `moves_left` to zero.
struct breakable {
  explicit breakable(std::atomic<int>& moves_left) : left(&moves_left) {}
  breakable(breakable&& other) : left(other.left) {
    if (*left > 0 && --*left == 0) throw failure{3};
  }
  breakable& operator=(breakable&&) = delete;
  std::atomic<int>* left;
};

future<bool> receive_one(channel<breakable>& from) {
  co_return static_cast<bool>(co_await from.async_receive());
}

TEST_P(ChannelCoroutines, WakeAnotherInPlaceOfOneThatFails) {
  in_each_runtime([] {
    std::atomic<int> moves_left{2};  // into the channel, out of it
    channel<breakable> c(1);
    future<bool> first = receive_one(c), second = receive_one(c);
    EXPECT_TRUE(c.send(breakable(moves_left)));
    EXPECT_EQ(failure_of([&] { first.get(); }), 3);
    EXPECT_TRUE(second.get());
  });
}

TEST(ChannelCoroutinesOutside, ContinueOnTheThreadThatBringsTheItem) {
  channel<int> c(1);
  std::thread::id continued_on;
  const auto wait = [](channel<int>& from, std::thread::id& on) -> future<int> {
    auto item = co_await from.async_receive();
    on = std::this_thread::get_id();
    co_return *item;
  };
  future<int> waits = wait(c, continued_on);
  std::thread other([&] { EXPECT_TRUE(c.send(5)); });
  const std::thread::id sender = other.get_id();
  other.join();
  EXPECT_EQ(waits.get(), 5);
  EXPECT_EQ(continued_on, sender);
}

/// A coroutine that its owner may destroy.
struct owned {
  struct promise_type {
    owned get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_always final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const { throw; }
  };
  std::coroutine_handle<promise_type> handle;
};

TEST(ChannelCoroutinesOutside, MayBeDestroyedWhileTheyWait) {
  channel<int> c(1);
  int received = 0;
  const auto wait = [](channel<int>& from, int& into) -> owned {
    into = *co_await from.async_receive();
  };
  const owned gone = wait(c, received), stays = wait(c, received);
  gone.handle.destroy();
  EXPECT_TRUE(c.send(4));
  EXPECT_EQ(received, 4);
  EXPECT_TRUE(stays.handle.done());
  stays.handle.destroy();
  EXPECT_EQ(c.size(), 0U);
}

}  // namespace
