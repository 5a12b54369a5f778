// SPDX-License-Identifier: Apache-2.0
// Graphs with empty nodes, built once and run `rounds` times: the cost of a node and its edges. A
// chain, a wavefront over a square, a binary tree, and a random graph whose nodes have up to four
// predecessors among the 1000 before them. OpenMP has no graph to keep: it makes its tasks anew.
#pragma once
#include <cmath>
#include <random>

#include "harness/marks.hpp"
#include "harness/workload.hpp"

namespace bench::graph {

inline constexpr int rounds = 10;

/// The body of each node: counts its runs, so that a round that leaves one out gives a wrong
/// answer.
inline void count_run(std::uint8_t* slot) {
  ++*slot;
  asm volatile("" : : "r"(slot) : "memory");
}

/// Predecessors of each node; all have smaller numbers.
using edges = std::vector<std::vector<std::int64_t>>;

inline edges chain_of(std::int64_t n) {
  edges before(static_cast<std::size_t>(n));
  for (std::int64_t i = 1; i < n; ++i) before[static_cast<std::size_t>(i)] = {i - 1};
  return before;
}
inline edges wavefront_of(std::int64_t n) {
  const auto side = static_cast<std::int64_t>(std::sqrt(static_cast<double>(n)));
  edges before(static_cast<std::size_t>(side * side));
  for (std::int64_t i = 0; i < side * side; ++i) {
    auto& of = before[static_cast<std::size_t>(i)];
    if (i % side != 0) of.push_back(i - 1);
    if (i >= side) of.push_back(i - side);
  }
  return before;
}
inline edges tree_of(std::int64_t n) {
  edges before(static_cast<std::size_t>(n));
  for (std::int64_t i = 1; i < n; ++i) before[static_cast<std::size_t>(i)] = {(i - 1) / 2};
  return before;
}
inline edges random_of(std::int64_t n) {
  edges before(static_cast<std::size_t>(n));
  std::mt19937_64 random(1);
  for (std::int64_t i = 1; i < n; ++i) {
    auto& of = before[static_cast<std::size_t>(i)];
    const auto window = static_cast<std::uint64_t>(std::min<std::int64_t>(i, 1000));
    for (std::uint64_t k = 1 + random() % 4; k > 0; --k) {
      of.push_back(i - 1 - static_cast<std::int64_t>(random() % window));
    }
    std::sort(of.begin(), of.end());
    of.erase(std::unique(of.begin(), of.end()), of.end());
  }
  return before;
}

inline constexpr description chain{.name = "graph_chain",
                                   .about = "a kept graph of empty nodes: a chain",
                                   .unit = "ns/node",
                                   .full = 65'536,
                                   .quick = 16'384,
                                   .smoke = 100};
inline constexpr description wavefront{.name = "graph_wavefront",
                                       .about = "a kept graph of empty nodes: a wavefront",
                                       .unit = "ns/node",
                                       .full = 65'536,
                                       .quick = 16'384,
                                       .smoke = 100};
inline constexpr description tree{.name = "graph_tree",
                                  .about = "a kept graph of empty nodes: a binary tree",
                                  .unit = "ns/node",
                                  .full = 65'536,
                                  .quick = 16'384,
                                  .smoke = 100};
inline constexpr description random{.name = "graph_random",
                                    .about = "a kept graph of empty nodes: up to 4 edges each",
                                    .unit = "ns/node",
                                    .full = 65'536,
                                    .quick = 16'384,
                                    .smoke = 100};

/// Registers run(settings, edges) for each shape.
template <auto Run>
struct shapes {
  registration chain{graph::chain, [](const settings& s) { return Run(s, chain_of(s.n)); }};
  registration wavefront{graph::wavefront,
                         [](const settings& s) { return Run(s, wavefront_of(s.n)); }};
  registration tree{graph::tree, [](const settings& s) { return Run(s, tree_of(s.n)); }};
  registration random{graph::random, [](const settings& s) { return Run(s, random_of(s.n)); }};
};

/// Calls run_once() untimed, then `rounds` times timed.
template <class RunOnce>
sample measure(marks& done, std::size_t nodes, const RunOnce& run_once) {
  run_once();
  const double ns = timed([&] {
    for (int round = 0; round < rounds; ++round) run_once();
  });
  return {ns, static_cast<double>(nodes) * rounds, done.sum()};
}

}  // namespace bench::graph
