// SPDX-License-Identifier: Apache-2.0
// Messages between host threads: contents, order, sizes, moves, requests, failing ranks.
#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/host/spmd.hpp>

namespace {

using namespace creek;
using comm = host_communicator;

std::vector<std::uint32_t> pattern(std::size_t n, std::uint32_t seed) {
  std::vector<std::uint32_t> v(n);
  for (std::uint32_t& x : v) x = seed = seed * 1664525u + 1013904223u;
  return v;
}

// Sizes around a line, a chunk, and the limit above which a message is handed over.
const std::size_t sizes[] = {1, 13, 16, 17, 511, 512, 513, 1024, 1025, 5000, 100'000};

class Transports : public testing::TestWithParam<std::size_t> {
 protected:
  [[nodiscard]] spmd_options options() const {
    return {.messages = {.hand_over_above = GetParam()}};
  }
};

TEST_P(Transports, CarryMessagesOfAllSizesInOrder) {
  spmd(
      3,
      [](comm& c) {
        for (const std::size_t n : sizes) {
          const int to = (c.rank() + 1) % 3, from = (c.rank() + 2) % 3;
          const auto out = pattern(n, static_cast<std::uint32_t>(c.rank()));
          std::vector<std::uint32_t> in(n);
          c.exchange(std::span{out}, to, std::span{in}, from);
          ASSERT_EQ(in, pattern(n, static_cast<std::uint32_t>(from)));
        }
      },
      options());
}

// Messages are pending while the layout of the sections changes; long ones are handed over.
TEST_P(Transports, ThroughWriteSectionsThatChangeTheirLayout) {
  spmd_options options = this->options();
  options.messages.buffers = message_buffers::write_sections;
  options.messages.chunks_in_flight = 2;
  spmd(
      3,
      [](comm& c) {
        for (const std::size_t n : sizes) {
          const int to = (c.rank() + 1) % 3, from = (c.rank() + 2) % 3;
          const auto out = pattern(n, static_cast<std::uint32_t>(c.rank()));
          std::vector<std::uint32_t> in(n);
          comm::request sending = c.isend(std::span{out}, to);
          c.declare_neighbours(neighbour_graph::grid({3}));
          comm::request receiving = c.irecv(std::span{in}, from);
          (void)receiving.test();
          c.forget_neighbours();
          receiving.wait();
          sending.wait();
          ASSERT_EQ(in, pattern(n, static_cast<std::uint32_t>(from)));
        }
      },
      options);
}

TEST_P(Transports, CarryMessagesToOneself) {
  spmd(
      1,
      [](comm& c) {
        for (const std::size_t n : sizes) {
          const auto out = pattern(n, 5);
          std::vector<std::uint32_t> in(n);
          c.exchange(std::span{out}, 0, std::span{in}, 0);
          ASSERT_EQ(in, out);
        }
      },
      options());
}

TEST_P(Transports, KeepManyRequestsInOrder) {
  spmd(
      2,
      [](comm& c) {
        const auto a = pattern(3000, 1), b = pattern(10, 2), d = pattern(50'000, 3);
        if (c.rank() == 0) {
          auto first = c.isend(std::span{a}, 1);
          auto second = c.isend(std::span{b}, 1);
          auto third = c.isend(std::span{d}, 1);
          third.wait();
          EXPECT_TRUE(first.test());
          EXPECT_TRUE(second.test());
        } else {
          std::vector<std::uint32_t> x(a.size()), y(b.size()), z(d.size());
          auto first = c.irecv(std::span{x}, 0);
          auto second = c.irecv(std::span{y}, 0);
          auto third = c.irecv(std::span{z}, 0);
          while (!third.test()) std::this_thread::yield();
          EXPECT_EQ(x, a);
          EXPECT_EQ(y, b);
          EXPECT_EQ(z, d);
        }
      },
      options());
}

// Both send first: each must receive the other's message while it waits.
TEST_P(Transports, PushReceivesOnWhileASendWaits) {
  spmd(
      2,
      [](comm& c) {
        const int other = 1 - c.rank();
        const auto out = pattern(20'000, 3);
        std::vector<std::uint32_t> in(out.size());
        auto receiving = c.irecv(std::span{in}, other);
        c.send(std::span{out}, other);
        receiving.wait();
        EXPECT_EQ(in, out);
      },
      options());
}

INSTANTIATE_TEST_SUITE_P(ChunkedAndHandedOver, Transports,
                         testing::Values(std::size_t(-1), 4096, 0));

TEST(Messages, AnEmptyMessageIsNone) {
  spmd(2, [](comm& c) {
    std::vector<int> nothing;
    if (c.rank() == 0) c.send(std::span<const int>{nothing}, 1);
    c.barrier();
    if (c.rank() == 1) c.recv(std::span{nothing}, 0);
  });
}

TEST(Messages, ValuesOfAnyTriviallyCopyableType) {
  struct point {
    double x, y;
    char tag;
  };
  spmd(2, [](comm& c) {
    if (c.rank() == 0) {
      c.send(point{1.5, 2.5, 'p'}, 1);
      c.post(point{3.5, 4.5, 'q'}, 1);
    } else {
      EXPECT_EQ(c.recv<point>(0).y, 2.5);
      EXPECT_EQ(c.take<point>(0).tag, 'q');
    }
  });
}

TEST(Messages, ObjectsMoveWithoutCopies) {
  spmd(2, [](comm& c) {
    if (c.rank() == 0) {
      std::vector<int> big(1'000'000, 7);
      const int* where = big.data();
      c.send(reinterpret_cast<std::uintptr_t>(where), 1);
      c.send_moved(std::move(big), 1);
      c.send_moved(std::make_unique<std::string>("owned"), 1);
    } else {
      const auto where = c.recv<std::uintptr_t>(0);
      const auto big = c.recv_moved<std::vector<int>>(0);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(big.data()), where);
      EXPECT_EQ(big.size(), 1'000'000u);
      EXPECT_EQ(*c.recv_moved<std::unique_ptr<std::string>>(0), "owned");
    }
  });
}

TEST(Mailbox, KeepsOrderWithAFullRing) {
  spmd(2, [](comm& c) {
    for (std::uint32_t n = 0; n < 20'000; ++n) {
      if (c.rank() == 0) c.post(n, 1);
      if (c.rank() == 1) {
        ASSERT_EQ(c.take<std::uint32_t>(0), n);
      }
    }
  });
}

TEST(Mailbox, CarriesLongMessagesThroughASmallRing) {
  spmd(2,
       [](comm& c) {
         for (const std::size_t n : sizes) {
           const auto out = pattern(n, 9);
           if (c.rank() == 0) {
             c.post(std::span{out}, 1);
           } else {
             std::vector<std::uint32_t> in(n);
             c.take(std::span{in}, 0);
             ASSERT_EQ(in, out);
           }
         }
       },
       {.messages = {.mailbox_lines = 1}});
}

TEST(Mailbox, SaysFullAndEmpty) {
  spmd(2,
       [](comm& c) {
         EXPECT_FALSE(c.try_take<int>(1 - c.rank()));
         c.barrier();
         if (c.rank() == 0) {
           EXPECT_TRUE(c.try_post(1, 1));
           EXPECT_TRUE(c.try_post(2, 1));
           EXPECT_FALSE(c.try_post(3, 1));
         }
         c.barrier();
         if (c.rank() == 1) {
           EXPECT_EQ(c.try_take<int>(0), 1);
           EXPECT_EQ(c.try_take<int>(0), 2);
           EXPECT_FALSE(c.try_take<int>(0));
         }
       },
       {.messages = {.mailbox_lines = 2}});
}

TEST(Messages, SubTeamsAndReusedMemory) {
  spmd(5,
       [](comm& c, symmetric_allocator& allocator) {
         const std::size_t before = allocator.free_bytes();
         for (int round = 0; round < 20; ++round) {
           std::vector<core_id> mine;
           for (int core = c.rank() % 2; core < 5; core += 2) mine.push_back(core_id{core});
           comm half{c,
                     allocator,
                     team{mine, core_id{c.rank()}},
                     {.buffer_bytes = 256, .mailbox_lines = 1}};
           const int sum = half.allreduce(c.rank(), std::plus{});
           EXPECT_EQ(sum, c.rank() % 2 == 0 ? 6 : 4);
           if (half.rank() == 0) half.post(round, 1);
           if (half.rank() == 1) {
             EXPECT_EQ(half.take<int>(0), round);
           }
           c.barrier();
         }
         EXPECT_EQ(allocator.free_bytes(), before);
       },
       {.memory = {.mpm_bytes = 32768}});
}

TEST(Messages, SayWhatIsWrong) {
  spmd(1, [](comm& c) {
    EXPECT_THROW(c.send(1, 1), usage_error);
    EXPECT_THROW(c.send(1, -1), usage_error);
  });
  EXPECT_THROW(spmd(2, [](comm&) {}, {.memory = {.mpm_bytes = 256}}), usage_error);
}

struct planned {
  int rank;
};

TEST(Spmd, ReleasesTheOthersWhenARankThrows) {
  for (const int ranks : {2, 5, 16}) {
    for (const int culprit : {0, ranks - 1}) {
      std::atomic<int> released{0};
      try {
        spmd(ranks, [&](comm& c) {
          if (c.rank() == culprit) throw planned{culprit};
          try {
            for (;;) c.barrier();
          } catch (const error& e) {
            EXPECT_EQ(e.code().value(), ECANCELED);
            ++released;
            throw;
          }
        });
        ADD_FAILURE() << "nothing thrown";
      } catch (const planned& p) {
        EXPECT_EQ(p.rank, culprit);
      }
      EXPECT_EQ(released, ranks - 1);
    }
  }
}

// The sender leaves while its receiver may still read the sender's memory.
TEST(Spmd, LeavesNoOneReadingMemoryThatIsGone) {
  for (int round = 0; round < 50; ++round) {
    const auto run = [round] {
      spmd(3, [round](comm& c) {
        if (c.rank() == 2) {
          for (int spin = 0; spin < round * 20; ++spin) std::this_thread::yield();
          throw planned{2};
        }
        for (;;) {
          if (c.rank() == 0) {
            c.send_moved(std::vector<int>(3000, round), 1);
          } else {
            EXPECT_EQ(c.recv_moved<std::vector<int>>(0).back(), round);
          }
        }
      });
    };
    EXPECT_THROW(run(), planned);
  }
}

}  // namespace
