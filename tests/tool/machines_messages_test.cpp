// SPDX-License-Identifier: Apache-2.0
// The model's word count and LU send the messages of the real ones: both run on the simulated
// ranks, the real ones with data.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <creek/host.hpp>
#include <creek/linalg/grids.hpp>
#include <creek/mapreduce/inputs/words.hpp>
#include <creek/mapreduce/jobs/word_count.hpp>
#include <creek/mapreduce/machines.hpp>
#include <support/zipf_text.hpp>

#include "studies/machines/lu_model.hpp"
#include "studies/machines/model_communicator.hpp"
#include "studies/machines/word_count_model.hpp"

namespace {

using namespace creek::tool::machines;
using creek::linalg::index_t;

/// Sizes of the messages of each pair of ranks, in their order.
using traffic = std::map<std::pair<int, int>, std::vector<std::size_t>>;

template <class F>
traffic traffic_of(int ranks, F body) {
  rank_simulation on(ranks, with_network("aries"));
  on.keep_log();
  on.run([&](int rank) {
    model_communicator c(on, rank);
    body(c);
  });
  traffic found;
  for (const message_record& each : on.log()) found[{each.from, each.to}].push_back(each.bytes);
  return found;
}

TEST(machines_messages, of_the_model_of_lu_are_those_of_getrf_on_grid) {
  const std::pair<int, int> shapes[] = {{1, 1}, {1, 2}, {2, 1}, {2, 2}, {3, 2}, {2, 3}, {4, 4}};
  for (const auto& shape : shapes) {
    const int rows = shape.first, cols = shape.second;
    for (const index_t n : {37, 64}) {
      const index_t block = 8;
      std::vector<index_t> pivots(static_cast<std::size_t>(n));
      const traffic real = traffic_of(rows * cols, [&](model_communicator& c) {
        const auto grid = creek::linalg::process_grid::of(rows, cols, c.rank());
        std::vector<double> mine(static_cast<std::size_t>(n * n));
        const creek::linalg::grid_view<double> A(grid, n, n, block, block, mine.data(), n);
        const auto local = A.local();
        for (index_t j = 0; j < local.cols(); ++j) {
          for (index_t i = 0; i < local.rows(); ++i) {
            const auto at = A.rows().global(i) * n + A.cols().global(j);
            local(i, j) = creek_bench::random_bits(static_cast<std::uint64_t>(at)).unit();
          }
        }
        std::vector<index_t> own(pivots.size());
        EXPECT_EQ(creek::linalg::getrf_on_grid(c, A, std::span<index_t>(own)), 0);
        if (c.rank() == 0) pivots = own;
      });
      const lu_problem problem(n, block, rows, cols,
                               [&](index_t i) { return pivots[static_cast<std::size_t>(i)]; });
      const traffic model = traffic_of(
          rows * cols, [&](model_communicator& c) { lu_rank(c, with_network("aries"), problem); });
      EXPECT_EQ(model, real) << rows << " x " << cols << ", n " << n;
    }
  }
}

TEST(machines_messages, of_the_model_of_word_count_are_those_of_run_on_machines) {
  using namespace creek::mapreduce;
  const std::string text = creek_bench::zipf_text(20'000, 500);
  for (const int ranks : {1, 2, 3, 8}) {
    text_view from(text, 700);
    // Words that each rank finds, and those that belong to it.
    std::vector<std::map<std::string_view, int>> found(static_cast<std::size_t>(ranks));
    std::vector<std::map<std::string_view, int>> owned(found.size());
    const auto owner = [&](std::string_view word) {
      return detail::owner_of(word_count{}, word, found.size());
    };
    for (int rank = 0; rank < ranks; ++rank) {
      const own_splits<text_view> mine(from, rank, ranks);
      for (std::size_t i = 0; i < mine.splits(); ++i) {
        mine.visit(i, [&](const text_split& split) {
          for_each_word(split.text, [&](std::string_view word) {
            ++found[static_cast<std::size_t>(rank)][word];
            ++owned[owner(word)][word];
          });
        });
      }
    }
    const auto bytes_of = [](std::string_view word) {
      return sizeof(std::uint32_t) + word.size() + sizeof(std::uint64_t);
    };
    word_count_sizes sizes;
    sizes.part = [&](int sender, int, int to) {
      std::uint64_t sum = 0;
      for (const auto& each : found[static_cast<std::size_t>(sender)]) {
        if (owner(each.first) == static_cast<std::size_t>(to)) sum += bytes_of(each.first);
      }
      return sum;
    };
    sizes.result = [&](int rank) {
      std::uint64_t sum = 0;
      for (const auto& each : owned[static_cast<std::size_t>(rank)]) sum += bytes_of(each.first);
      return sum;
    };
    creek::runtime workers{creek::host{1}};
    const traffic real = traffic_of(ranks, [&](model_communicator& c) {
      const auto counts = run_on_machines(word_count{}, c, workers, from);
      std::size_t words = 0;
      for (const auto& each : owned) words += each.size();
      EXPECT_EQ(counts.distinct, c.rank() == 0 ? words : 0);
    });
    const traffic model = traffic_of(
        ranks, [&](model_communicator& c) { word_count_rank(c, with_network("aries"), sizes); });
    EXPECT_EQ(model, real) << ranks << " ranks";
  }
}

}  // namespace
