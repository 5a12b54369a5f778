// SPDX-License-Identifier: Apache-2.0
// The protocols that RCCE programs choose between, on host threads and on the simulated chip:
// routes of a broadcast, pipelined messages, barriers, receives from any rank, cancelled requests.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include <creek/core/charge.hpp>
#include <creek/core/protocols/gather_release_barrier.hpp>
#include <creek/core/protocols/test_and_set_barrier.hpp>
#include <creek/core/protocols/test_and_set_lock.hpp>
#include <creek/host/spmd.hpp>
#include <creek/scc/spmd.hpp>

namespace {

using namespace creek;

const int rank_counts[] = {1, 2, 3, 4, 7, 8, 16};

/// Runs `f(communicator, allocator)` on every backend.
template <class F>
void on_both(int ranks, F f, communicator_options messages = {}) {
  spmd(ranks, f, {.messages = messages});
  simulate(ranks, f, {}, messages);
}

TEST(broadcast_routes, reach_every_rank_from_every_root) {
  for (const int ranks : rank_counts) {
    for (const std::uint32_t parts : {1u, 2u}) {
      on_both(ranks,
              [&](auto& c, symmetric_allocator&) {
                for (int kind = 0; kind < 5; ++kind) {
                  for (const int root : {0, ranks / 2, ranks - 1}) {
                    std::vector<int> data(1500, c.rank() == root ? kind + root : -1);
                    c.bcast(std::span{data}, root, static_cast<broadcast_kind>(kind));
                    EXPECT_EQ(data, std::vector<int>(1500, kind + root));
                  }
                }
              },
              {.hand_over_above = std::size_t{1} << 30, .chunks_in_flight = parts});
    }
  }
}

TEST(pipelined_messages, take_less_virtual_time_than_chunks_one_by_one) {
  const auto time_of = [](std::uint32_t parts) {
    return simulate(2,
                    [](scc_communicator& c) {
                      std::vector<std::uint32_t> data(16384);
                      if (c.rank() == 0) {
                        std::iota(data.begin(), data.end(), 7u);
                        c.send(std::span<const std::uint32_t>{data}, 1);
                      } else {
                        c.recv(std::span{data}, 0);
                        EXPECT_EQ(data[0], 7u);
                        EXPECT_EQ(data[16383], 16390u);
                      }
                    },
                    {}, {.chunks_in_flight = parts})
        .length();
  };
  EXPECT_LT(time_of(2).femtoseconds * 10, time_of(1).femtoseconds * 8);
}

TEST(pipelined_messages, of_any_size_and_buffer_arrive_whole) {
  for (const std::size_t buffer : {64u, 96u, 160u, 1024u}) {
    on_both(
        2,
        [&](auto& c, symmetric_allocator&) {
          for (const std::size_t size : {0, 1, 31, 32, 33, 64, 65, 1000, 5000}) {
            std::vector<std::uint8_t> out(size), in(size);
            std::iota(out.begin(), out.end(), static_cast<std::uint8_t>(c.rank()));
            c.exchange(std::span<const std::uint8_t>{out}, 1 - c.rank(), std::span{in},
                       1 - c.rank());
            std::iota(out.begin(), out.end(), static_cast<std::uint8_t>(1 - c.rank()));
            EXPECT_EQ(in, out) << size << " bytes through " << buffer;
          }
        },
        {.buffer_bytes = buffer, .hand_over_above = std::size_t{1} << 30, .chunks_in_flight = 2});
  }
}

/// Expects that no core leaves episode n before all have reached it. The words that show it are in
/// each core's own memory, and all others read them past their caches.
template <class Make>
void expect_barrier(Make make) {
  for (const int ranks : rank_counts) {
    on_both(ranks, [&](auto& c, symmetric_allocator& allocator) {
      const auto space = allocator.allocate(64), reached = allocator.allocate(64);
      ASSERT_TRUE(space && reached);
      auto& m = c.memory();
      auto barrier = make(m, c.members(), space->offset());
      c.barrier();
      const auto episode_of = [&](int rank) {
        return m.at(core_id{rank}, reached->offset()).template as<word>();
      };
      for (word episode = 1; episode <= 5; ++episode) {
        charge(cycles{static_cast<int>(episode) * 37 % (c.rank() + 5) * 100});
        m.store(episode_of(c.rank()), episode);
        barrier.wait();
        for (int rank = 0; rank < ranks; ++rank) EXPECT_GE(m.load(episode_of(rank)), episode);
      }
      c.barrier();
    });
  }
}

TEST(barriers_of_rcce, gather_release_waits_for_all) {
  expect_barrier([](auto& m, const team& members, std::size_t place) {
    return gather_release_barrier(m, members, place);
  });
}
TEST(barriers_of_rcce, test_and_set_waits_for_all) {
  expect_barrier(
      [](auto& m, const team& members, std::size_t) { return test_and_set_barrier(m, members); });
}

TEST(spin_lock_retry, both_kinds_exclude) {
  for (const lock_retry retry : {lock_retry::spin, lock_retry::backoff}) {
    int total = 0;  // only the lock keeps it consistent
    on_both(4, [&](auto& c, symmetric_allocator&) {
      test_and_set_lock lock(c.memory(), core_id{0}, retry);
      for (int i = 0; i < 20; ++i) {
        lock.lock();
        const int seen = total;
        c.memory().pause(cycles{10});
        total = seen + 1;
        lock.unlock();
      }
    });
    EXPECT_EQ(total, 2 * 4 * 20);
  }
}

/// Creates only the rendezvous layer, over memory that no other code uses.
template <class Memory>
rendezvous<Memory> make_rendezvous(Memory& memory, const team& members) {
  return {memory, members, {0, sizeof(word), 512, 256}};
}
template <class F>
void with_rendezvous(int ranks, F f) {
  host_backend::run_ranks(ranks, {}, [&](host_backend::memory& m) {
    auto messages = make_rendezvous(m, team{m});
    f(messages, m.self().value, m);
  });
  scc_backend::run_cores({}, [&](scc_backend::memory& m) {
    if (m.self().value >= ranks) return;
    auto messages = make_rendezvous(m, team{m});
    f(messages, m.self().value, m);
  });
}

TEST(receives_from_anybody, take_one_message_of_each_peer) {
  with_rendezvous(5, [](auto& messages, int me, auto&) {
    std::vector<int> data(200, me);
    const auto bytes = [](auto& v) { return reinterpret_cast<std::byte*>(v.data()); };
    if (me != 0) {
      message_request sent{bytes(data), 800, 0};
      messages.begin_send(sent);
      messages.wait(sent);
      return;
    }
    std::vector<int> from;
    for (int i = 1; i < 5; ++i) {
      message_request got{bytes(data), 800, any_peer};
      messages.begin_receive(got);
      messages.wait(got);
      EXPECT_EQ(data, std::vector<int>(200, got.peer));
      from.push_back(got.peer);
    }
    std::sort(from.begin(), from.end());
    EXPECT_EQ(from, (std::vector{1, 2, 3, 4}));
  });
}

TEST(requests_taken_back, only_before_their_first_byte) {
  with_rendezvous(2, [&](auto& messages, int me, auto& memory) {
    // Each rank waits for the other's part: there is no send before the receive is cancelled, and
    // no receive before the send is.
    enum part : word { nothing, receive_taken_back, send_taken_back };
    const auto done =
        memory.at(core_id{0}, 4096).template as<word>();  // after the space for messages
    const auto await = [&](part awaited) {
      memory.wait_until(done, [=](word seen) { return seen == awaited; });
    };
    int first = 1, second = 2, got = 0;
    const auto request = [&](int& value, int peer) {
      return message_request{reinterpret_cast<std::byte*>(&value), sizeof value, peer};
    };
    if (me == 0) {
      await(receive_taken_back);
      message_request a = request(first, 1), b = request(second, 1), c = request(second, 1);
      messages.begin_send(a);
      messages.begin_send(b);
      messages.begin_send(c);
      EXPECT_FALSE(messages.cancel(a));  // remains in the buffer
      EXPECT_TRUE(messages.cancel(b));
      memory.signal(done, send_taken_back);
      messages.wait(c);
      EXPECT_TRUE(a.complete);
      EXPECT_FALSE(b.complete);
    } else {
      message_request never = request(got, any_peer);
      messages.begin_receive(never);
      EXPECT_TRUE(messages.cancel(never));
      memory.signal(done, receive_taken_back);
      await(send_taken_back);
      message_request a = request(got, 0);
      messages.begin_receive(a);
      messages.wait(a);
      EXPECT_EQ(got, 1);
      message_request c = request(got, 0);
      messages.begin_receive(c);
      messages.wait(c);
      EXPECT_EQ(got, 2);
    }
  });
}

}  // namespace
