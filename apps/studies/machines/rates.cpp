// SPDX-License-Identifier: Apache-2.0
// Real programs on the simulated ranks, whose computation is measured, and the kernels of LU. All
// times are processor time of this process.
#include "rates.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <support/unbalanced_tree.hpp>
#include <support/zipf_text.hpp>
#include <utility>
#include <vector>

#include <creek/host.hpp>
#include <creek/host/spmd.hpp>
#include <creek/linalg/blas3.hpp>
#include <creek/linalg/grids.hpp>
#include <creek/linalg/lu.hpp>
#include <creek/mapreduce/inputs/words.hpp>
#include <creek/mapreduce/jobs/word_count.hpp>
#include <creek/mapreduce/machines.hpp>
#include <creek/tasking/movable_tasks.hpp>

#include "model_communicator.hpp"
#include "stealing_model.hpp"

namespace creek::tool::machines {
namespace {

using linalg::index_t;

constexpr int rounds = 5;

template <class F>
double seconds_of(F f) {
  const std::chrono::nanoseconds begin = process_cpu_time();
  f();
  return std::chrono::duration<double>(process_cpu_time() - begin).count();
}
/// Returns the shortest time of some rounds: other programs only add to it.
template <class F>
double shortest_seconds(F f) {
  std::vector<double> times;
  for (int i = 0; i < rounds; ++i) times.push_back(seconds_of(f));
  return std::ranges::min(times);
}

/// A node of the tree.
void visit(task_bag<std::uint64_t>& bag, creek_bench::tree_node at, std::int64_t depth_limit) {
  ++bag.result();
  const int count = creek_bench::children(at, depth_limit);
  for (int i = 0; i < count; ++i) bag.spawn<&visit>(creek_bench::child(at, i), depth_limit);
}

/// Returns words of seven digits, drawn by Zipf's law.
std::string text_of_numbers(std::size_t words, std::size_t vocabulary) {
  std::vector<double> cumulative(vocabulary);
  double sum = 0;
  for (std::size_t i = 0; i < vocabulary; ++i) {
    cumulative[i] = sum += 1 / static_cast<double>(i + 1);
  }
  creek_bench::random_bits random(1);
  std::string text;
  text.reserve(words * 8);
  for (std::size_t i = 0; i < words; ++i) {
    const auto at = std::ranges::upper_bound(cumulative, random.unit() * sum);
    const std::string digits = std::to_string(
        std::min<std::size_t>(static_cast<std::size_t>(at - cumulative.begin()), vocabulary - 1));
    text.append(7 - digits.size(), '0').append(digits).append(1, ' ');
  }
  return text;
}

/// Processor time of the stages of a run of word count, of all ranks together, and its sizes.
struct counted {
  double mapping = 0, grouping = 0, putting = 0, merging = 0;
  double bytes = 0, pairs = 0, sent = 0, grouped = 0, result = 0;
};

counted count_words(std::string_view text, int ranks, const constants& costs, std::size_t top) {
  counted made;
  runtime workers{host{1}};
  rank_simulation on(ranks, costs);
  on.measure_computation();
  on.run([&](int rank) {
    model_communicator c(on, rank);
    mapreduce::text_view from(text);
    const auto found =
        mapreduce::run_on_machines(mapreduce::word_count{}, c, workers, from, {.top = top});
    if (rank == 0) {
      made.result = static_cast<double>(found.distinct);
      made.sent = static_cast<double>(found.sent_bytes) / costs.pair_bytes;
    }
  });
  made.bytes = static_cast<double>(text.size());
  made.pairs = made.sent * ranks / (ranks - 1);  // hashes spread words equally
  made.grouped = made.sent + made.result;
  for (int i = 0; i < ranks; ++i) {
    made.mapping += on.computed_in(i, "mapping").in_seconds().value;
    made.grouping += on.computed_in(i, "grouping").in_seconds().value;
    (i == 0 ? made.merging : made.putting) +=
        on.computed_in(i, "gathering results").in_seconds().value;
  }
  return made;
}

/// Returns the run with the shortest time of each stage.
counted shortest_of_runs(std::string_view text, int ranks, const constants& costs,
                         std::size_t top) {
  std::vector<counted> runs;
  for (int i = 0; i < rounds; ++i) runs.push_back(count_words(text, ranks, costs, top));
  counted made = runs.back();
  for (double counted::*const stage :
       {&counted::mapping, &counted::grouping, &counted::putting, &counted::merging}) {
    std::vector<double> times;
    for (const counted& each : runs) times.push_back(each.*stage);
    made.*stage = std::ranges::min(times);
  }
  return made;
}

/// Solves a0 x + b0 y = c0, a1 x + b1 y = c1.
std::pair<double, double> solve(double a0, double b0, double c0, double a1, double b1, double c1) {
  const double determinant = a0 * b1 - a1 * b0;
  return {(c0 * b1 - c1 * b0) / determinant, (a0 * c1 - a1 * c0) / determinant};
}

void measure_word_count(constants& into) {
  constexpr std::size_t top = 10;
  const std::string text = text_of_numbers(16'000'000, static_cast<std::size_t>(into.vocabulary));
  const std::string_view part = std::string_view(text).substr(0, text.size() / 4);
  // A word takes the less time the more often it is there; ranks send one half, and 7/8, of their
  // pairs.
  const counted small = shortest_of_runs(part, 2, into, top);
  const counted large = shortest_of_runs(text, 2, into, top);
  const counted eight = shortest_of_runs(text, 8, into, top);
  const auto [map, table] =
      solve(small.bytes, small.pairs, small.mapping, large.bytes, large.pairs, large.mapping);
  const auto [group, reduce] =
      solve(small.sent, small.grouped, small.grouping, eight.sent, eight.grouped, eight.grouping);
  into.map_ns_per_byte = 1e9 * map;
  into.table_ns_per_pair = 1e9 * table;
  into.group_ns_per_pair = 1e9 * group;
  into.reduce_ns_per_pair = 1e9 * reduce;
  // With all words in the result ranks sort them as they group.
  const counted whole = shortest_of_runs(text, 2, into, 0);
  into.put_ns_per_pair = 1e9 * (whole.putting * 2 + whole.grouping - large.grouping) / whole.result;
  into.merge_ns_per_pair = 1e9 * whole.merging * 2 / whole.result;
}

std::vector<double> random_elements(std::size_t count) {
  creek_bench::random_bits random(2);
  std::vector<double> made(count);
  for (double& each : made) each = random.unit() - 0.5;
  return made;
}

std::size_t area(index_t rows, index_t cols) {
  return static_cast<std::size_t>(rows * cols);
}

using view = linalg::matrix_view<double>;
using const_view = linalg::const_view<double>;

/// Rates of an n x n part of a matrix.
struct update_rates {
  double gemm_GFs, rows_GBs;
};

update_rates measure_updates(index_t n, index_t block) {
  const index_t width = 256;  // of a strip, as in linalg/detail/grid_lu.hpp
  const std::vector<double> a = random_elements(area(n, block)),
                            b = random_elements(area(block, n));
  std::vector<double> c = random_elements(area(n, n)), rows(area(block, n));
  const double update = shortest_seconds([&] {
    for (index_t j = 0; j < n; j += width) {
      const index_t cols = std::min(width, n - j);
      linalg::gemm<double>(linalg::op::none, linalg::op::none, -1,
                           const_view(a.data(), n, block, n),
                           const_view(b.data(), block, n, block).columns(j, cols), 1,
                           view(c.data(), n, n, n).columns(j, cols));
    }
  });
  const double moved = shortest_seconds([&] {
    for (index_t j = 0; j < n; ++j) {
      for (index_t i = 0; i < block; ++i) {
        rows[area(i + j * block, 1)] = c[area((i * 61) % n + j * n, 1)];
      }
    }
  });
  return {2e-9 * static_cast<double>(n * n * block) / update,
          1e-9 * static_cast<double>(rows.size() * sizeof(double)) / moved};
}

/// Measures panels of the columns of a matrix, and copies of rows of it.
void measure_panels(constants& into, index_t block) {
  const index_t m = 4000, cols = 512;
  const std::vector<double> a = random_elements(area(m, block));
  const double operations = static_cast<double>(m * block * block);
  std::vector<index_t> pivots(static_cast<std::size_t>(block));
  std::vector<double> panel;
  std::vector<double> times, split_times;
  for (int i = 0; i < rounds; ++i) {
    panel = a;
    times.push_back(seconds_of([&] {
      (void)linalg::getrf<double>(view(panel.data(), m, block, m), std::span<index_t>(pivots));
    }));
    rank_simulation on(2, into);
    on.measure_computation();
    on.run([&](int rank) {
      model_communicator all(on, rank);
      const auto grid = linalg::process_grid::of(2, 1, rank);
      std::vector<double> mine = random_elements(area(m, block));
      const linalg::grid_view<double> A(grid, m, block, block, block, mine.data(), m);
      std::vector<index_t> exchanged(static_cast<std::size_t>(block));
      all.doing("factoring");
      (void)linalg::getrf_on_grid(all, A, std::span<index_t>(exchanged));
      all.doing("");
    });
    split_times.push_back(
        (on.computed_in(0, "factoring") + on.computed_in(1, "factoring")).in_seconds().value);
  }
  into.panel_GFs = 1e-9 * operations / std::ranges::min(times);
  into.split_panel_GFs = 1e-9 * operations / std::ranges::min(split_times);

  std::vector<double> top(area(block, cols)), message(area(2 * block, cols));
  const double copied = shortest_seconds([&] {
    linalg::copy<double>(const_view(top.data(), block, cols, block),
                         view(message.data(), block, cols, 2 * block));
  });
  into.copy_GBs = 1e-9 * static_cast<double>(top.size() * sizeof(double)) / copied;
}

void measure_lu(constants& into, index_t block) {
  const update_rates in_memory = measure_updates(4000, block),
                     in_cache = measure_updates(512, block);
  into.gemm_GFs = in_memory.gemm_GFs;
  into.rows_GBs = in_memory.rows_GBs;
  into.cached_gemm_GFs = in_cache.gemm_GFs;
  into.cached_rows_GBs = in_cache.rows_GBs;
  measure_panels(into, block);
}

}  // namespace

constants measured_rates(constants of, long long block) {
  measure_word_count(of);
  measure_lu(of, block);
  constexpr int depth = 11;
  std::uint64_t nodes = 0;
  double search = 0;
  spmd(1, [&](host_communicator& alone) {
    object_space space(alone);
    movable_tasks<std::uint64_t> tasks(space);
    search = shortest_seconds([&] {
      tasks.spawn<&visit>(creek_bench::tree_root(), depth);
      nodes = tasks.run(std::plus<>{});
    });
  });
  of.node_ns = 1e9 * search / static_cast<double>(nodes);
  return of;
}

}  // namespace creek::tool::machines
