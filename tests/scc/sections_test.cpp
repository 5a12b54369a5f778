// SPDX-License-Identifier: Apache-2.0
// Messages by write sections on the simulated chip, and changes of their layout between and during
// messages; all under the coherence checker.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/scc/placement.hpp>
#include <creek/scc/spmd.hpp>

#include "checker_cases.hpp"
#include "support/few_cases.hpp"
#include "support/seed.hpp"

namespace {

using namespace creek;
using bytes = std::vector<std::uint8_t>;

communicator_options sections(std::uint32_t chunks = 1, std::size_t buffer = 0) {
  return {.buffer_bytes = buffer,
          .chunks_in_flight = chunks,
          .buffers = message_buffers::write_sections};
}

template <class F>
scc_backend::run_report run(int ranks, F f, communicator_options messages = sections()) {
  auto report = simulate(ranks, f, {.check = true}, messages);
  EXPECT_EQ(text_of(report.faults), "");
  return report;
}

bytes message(std::size_t size, int from, int number = 0) {
  bytes data(size);
  std::iota(data.begin(), data.end(), static_cast<std::uint8_t>(7 * from + number));
  return data;
}

/// Exchanges messages of the size with the next and the previous rank.
void pass_a_ring(scc_communicator& c, std::size_t size) {
  const int next = (c.rank() + 1) % c.size(), before = (c.rank() + c.size() - 1) % c.size();
  const bytes out = message(size, c.rank());
  bytes in(size);
  c.exchange(std::span<const std::uint8_t>{out}, next, std::span{in}, before);
  EXPECT_EQ(in, message(size, before)) << size;
}

class by_sections : public ::testing::TestWithParam<int> {};

TEST_P(by_sections, messages_of_sizes_around_the_borders_of_sections) {
  for (const std::uint32_t chunks : {1u, 2u}) {
    const auto body = [](scc_communicator& c) {
      for (const std::size_t size :
           {0, 1, 31, 32, 33, 63, 64, 65, 95, 96, 97, 127, 128, 129, 1000}) {
        pass_a_ring(c, size);
      }
      c.declare_neighbours(neighbour_graph::grid({c.size()}, {true}));
      for (const std::size_t size : {1, 64, 65, 479, 480, 481, 3000}) pass_a_ring(c, size);
      c.forget_neighbours();
      pass_a_ring(c, 97);
    };
    run(GetParam(), body, sections(chunks));
  }
}

TEST_P(by_sections, collectives_and_mail_agree_with_arithmetic) {
  const int ranks = GetParam();
  run(ranks, [&](scc_communicator& c) {
    EXPECT_EQ(c.allreduce(c.rank() + 1, std::plus{}), ranks * (ranks + 1) / 2);
    std::vector<int> values(200, c.rank());
    c.bcast(std::span{values}, ranks - 1);
    EXPECT_EQ(values, std::vector<int>(200, ranks - 1));
    c.post(c.rank(), (c.rank() + 1) % ranks);
    EXPECT_EQ(c.take<int>((c.rank() + ranks - 1) % ranks), (c.rank() + ranks - 1) % ranks);
  });
}

TEST_P(by_sections, all_send_to_one) {
  run(GetParam(), [](scc_communicator& c) {
    for (int round = 0; round < 3; ++round) {
      const std::size_t size = 150;
      if (c.rank() != 0) {
        c.send(std::span<const std::uint8_t>{message(size, c.rank(), round)}, 0);
        continue;
      }
      for (int from = c.size() - 1; from > 0; --from) {
        bytes in(size);
        c.recv(std::span{in}, from);
        EXPECT_EQ(in, message(size, from, round));
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(scc, by_sections,
                         ::testing::Values(1, 2, 3, 5, 12, support::few_cases ? 16 : 48));

/// Every rank sends every rank messages of random sizes, all pending at once, while all change the
/// layout between random numbers of pushes.
scc_backend::run_report random_traffic(int ranks, std::uint64_t seed) {
  return run(
      ranks,
      [=](scc_communicator& c) {
        constexpr int each = 3;
        std::mt19937_64 sizes(seed), mine(seed + 1 + static_cast<std::uint64_t>(c.rank()));
        std::vector<bytes> out, in;
        std::vector<bytes> expected;
        std::vector<std::unique_ptr<scc_communicator::request>> pending;
        out.reserve(512), in.reserve(512);
        for (int number = 0; number < each; ++number) {
          for (int from = 0; from < c.size(); ++from) {
            for (int to = 0; to < c.size(); ++to) {
              const std::size_t size = sizes() % 700;
              if (c.rank() == from) out.push_back(message(size, from, number));
              if (c.rank() == from)
                pending.emplace_back(
                    new auto(c.isend(std::span<const std::uint8_t>{out.back()}, to)));
              if (c.rank() != to) continue;
              in.emplace_back(size);
              expected.push_back(message(size, from, number));
              pending.emplace_back(new auto(c.irecv(std::span{in.back()}, from)));
            }
          }
        }
        std::mt19937_64 graphs(seed);
        for (int change = 0; change < 4; ++change) {
          for (std::uint64_t n = mine() % 6; n > 0; --n) {
            (void)pending[mine() % pending.size()]->test();
          }
          if (graphs() % 3 == 0) {
            c.forget_neighbours();
          } else {
            c.declare_neighbours(neighbour_graph::grid({c.size()}, {graphs() % 2 == 0}));
          }
        }
        for (auto& request : pending) request->wait();
        EXPECT_EQ(in, expected);
      },
      sections());
}

TEST(layout_switch, in_the_middle_of_random_traffic) {
  const std::uint64_t seed = support::chosen_seed();
  SCOPED_TRACE("CREEK_TEST_SEED=" + std::to_string(seed));
  for (int round = 0; round < (support::few_cases ? 2 : 8); ++round) {
    for (const int ranks : {2, 3, 6, 8}) {
      (void)random_traffic(ranks, seed + static_cast<std::uint64_t>(round));
    }
  }
}

TEST(layout_switch, repeats_to_the_cycle) {
  const auto first = random_traffic(6, 5), second = random_traffic(6, 5);
  EXPECT_EQ(first.ended, second.ended);
  EXPECT_EQ(first.switches, second.switches);
}

TEST(layout_switch, gives_neighbours_longer_sections) {
  const auto halo = [](bool by_neighbours) {
    return run(48,
               [=](scc_communicator& c) {
                 const auto ring = neighbour_graph::grid({48}, {true});
                 if (by_neighbours) {
                   const std::vector<int> near = c.declare_neighbours(ring);
                   EXPECT_EQ(near, (std::vector{(c.rank() + 47) % 48, (c.rank() + 1) % 48}));
                 }
                 for (int i = 0; i < 4; ++i) pass_a_ring(c, 2000);
               })
        .length();
  };
  EXPECT_LT(halo(true), halo(false));
}

TEST(layout_switch, refuses_a_graph_of_other_ranks) {
  run(2, [](scc_communicator& c) {
    EXPECT_THROW(c.declare_neighbours(neighbour_graph::grid({3})), usage_error);
  });
}

TEST(sections_on_parts, of_a_communicator_in_memory_used_before) {
  const auto body = [](scc_communicator& c, symmetric_allocator& allocator) {
    for (int round = 0; round < 2; ++round) {
      std::vector<core_id> members;
      for (int rank = c.rank() % 2; rank < c.size(); rank += 2) members.push_back(core_id{rank});
      scc_communicator part{c, allocator, team{members, c.memory().self()}, sections(1, 1024)};
      pass_a_ring(part, 300);
      part.barrier();
      c.barrier();
    }
  };
  run(8, body, sections(1, 2048));
}

TEST(sections_without_room, are_refused) {
  EXPECT_THROW(simulate(
                   48, [](scc_communicator&) {}, {}, sections(1, 1024)),
               usage_error);
}

TEST(placed_ranks, are_nearer_than_ranks_in_order) {
  const auto graph = neighbour_graph::grid({6, 8});
  const auto chip = scc_backend::chip::scc_533();
  const auto cores = scc_backend::place_ranks(graph, chip);
  std::vector<core_id> in_order;
  for (int i = 0; i < 48; ++i) in_order.push_back(core_id{i});
  EXPECT_LT(scc_backend::hops_between_neighbours(graph, chip, cores),
            scc_backend::hops_between_neighbours(graph, chip, in_order));
  simulate_on(cores, [&](scc_communicator& c) {
    EXPECT_EQ(c.memory().self(), cores[static_cast<std::size_t>(c.rank())]);
    pass_a_ring(c, 100);
  });
  EXPECT_THROW(simulate_on({core_id{1}, core_id{1}}, [](scc_communicator&) {}), usage_error);
  EXPECT_THROW(simulate_on({core_id{48}}, [](scc_communicator&) {}), usage_error);
}

}  // namespace
