// SPDX-License-Identifier: Apache-2.0
// Unbalanced tree search by tasks that move between ranks, beside forks in one process at rank 0 on
// as many workers as the ranks have together. In turns in one run; while one process searches, the
// other ranks sleep.
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numeric>
#include <vector>

#include <creek/host.hpp>
#include <creek/mpi.hpp>
#include <creek/tasking/fork_all.hpp>
#include <creek/tasking/movable_tasks.hpp>

#include "../../support/median.hpp"
#include "../../support/unbalanced_tree.hpp"
#include "timed.hpp"

namespace {

using namespace creek_bench;

std::uint64_t search(const tree_node& at, std::int64_t limit) {
  const int count = children(at, limit);
  std::array<std::uint64_t, max_children> below;  // the first `count` are used
  creek::fork_all(static_cast<std::size_t>(count), [&](std::size_t index) {
    below[index] = search(child(at, static_cast<int>(index)), limit);
  });
  return std::accumulate(below.begin(), below.begin() + count, std::uint64_t{1});
}

void visit(creek::task_bag<std::uint64_t>& bag, tree_node at, std::int64_t limit) {
  ++bag.result();
  const int count = children(at, limit);
  for (int i = 0; i < count; ++i) bag.spawn<&visit>(child(at, i), limit);
}

int run(creek::mpi_communicator& all, std::int64_t limit, unsigned workers, int rounds) {
  const bool is_first = all.rank() == 0;
  creek::runtime together{creek::host{is_first ? workers * static_cast<unsigned>(all.size()) : 1}};
  std::unique_ptr<creek::runtime> rt;
  if (workers > 1) rt = std::make_unique<creek::runtime>(creek::host{workers});
  creek::object_space space(all);
  using tasks_of_ranks = creek::movable_tasks<std::uint64_t>;
  const auto tasks =
      rt ? std::make_unique<tasks_of_ranks>(space, *rt) : std::make_unique<tasks_of_ranks>(space);
  std::uint64_t on_ranks = 0, in_process = 0;
  std::vector<double> ranks, process, ratios;
  creek::movable_counts moved;
  const auto run_on_ranks = [&] {
    if (is_first) tasks->spawn<&visit>(tree_root(), limit);
    on_ranks = tasks->run(std::plus<>{});
  };
  const auto run_in_process = [&] {
    if (is_first) in_process = together.run([&] { return search(tree_root(), limit); });
  };
  bool is_right = true;
  for (int i = 0; i < rounds; ++i) {
    for (int turn = 0; turn < 2; ++turn) {
      if (turn == i % 2) {
        ranks.push_back(bench::timed(all, run_on_ranks));
        moved.given += tasks->counts().given;
        moved.messages += tasks->counts().messages;
      } else {
        process.push_back(bench::timed(all, run_in_process));
      }
    }
    ratios.push_back(process.back() / ranks.back());
    is_right = is_right && (!is_first || on_ranks == in_process);
  }
  const auto sum = [](std::uint64_t a, std::uint64_t b) { return a + b; };
  const std::uint64_t given = all.reduce(moved.given, sum, 0),
                      messages = all.reduce(moved.messages, sum, 0);
  if (!is_first) return 0;
  const double nodes = static_cast<double>(on_ranks);
  std::printf("%.0f nodes; %d ranks of %u workers beside one process of %u; medians of %d rounds\n",
              nodes, all.size(), workers, together.worker_count(), rounds);
  std::printf("%12s %12s %8s %12s %10s\n", "ranks", "process", "ratio", "tasks moved", "messages");
  std::printf("%9.2f ns %9.2f ns %8.2f %12.0f %10.0f\n", bench::median(ranks) / nodes * 1e9,
              bench::median(process) / nodes * 1e9, bench::median(ratios),
              static_cast<double>(given) / rounds, static_cast<double>(messages) / rounds);
  if (!is_right) std::fprintf(stderr, "the ranks did not find the nodes of one process\n");
  return is_right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return creek::ranks(argc, argv, [&](creek::mpi_communicator& all) {
    const auto argument = [&](int i, int usual) { return argc > i ? std::atoi(argv[i]) : usual; };
    const int limit = argument(1, 12), workers = argument(2, 1), rounds = argument(3, 9);
    if (limit < 1 || workers < 1 || rounds < 1) {
      std::fprintf(stderr, "usage: mpirun -n P %s [DEPTH [WORKERS [ROUNDS]]]\n", argv[0]);
      return 2;
    }
    return run(all, limit, static_cast<unsigned>(workers), rounds);
  });
}
