// SPDX-License-Identifier: Apache-2.0
// The model of many machines: times of messages in closed form, waits, failures, and that a run
// repeats.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <creek/core/error.hpp>

#include "../../support/unbalanced_tree.hpp"
#include "studies/machines/lu_model.hpp"
#include "studies/machines/model_communicator.hpp"
#include "studies/machines/stealing_model.hpp"
#include "studies/machines/word_count_model.hpp"

namespace {

using namespace creek::tool::machines;
using creek::exact_time;

constexpr exact_time operator""_ns(unsigned long long count) {
  return {static_cast<std::int64_t>(count) * 1'000'000};
}

/// Latency 1200 ns, of which 350 at each rank; 10 bytes per ns.
constants round_numbers() {
  constants made = with_network("aries");
  made.latency_us = 1.2;
  made.overhead_us = 0.35;
  made.gap_us = 0.5;
  made.bandwidth_GBs = 10;
  made.eager_KiB = 64;
  return made;
}

template <class F>
exact_time time_of(int ranks, const constants& costs, F body) {
  rank_simulation on(ranks, costs);
  on.run([&](int rank) {
    model_communicator c(on, rank);
    body(c);
  });
  return on.end();
}

void play_ping_pong(model_communicator& c, std::size_t bytes) {
  if (c.rank() == 0) {
    c.send(blank{bytes}, 1);
    c.recv(blank{bytes}, 1);
  } else {
    c.recv(blank{bytes}, 0);
    c.send(blank{bytes}, 0);
  }
}

TEST(machines_model, a_message_takes_latency_and_bytes_by_bandwidth) {
  const constants costs = round_numbers();
  for (const std::size_t bytes : {0, 10, 10'000}) {
    const exact_time half = 1200_ns + exact_time{static_cast<std::int64_t>(bytes) * 100'000};
    EXPECT_EQ(time_of(2, costs, [&](auto& c) { play_ping_pong(c, bytes); }), 2 * half) << bytes;
  }
}

TEST(machines_model, a_long_message_waits_for_its_receiver) {
  // The question and the answer travel without the processors: 500 ns each.
  EXPECT_EQ(time_of(2, round_numbers(), [](auto& c) { play_ping_pong(c, 100'000); }),
            2 * (1200_ns + 1000_ns + 10'000_ns));
  // One whose receive is late leaves when the receiver's answer is there.
  const exact_time late = time_of(2, round_numbers(), [](model_communicator& c) {
    if (c.rank() == 0) return c.send(blank{100'000}, 1);
    c.compute(creek::units::seconds{50e-6});
    c.recv(blank{100'000}, 0);
  });
  EXPECT_EQ(late, 50'000_ns + 500_ns + 500_ns + 10'000_ns + 350_ns);
}

TEST(machines_model, messages_to_one_rank_queue_at_its_port) {
  constexpr int senders = 7;
  const exact_time end = time_of(senders + 1, round_numbers(), [](model_communicator& c) {
    if (c.rank() != 0) return c.send(blank{50'000}, 0);
    for (int from = 1; from <= senders; ++from) c.recv(blank{50'000}, from);
  });
  EXPECT_EQ(end, 350_ns + 500_ns + senders * 5000_ns + 350_ns);
}

TEST(machines_model, messages_of_one_rank_leave_one_after_the_other) {
  const exact_time end = time_of(8, round_numbers(), [](model_communicator& c) {
    for (int to = 1; c.rank() == 0 && to < c.size(); ++to) c.send(blank{50'000}, to);
    if (c.rank() != 0) c.recv(blank{50'000}, 0);
  });
  EXPECT_EQ(end, 350_ns + 7 * 5000_ns + 500_ns + 350_ns);
  // Short ones at the rate that the gap allows.
  const exact_time rate = time_of(2, round_numbers(), [](model_communicator& c) {
    for (int i = 0; i < 100; ++i) c.rank() == 0 ? c.send(blank{1}, 1) : c.recv(blank{1}, 0);
  });
  EXPECT_EQ(rate, 350_ns + 99 * 500_ns + 500_ns + exact_time{100'000} + 350_ns);
}

TEST(machines_model, an_all_to_all_takes_a_message_per_step) {
  for (const int ranks : {2, 5, 16}) {
    const exact_time end = time_of(ranks, round_numbers(), [](model_communicator& c) {
      std::vector<char> out(static_cast<std::size_t>(c.size()) * 10'000), in(out.size());
      c.all_to_all(std::span<const char>(out), std::span<char>(in));
    });
    EXPECT_EQ(end, (ranks - 1) * (1200_ns + 1000_ns)) << ranks;
  }
}

TEST(machines_model, collectives_carry_values) {
  (void)time_of(6, round_numbers(), [](model_communicator& c) {
    EXPECT_EQ(c.allreduce(c.rank(), [](int a, int b) { return a + b; }), 15);
    EXPECT_EQ(c.bcast(c.rank() + 10, 4), 14);
    const std::vector<int> all = c.allgather(c.rank() * 2);
    EXPECT_THAT(all, testing::ElementsAre(0, 2, 4, 6, 8, 10));
  });
}

TEST(machines_model, a_long_wait_ends_up_to_an_eighth_late) {
  const exact_time ready = 10'000'000_ns + 1200_ns;
  const exact_time end = time_of(2, round_numbers(), [](model_communicator& c) {
    if (c.rank() != 0) return c.recv(blank{0}, 0);
    c.compute(creek::units::seconds{10e-3});
    c.send(blank{0}, 1);
  });
  EXPECT_GT(end, ready);
  EXPECT_LE(end, ready + exact_time{ready.femtoseconds / 8});
  constants polls = round_numbers();
  polls.spin_us = 1e9;
  EXPECT_EQ(time_of(2, polls,
                    [](model_communicator& c) {
                      if (c.rank() != 0) return c.recv(blank{0}, 0);
                      c.compute(creek::units::seconds{10e-3});
                      c.send(blank{0}, 1);
                    }),
            ready);
}

TEST(machines_model, posted_messages_are_taken_in_the_order_of_arrival) {
  std::vector<int> order;
  (void)time_of(4, round_numbers(), [&](model_communicator& c) {
    if (c.rank() == 0) {
      for (int i = 0; i < 3; ++i) order.push_back(c.take().from);
      return;
    }
    c.compute(creek::units::seconds{1e-6 * (4 - c.rank())});
    c.post(0, 1, {});
  });
  EXPECT_THAT(order, testing::ElementsAre(3, 2, 1));
}

TEST(machines_model, failures_end_the_run) {
  const auto waits_in_vain = [](model_communicator& c) {
    if (c.rank() != 0) c.recv(blank{1}, 0);
  };
  EXPECT_THROW(time_of(3, round_numbers(), waits_in_vain), creek::error);
  const auto throws = [](model_communicator& c) {
    if (c.rank() == 1) throw std::out_of_range("rank 1");
    c.recv(blank{1}, 1);
  };
  EXPECT_THROW(time_of(3, round_numbers(), throws), std::out_of_range);
  EXPECT_THROW(time_of(2, round_numbers(), [](auto& c) { c.send(blank{1}, 2); }),
               creek::usage_error);
  EXPECT_THROW(time_of(2, round_numbers(),
                       [](model_communicator& c) {
                         c.rank() == 0 ? c.send(blank{1}, 1) : c.recv(blank{2}, 0);
                       }),
               creek::usage_error);
}

TEST(machines_model, constants_are_set_by_name) {
  constants costs = with_network("tcp");
  set_constant(costs, "node_ns=12.5");
  EXPECT_EQ(costs.node_ns, 12.5);
  EXPECT_THROW(set_constant(costs, "node_ns"), creek::usage_error);
  EXPECT_THROW(set_constant(costs, "nodes=1"), creek::usage_error);
  EXPECT_THROW(set_constant(costs, "node_ns=-1"), creek::usage_error);
  EXPECT_THROW(set_constant(costs, "node_ns=1x"), creek::usage_error);
  EXPECT_THROW(set_constant(costs, "bandwidth_GBs=0"), creek::usage_error);
  EXPECT_THROW(set_constant(costs, "vocabulary=1e9"), creek::usage_error);
  EXPECT_THROW((void)with_network("token ring"), creek::usage_error);
}

TEST(machines_model, different_words_of_small_texts) {
  EXPECT_NEAR(different_words(1, 1000), 1, 1e-9);
  // Two words: p1 = 2/3 and p2 = 1/3, so that both occur among two with 4/9.
  EXPECT_NEAR(different_words(2, 2), 1 + 4.0 / 9, 1e-9);
  EXPECT_NEAR(different_words(1e9, 1000), 1000, 1e-6);
}

using figures = std::tuple<exact_time, std::uint64_t, std::uint64_t>;

template <class F>
figures run_of(int ranks, F body) {
  rank_simulation on(ranks, round_numbers());
  on.run([&](int rank) {
    model_communicator c(on, rank);
    body(c);
  });
  return {on.end(), on.messages(), on.bytes()};
}

TEST(machines_model, searches_find_every_node_and_repeat) {
  const std::uint64_t nodes = creek_bench::count_nodes(creek_bench::tree_root(), 7);
  constants looks_often = round_numbers();
  looks_often.poll_us = 1;
  for (const int ranks : {1, 2, 3, 7, 16, 64}) {
    search_outcome first, second;
    const auto search = [&](search_outcome& found, std::uint64_t seed) {
      return run_of(ranks, [&](model_communicator& c) {
        search_rank(c, looks_often, {.depth_limit = 7, .seed = seed}, found);
      });
    };
    EXPECT_EQ(search(first, 1), search(second, 1)) << ranks;
    EXPECT_EQ(first.nodes, nodes) << ranks;
    EXPECT_EQ(first.steals, second.steals);
    EXPECT_EQ(first.failed_steals, second.failed_steals);
    if (ranks > 1) {
      EXPECT_GE(first.rounds, 2U);
      EXPECT_GT(first.steals, 0U);
    }
    if (ranks < 7) continue;
    search_outcome other;
    EXPECT_NE(search(second, 1), search(other, 2)) << ranks;
    EXPECT_EQ(other.nodes, nodes);
  }
}

TEST(machines_model, a_search_ends_after_two_rounds_of_counts) {
  // The root has four leaves, and all are expanded before rank 0 looks for messages.
  search_outcome found;
  constants costs = round_numbers();
  costs.node_ns = 1000;
  const figures whole =
      run_of(2, [&](model_communicator& c) { search_rank(c, costs, {.depth_limit = 1}, found); });
  EXPECT_EQ(found.nodes, 5U);
  EXPECT_EQ(found.steals, 0U);
  EXPECT_EQ(found.rounds, 2U);
  // Asks and refusals, a request at the lifeline of each, two rounds, the end.
  EXPECT_EQ(std::get<1>(whole), 2 * (2 + 2) + 2 + 2 * 2 + 1U);
}

TEST(machines_model, lifelines_are_those_of_a_hypercube) {
  EXPECT_THAT(lifelines_of(0, 8), testing::ElementsAre(1, 2, 4));
  EXPECT_THAT(lifelines_of(5, 8), testing::ElementsAre(4, 7, 1));
  EXPECT_THAT(lifelines_of(4, 6), testing::ElementsAre(5, 0));
  EXPECT_TRUE(lifelines_of(0, 1).empty());
}

TEST(machines_model, two_ranks_count_words_in_the_time_of_their_parts) {
  constants costs = round_numbers();
  costs.bandwidth_GBs = 1e9;
  word_count_sizes sizes;
  sizes.input_bytes = 1e6;
  sizes.table_pairs = 1e4;
  sizes.sent_pairs = 5e3;
  sizes.grouped_pairs = 12e3;
  sizes.result_pairs = 10;
  sizes.part = [](int, int, int) { return 5; };
  sizes.result = [](int) { return 5; };
  const double computed = 1e6 * costs.map_ns_per_byte + 1e4 * costs.table_ns_per_pair +
                          5e3 * costs.group_ns_per_pair + 12e3 * costs.reduce_ns_per_pair +
                          10 * (costs.put_ns_per_pair + costs.merge_ns_per_pair);
  const exact_time end =
      time_of(2, costs, [&](model_communicator& c) { word_count_rank(c, costs, sizes); });
  // Messages one after the other: sizes of the input, lengths, pairs, totals, the size of the
  // result and the result itself; all collectives of two ranks are one message each way.
  const double messages = end.in_seconds().value * 1e9 - computed;
  EXPECT_GE(messages, 5 * 1200);
  EXPECT_LE(messages, 7 * 1200);
  // On one rank nothing is sent, and all words of the table are the result.
  EXPECT_NEAR(
      time_of(1, costs, [&](model_communicator& c) { word_count_rank(c, costs, sizes); })
              .in_seconds()
              .value *
          1e9,
      1e6 * costs.map_ns_per_byte + 1e4 * costs.table_ns_per_pair + 12e3 * costs.reduce_ns_per_pair,
      1);
}

TEST(machines_model, factorizations_and_counts_repeat) {
  const lu_problem problem(600, 64, 3, 4, [](auto i) { return random_pivot(i, 600); });
  const auto factor = [&](model_communicator& c) { lu_rank(c, round_numbers(), problem); };
  EXPECT_EQ(run_of(12, factor), run_of(12, factor));
  const word_count_sizes sizes = sizes_of_text(round_numbers(), 1e9, 12, 2, 0);
  const auto count = [&](model_communicator& c) { word_count_rank(c, round_numbers(), sizes); };
  EXPECT_EQ(run_of(12, count), run_of(12, count));
}

}  // namespace
