// SPDX-License-Identifier: Apache-2.0
// Layouts of write sections, graphs of neighbours, and the placement of ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/core/messages/neighbour_graph.hpp>
#include <creek/core/messages/placement.hpp>
#include <creek/core/messages/section_layout.hpp>

#include "support/seed.hpp"

namespace {

using namespace creek;

constexpr std::size_t line = 32;

std::vector<int> listed(const neighbour_graph& graph, int rank) {
  return {graph.of(rank).begin(), graph.of(rank).end()};
}

TEST(neighbours, of_a_grid_are_listed_by_dimension_and_direction) {
  const auto flat = neighbour_graph::grid({3, 4});
  EXPECT_EQ(listed(flat, 0), (std::vector{4, 1}));
  EXPECT_EQ(listed(flat, 5), (std::vector{1, 9, 4, 6}));
  const auto torus = neighbour_graph::grid({3, 4}, {true, true});
  EXPECT_EQ(listed(torus, 0), (std::vector{8, 4, 3, 1}));
  const auto narrow = neighbour_graph::grid({2, 1, 3}, {true, true, false});
  EXPECT_EQ(listed(narrow, 0), (std::vector{3, 1}));  // no rank twice, and not itself
}

TEST(neighbours, that_do_not_agree_are_refused) {
  using lists = std::vector<std::vector<int>>;
  EXPECT_THROW(neighbour_graph(lists{{1}, {}}), usage_error);
  EXPECT_THROW(neighbour_graph(lists{{0}}), usage_error);
  EXPECT_THROW(neighbour_graph(lists{{1, 1}, {0, 0}}), usage_error);
  EXPECT_THROW(neighbour_graph(lists{{2}, {}}), usage_error);
  EXPECT_THROW((void)neighbour_graph::grid({0}), usage_error);
  EXPECT_THROW((void)neighbour_graph::grid({2, 2}, {true}), usage_error);
}

/// Expects whole lines inside of `bytes` that belong to one section each.
void expect_apart(const section_layout& layout, int ranks, std::size_t bytes) {
  for (int receiver = 0; receiver < ranks; ++receiver) {
    std::vector<int> used(bytes / line);
    for (int sender = 0; sender < ranks; ++sender) {
      const write_section s = layout.of(receiver, sender);
      EXPECT_EQ((s.flags % line) + (s.data % line) + (s.bytes % line), 0u);
      ASSERT_GE(s.bytes, line);
      ASSERT_LE(s.data + s.bytes, bytes);
      ++used[s.flags / line];
      for (std::size_t i = 0; i < s.bytes / line; ++i) ++used[s.data / line + i];
    }
    EXPECT_LE(*std::max_element(used.begin(), used.end()), 1);
  }
}

TEST(equal_sections, have_the_published_size) {
  for (const int ranks : {2, 3, 12, 24, 48}) {
    const section_layout layout(ranks, 8192 + 64, line);  // 64: of messages to oneself
    const std::size_t whole = 8192 / static_cast<std::size_t>(ranks - 1) / line * line;
    EXPECT_EQ(layout.of(0, 1).bytes, whole - line);
    EXPECT_EQ(layout.of(ranks - 1, ranks - 2).bytes, whole - line);
    expect_apart(layout, ranks, 8192 + 64);
  }
  EXPECT_THROW(section_layout(48, 2048, line), usage_error);
}

TEST(sections_by_neighbours, leave_96_bytes_to_others_and_share_the_rest) {
  const auto graph = neighbour_graph::grid({6, 8});
  const section_layout layout(graph, 8192 + 64, line);
  expect_apart(layout, 48, 8192 + 64);
  EXPECT_EQ(layout.of(9, 30).bytes, 64u);  // and a flag line
  // 47 flag lines, 64 bytes for each of 43, the rest for four.
  EXPECT_EQ(layout.of(9, 10).bytes, (8192u - 47 * 32 - 43 * 64) / 4 / 32 * 32);
  EXPECT_EQ(layout.of(0, 1).bytes, (8192u - 47 * 32 - 45 * 64) / 2 / 32 * 32);
  EXPECT_THROW(section_layout(graph, 4096, line), usage_error);
}

// Returns the cost of the best placement by trying all.
std::int64_t min_cost(const neighbour_graph& graph, const place_distances& distances) {
  std::vector<int> order(static_cast<std::size_t>(distances.places()));
  std::iota(order.begin(), order.end(), 0);
  std::int64_t least = placement_cost(graph, distances, order);
  do {
    least = std::min(least, placement_cost(graph, distances, order));
  } while (std::next_permutation(order.begin(), order.end()));
  return least;
}

place_distances mesh(int columns, int rows) {
  std::vector<int> all;
  const int places = columns * rows;
  for (int a = 0; a < places; ++a) {
    for (int b = 0; b < places; ++b) {
      all.push_back(std::abs(a % columns - b % columns) + std::abs(a / columns - b / columns));
    }
  }
  return place_distances(std::move(all));
}

void expect_all_different(std::vector<int> placement) {
  std::sort(placement.begin(), placement.end());
  EXPECT_EQ(std::adjacent_find(placement.begin(), placement.end()), placement.end());
}

TEST(placement, is_the_best_for_small_rings_grids_and_stars) {
  const auto places = mesh(4, 2);
  std::vector<std::vector<int>> star(6);
  for (int i = 1; i < 6; ++i) {
    star[0].push_back(i);
    star[static_cast<std::size_t>(i)].push_back(0);
  }
  for (const auto& graph :
       {neighbour_graph::grid({8}, {true}), neighbour_graph::grid({7}),
        neighbour_graph::grid({2, 4}), neighbour_graph::grid({2, 2, 2}), neighbour_graph(star)}) {
    const auto found = place_near(graph, places);
    expect_all_different(found);
    EXPECT_EQ(placement_cost(graph, places, found), min_cost(graph, places)) << graph.size();
    EXPECT_EQ(found, place_near(graph, places));
  }
}

TEST(placement, of_random_graphs_is_never_worse_than_ranks_in_order) {
  const std::uint64_t seed = support::chosen_seed();
  SCOPED_TRACE("CREEK_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  const auto places = mesh(6, 4);
  for (int round = 0; round < 10; ++round) {
    const int ranks = 2 + static_cast<int>(random() % 23);
    std::vector<std::vector<int>> lists(static_cast<std::size_t>(ranks));
    for (int a = 0; a < ranks; ++a) {
      for (int b = a + 1; b < ranks; ++b) {
        if (random() % 4 != 0) continue;
        lists[static_cast<std::size_t>(a)].push_back(b);
        lists[static_cast<std::size_t>(b)].push_back(a);
      }
    }
    const neighbour_graph graph(lists);
    std::vector<int> in_order(static_cast<std::size_t>(ranks));
    std::iota(in_order.begin(), in_order.end(), 0);
    const auto found = place_near(graph, places);
    expect_all_different(found);
    EXPECT_LE(placement_cost(graph, places, found), placement_cost(graph, places, in_order));
  }
  EXPECT_THROW((void)place_near(neighbour_graph::grid({25}), places), usage_error);
}

/// Ranks of 16 machines in turns: neighbours come together on a machine.
TEST(placement, of_many_ranks_takes_few_trials) {
  constexpr int places = 256, machines = 16;
  std::vector<int> distances;
  for (int a = 0; a < places; ++a) {
    for (int b = 0; b < places; ++b) {
      distances.push_back(a == b ? 0 : a % machines == b % machines ? 1 : 64);
    }
  }
  const place_distances between(std::move(distances));
  const auto graph = neighbour_graph::grid({16, 16});
  std::vector<int> in_order(places);
  std::iota(in_order.begin(), in_order.end(), 0);
  const auto found = place_near(graph, between);
  expect_all_different(found);
  // Rows of 16 ranks on each machine cost 15 600, blocks of 4 x 4 cost 6528.
  EXPECT_LE(placement_cost(graph, between, found), 11'000);
}

}  // namespace
