// SPDX-License-Identifier: Apache-2.0
// Objects on ranks that are host threads, and messages that no rank sends.
#include <creek/core/objects/object_space.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <creek/host/spmd.hpp>

#include "object_space_cases.hpp"

namespace creek {
namespace {

using namespace object_space_cases;

class ObjectSpace : public testing::TestWithParam<int> {};

TEST_P(ObjectSpace, OnHostThreads) {
  spmd(GetParam(), [](host_communicator& c) { run_all(c); });
}

INSTANTIATE_TEST_SUITE_P(Sizes, ObjectSpace, testing::Values(1, 2, 3, 5));

TEST(ObjectSpaceUse, IsOnePerThread) {
  spmd(2, [](host_communicator& c) {
    EXPECT_THROW((void)object_space::current(), usage_error);
    object_space space(c);
    EXPECT_EQ(&object_space::current(), &space);
    EXPECT_THROW(object_space second(c), usage_error);
  });
  EXPECT_THROW((void)global_ref<account>().call<&account::balance>(), usage_error);
}

TEST(ObjectSpaceUse, DoesNotWaitForOthersAfterAnException) {
  const auto body = [](host_communicator& c) {
    object_space space(c);
    if (c.rank() == 1) throw error(EIO, "a rank that ends");
  };
  EXPECT_EQ(what_of<error>([&] { spmd(3, body); }), "a rank that ends: Input/output error");
}

TEST(ObjectSpaceUse, ResultsMayOutliveIt) {
  spmd(1, [](host_communicator& c) {
    async_result<long> kept;
    constexpr auto seven = [] { return 7l; };
    {
      object_space space(c);
      kept = space.async_on<seven>(0);
    }
    EXPECT_EQ(kept.get(), 7);
  });
}

TEST(ObjectSpaceUse, FindsACallThatWaitsForItself) {
  spmd(1, [](host_communicator& c) {
    static thread_local async_result<void>* own;
    object_space space(c);
    constexpr auto wait = [] { own->wait(); };
    async_result<void> mine = space.async_on<wait>(0);
    own = &mine;
    EXPECT_THROW(mine.get(), usage_error);
  });
}

/// The messages of one rank of two; the other one is the test.
class planted_messages final : public rank_messages {
 public:
  std::deque<std::vector<std::byte>> arrived;
  std::deque<std::vector<std::byte>> sent;
  std::deque<std::vector<message_block>> sent_blocks;
  std::vector<std::uint32_t> arriving_sizes;  ///< of the blocks of each message that arrives
  std::size_t min_block = no_blocks;
  [[nodiscard]] std::size_t min_block_bytes() const noexcept override { return min_block; }
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 2; }
  std::function<void()> at_receive;  ///< called before each look
  [[nodiscard]] bool try_receive(message& to) override {
    if (at_receive) at_receive();
    if (arrived.empty()) return false;
    to.from = 1;
    to.size = to.head = arrived.front().size();
    to.memory = arrived.front();
    to.target = nullptr;
    if (!arriving_sizes.empty()) {
      to.target = receiver_of_blocks().prepare(1, to.memory, arriving_sizes);
      for (const auto block : to.target->blocks) std::ranges::fill(block, std::byte{'b'});
    }
    arrived.pop_front();
    return true;
  }
  void receive(message& to) override {
    if (!try_receive(to)) throw error(ENODATA, "the other rank sends nothing");
  }

 private:
  void begin_send(outgoing_message&& message, int) override {
    sent.push_back(std::move(message.bytes));
    sent_blocks.push_back(std::move(message.blocks));
  }
};

struct planted_ranks {
  planted_messages* messages = nullptr;
  [[nodiscard]] int rank() const { return 0; }
  [[nodiscard]] int size() const { return 2; }
  template <class T, class Op>
  T allreduce(T own, Op) {
    return own;
  }
  std::unique_ptr<rank_messages> make_rank_messages() {
    auto made = std::make_unique<planted_messages>();
    messages = made.get();
    return made;
  }
};

/// Runs `body(space, messages)` and leaves the object space by an exception, without a barrier.
template <class Body>
void with_planted_messages(Body&& body) {
  struct over {};
  try {
    planted_ranks ranks;
    auto made = ranks.make_rank_messages();
    object_space space(ranks);
    body(space, *ranks.messages);
    throw over{};
  } catch (const over&) {
  }
}

std::vector<std::byte> message_of(const std::vector<std::uint32_t>& words) {
  std::vector<std::byte> made(words.size() * sizeof(std::uint32_t));
  std::memcpy(made.data(), words.data(), made.size());
  return made;
}

bool is_failure(const std::vector<std::byte>& message) {
  std::uint32_t code = 0;
  std::memcpy(&code, message.data() + 4, sizeof code);
  return code == 4;
}

TEST(ObjectSpaceMessages, ThatAreMalformedAreErrors) {
  for (std::size_t bytes = 4; bytes < 20; bytes += 4) {
    with_planted_messages([&](object_space& space, planted_messages& to) {
      to.arrived.emplace_back(bytes);
      EXPECT_NE(what_of<error>([&] { space.poll(); }).find("which are no call"), std::string::npos);
    });
  }
  // Length, function * 16 + kind, request, object.
  const std::vector<std::vector<std::uint32_t>> wrong{
      {20, 9, 0, 0, 0},                               // no such kind
      {20, 15, 0, 0, 0},          {20, 3, 3, 0, 0},   // answers to calls that nobody made
      {20, 4, 0xffff'ffff, 0, 0}, {20, 5, 50, 0, 0},  // credit for what was not sent
      {20, 7, 0, 0, 0},                               // counts that are cut off
      {32, 7, 0, 0, 0, 1, 2, 3},
  };
  for (const auto& words : wrong) {
    with_planted_messages([&](object_space& space, planted_messages& to) {
      to.arrived.push_back(message_of(words));
      EXPECT_NE(what_of<error>([&] { space.poll(); }), "nothing thrown") << words[1];
    });
  }
}

TEST(ObjectSpaceMessages, OfMalformedCallsAreAnsweredByErrors) {
  const std::vector<std::vector<std::uint32_t>> wrong{
      {20, 0xfffff0, 1, 0, 0},  // no such function
      {20, 2, 1, 9, 9},         // no such object
  };
  for (const auto& words : wrong) {
    with_planted_messages([&](object_space& space, planted_messages& to) {
      to.arrived.push_back(message_of(words));
      EXPECT_EQ(space.poll(), 1u);
      ASSERT_EQ(to.sent.size(), 1u);
      EXPECT_TRUE(is_failure(to.sent[0]));
    });
  }
}

/// Each call and each answer with its end cut off, or with a byte too many.
TEST(ObjectSpaceMessages, OfWrongLengthAreErrors) {
  with_planted_messages([&](object_space& space, planted_messages& to) {
    const table one{{"abc", {1, 2}}};
    auto answer =
        space.async_on<&give_back>(1, one, shape{"s", 1.5, {}}, "text", std::vector{true});
    const std::vector<std::byte> call = to.sent.at(0);
    for (std::size_t length = 20; length <= call.size() + 1; ++length) {
      if (length == call.size()) continue;
      to.sent.clear();
      std::vector<std::byte> cut = call;
      cut.resize(length);
      to.arrived.push_back(cut);
      space.poll();
      ASSERT_TRUE(is_failure(to.sent.at(0))) << length;
    }
    // The whole one is answered; the answer comes back with its end cut off.
    to.sent.clear();
    to.arrived.push_back(call);
    space.poll();
    std::vector<std::byte> result = to.sent.at(0);
    result.pop_back();
    to.arrived.push_back(result);
    EXPECT_NE(what_of<error>([&] { answer.get(); }).find("bytes left"), std::string::npos);
  });
}

struct refuses_to_be_sent {
  template <class Archive>
  void serialize(Archive&) {
    throw std::runtime_error("not to be sent");
  }
};

/// The slot of a reply is used again if writing the arguments throws.
TEST(ObjectSpaceMessages, LeaveNothingIfAnArgumentThrows) {
  with_planted_messages([&](object_space& space, planted_messages& to) {
    constexpr auto take = [](refuses_to_be_sent) { return 1; };
    constexpr auto one = [] { return 1; };
    for (int i = 0; i < 3; ++i) {
      EXPECT_THROW((void)space.async_on<take>(1, refuses_to_be_sent{}), std::runtime_error);
    }
    const auto answer = space.async_on<one>(1);
    ASSERT_EQ(to.sent.size(), 1u);
    std::uint32_t request = 9;
    std::memcpy(&request, to.sent[0].data() + 8, sizeof request);
    EXPECT_EQ(request, 0u);
  });
}

std::string joined(const std::string& a, std::string_view b) {
  return a + std::string(b);
}

TEST(ObjectSpaceMessages, HaveBlocksThatAreMovedOrCopiedOnce) {
  with_planted_messages([&](object_space& space, planted_messages& to) {
    to.min_block = 100;
    std::string text(100, 'x');
    const void* const memory = text.data();
    space.post_on<&joined>(1, std::move(text), "short");
    ASSERT_EQ(to.sent_blocks.at(0).size(), 1u);
    EXPECT_EQ(to.sent_blocks[0][0].bytes.data(), memory);
    EXPECT_NE(to.sent_blocks[0][0].owner, nullptr);
    const std::string kept(200, 'y');
    space.post_on<&joined>(1, kept, std::string_view(kept));
    ASSERT_EQ(to.sent_blocks.at(1).size(), 2u);
    for (const message_block& each : to.sent_blocks[1]) {
      EXPECT_NE(each.bytes.data(), static_cast<const void*>(kept.data()));
      EXPECT_NE(each.owner, nullptr);
      EXPECT_TRUE(std::ranges::equal(each.bytes, std::as_bytes(std::span(kept))));
    }
  });
}

std::size_t length_of(const std::pmr::vector<char>& text) {
  return text.size();
}

struct without_default {
  explicit without_default(int of) : number(of) {}
  int number;
};
std::size_t count_of(const std::vector<without_default>& all) {
  return all.size();
}

/// The memory resource may be gone when the block is sent.
TEST(ObjectSpaceMessages, CopyWhatIsInMemoryOfTheCaller) {
  with_planted_messages([&](object_space& space, planted_messages& to) {
    to.min_block = 100;
    std::pmr::monotonic_buffer_resource memory;
    std::pmr::vector<char> text(200, 'x', &memory);
    const void* const begin = text.data();
    space.post_on<&length_of>(1, std::move(text));
    ASSERT_EQ(to.sent_blocks.at(0).size(), 1u);
    EXPECT_NE(to.sent_blocks[0][0].bytes.data(), begin);
    EXPECT_NE(to.sent_blocks[0][0].owner, nullptr);
    // Elements that are made from numbers only have no blocks.
    space.post_on<&count_of>(1, std::vector<without_default>(100, without_default(3)));
    EXPECT_TRUE(to.sent_blocks.at(1).empty());
  });
}

/// A call whose blocks have other sizes than it states, or which has none, is answered by an error.
TEST(ObjectSpaceMessages, WithBlocksOfOtherSizesAreErrors) {
  with_planted_messages([&](object_space& space, planted_messages& to) {
    to.min_block = 100;
    auto answer = space.async_on<&joined>(1, std::string(100, 'a'), std::string(300, 'b'));
    const std::vector<std::byte> call = to.sent.at(0);
    const std::vector<std::vector<std::uint32_t>> wrong{{300, 100}, {100},      {400},
                                                        {100, 299}, {100, 301}, {100, 300, 100}};
    for (const auto& sizes : wrong) {
      to.sent.clear();
      to.arriving_sizes = sizes;
      to.arrived.push_back(call);
      space.poll();
      ASSERT_TRUE(is_failure(to.sent.at(0))) << sizes.size() << ' ' << sizes[0];
    }
    constexpr auto none = [](int) {};
    to.sent.clear();
    space.post_on<none>(1, 1);
    to.arrived.push_back(std::exchange(to.sent[0], {}));
    to.arriving_sizes = {100};
    EXPECT_THROW(space.poll(), error);
    // The right sizes, and the answer with them.
    to.sent.clear();
    to.sent_blocks.clear();
    to.arriving_sizes = {100, 300};
    to.arrived.push_back(call);
    space.poll();
    ASSERT_FALSE(is_failure(to.sent.at(0)));
    ASSERT_EQ(to.sent_blocks.at(0).size(), 1u);
    EXPECT_EQ(to.sent_blocks[0][0].bytes.size(), 400u);
    to.arriving_sizes = {400};
    to.arrived.push_back(to.sent[0]);
    EXPECT_EQ(answer.get(), std::string(400, 'b'));
  });
}

/// One worker that keeps its calls until the test lets it run them.
struct planted_workers final : rank_workers {
  std::deque<deferred_call_ptr>* calls;
  explicit planted_workers(std::deque<deferred_call_ptr>& to) : calls(&to) {}
  struct port final : call_port {
    std::deque<deferred_call_ptr>* calls;
    explicit port(std::deque<deferred_call_ptr>& to) : calls(&to) {}
    void post(deferred_call_ptr call) noexcept override { calls->push_back(std::move(call)); }
  };
  [[nodiscard]] int count() const noexcept override { return 1; }
  std::unique_ptr<call_port> open(int) override { return std::make_unique<port>(*calls); }
};

void run_next(std::deque<deferred_call_ptr>& calls) {
  const deferred_call_ptr call = std::move(calls.front());
  calls.pop_front();
  call->run();
}

/// Calls on workers are answered, and counted as received, when they have ended; in any order.
TEST(ObjectSpaceWorkers, AnswerWhenTheyHaveRunTheCall) {
  std::deque<deferred_call_ptr> calls;
  with_planted_messages([&](object_space& space, planted_messages& to) {
    space.set_workers(std::make_unique<planted_workers>(calls));
    constexpr auto twice = [](const std::string& text) { return text + text; };
    auto first = space.async_on<twice>(worker_address{1, 0}, "ab");
    auto second = space.async_on<twice>(worker_address{1, 0}, "cd");
    const std::vector<std::byte> one = to.sent.at(0), two = to.sent.at(1);
    to.sent.clear();
    to.arrived = {one, two};
    EXPECT_EQ(space.poll(), 2u);
    ASSERT_EQ(calls.size(), 2u);
    EXPECT_TRUE(to.sent.empty());
    std::swap(calls[0], calls[1]);
    run_next(calls);
    space.poll();
    ASSERT_EQ(to.sent.size(), 1u);
    to.arrived.push_back(to.sent[0]);
    EXPECT_TRUE(second.is_ready());
    EXPECT_FALSE(first.is_ready());
    EXPECT_EQ(second.get(), "cdcd");
    // A call that is refused, as by the end of the runtime.
    calls.front()->fail(std::make_exception_ptr(error(EIO, "no worker")));
    calls.clear();
    space.poll();
    to.arrived.push_back(to.sent.at(1));
    EXPECT_EQ(what_of<error>([&] { first.get(); }), "no worker: Input/output error");
    // No such worker.
    to.arrived.push_back(one);
    const std::uint32_t third_worker = 3;
    std::memcpy(to.arrived[0].data() + 12, &third_worker, sizeof third_worker);
    space.poll();
    EXPECT_TRUE(is_failure(to.sent.at(2)));
  });
}

/// A rank with a call on a worker counts it neither as received nor itself as quiet.
TEST(ObjectSpaceWorkers, DelayTheEndOfBarriers) {
  std::deque<deferred_call_ptr> calls;
  with_planted_messages([&](object_space& space, planted_messages& to) {
    space.set_workers(std::make_unique<planted_workers>(calls));
    constexpr auto none = [] {};
    space.post_on<none>(worker_address{1, 0});
    to.arrived.push_back(std::exchange(to.sent[0], {}));
    to.sent.clear();
    space.poll();
    ASSERT_EQ(calls.size(), 1u);
    std::size_t answers = 0, looks = 0;
    to.at_receive = [&] {
      if (!calls.empty()) {
        EXPECT_TRUE(to.sent.empty());  // not before the call has ended
        if (++looks == 5) run_next(calls);
        return;
      }
      // The other rank answers each question: one message sent, one received.
      if (to.sent.size() == answers) return;
      ++answers;
      to.arrived.push_back(message_of({36, 7, 0, 0, 0, 1, 0, 1, 0}));
    };
    space.barrier();
    EXPECT_TRUE(calls.empty());
    EXPECT_EQ(to.sent.size(), 3u);  // asks twice, then releases
  });
}

/// The memory of a call stays as it is until its worker has run it, also that of blocks.
TEST(ObjectSpaceWorkers, KeepTheArgumentsOfCalls) {
  std::deque<deferred_call_ptr> calls;
  with_planted_messages([&](object_space& space, planted_messages& to) {
    space.set_workers(std::make_unique<planted_workers>(calls));
    to.min_block = 100;
    constexpr auto view = [](std::string_view a, std::string_view b) {
      return std::string(a) + std::string(b);
    };
    auto answer = space.async_on<view>(worker_address{1, 0}, "short", std::string(100, 'x'));
    const std::vector<std::byte> call = to.sent.at(0);
    to.sent.clear();
    to.arriving_sizes = {100};
    to.arrived.push_back(call);
    space.poll();
    to.arriving_sizes.clear();
    for (int i = 0; i < 3; ++i) {  // would use the memory of a message that is recycled
      constexpr auto length = [](const std::string& text) { return text.size(); };
      auto other = space.async_on<length>(1, std::string(90, 'z'));
      to.arrived.push_back(to.sent.back());
      space.poll();
    }
    to.sent.clear();
    to.sent_blocks.clear();
    run_next(calls);
    space.poll();
    ASSERT_EQ(to.sent.size(), 1u);
    ASSERT_EQ(to.sent_blocks.at(0).size(), 1u);
    const auto bytes = to.sent_blocks[0][0].bytes;
    const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    EXPECT_EQ(text, "short" + std::string(100, 'b'));
  });
}

}  // namespace
}  // namespace creek
