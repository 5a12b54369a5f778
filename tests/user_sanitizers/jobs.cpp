// SPDX-License-Identifier: Apache-2.0
// A user's jobs in a program that a sanitizer watches: MapReduce, a factorization, a task graph
// with the user's bodies, ranks that send each other messages. The library was compiled without.
#include <cstdio>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <creek/core/protocols/mcs_lock.hpp>
#include <creek/host.hpp>
#include <creek/host/spmd.hpp>
#include <creek/linalg.hpp>
#include <creek/mapreduce.hpp>
#include <creek/tasking.hpp>

#include "expect.hpp"

namespace {

namespace la = creek::linalg;
namespace mr = creek::mapreduce;

struct by_length {
  using key_type = std::size_t;
  using value_type = std::uint64_t;
  template <class Emit>
  static void map(std::string_view text, Emit& emit) {
    mr::for_each_word(text, [&](std::string_view word) { emit(word.size(), std::uint64_t{1}); });
  }
  static void combine(std::uint64_t& into, std::uint64_t&& from) { into += from; }
};

void map_reduce() {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i % 5'000) + ' ';
  const auto words = mr::run(mr::word_count{}, std::string_view(text), {.top = 3});
  expect(words.distinct == 5'000, "word_count");
  const auto lengths = mr::run(by_length{}, std::string_view(text));
  expect(lengths.size() == 4 && lengths[3].value == 80'000, "a job of the user");
}

void factorization() {
  const la::index_t n = 300;
  const la::matrix<double> A = la::generate<double>({.seed = 7}, n, n);
  la::matrix<double> b(n, 1);
  for (la::index_t i = 0; i < n; ++i) b(i, 0) = static_cast<double>(i);
  const la::lu<double> factors(A, {.block = 48});
  la::matrix<double> x = factors.solve(b);
  expect(factors.info() == 0, "LU");
  expect(la::solve_residual<double>(A.view(), x.view(), b.view()) < 16, "LU's solution");
}

/// Each column depends on the one before: the bodies pass on plain data.
void graph() {
  constexpr int rows = 40, columns = 8;
  std::vector<std::vector<long>> cell(rows, std::vector<long>(columns, 1));
  la::task_graph tasks;
  for (std::size_t column = 1; column < columns; ++column) {
    for (std::size_t row = 0; row < rows; ++row) {
      long* const to = &cell[row][column];
      const long* const from = &cell[row][column - 1];
      const long* const above = &cell[(row + 1) % rows][column - 1];
      tasks.add({.name = "sum"}, {la::in(from), la::in(above), la::out(to)},
                [=] { *to = *from + *above; });
    }
  }
  tasks.wait();
  expect(cell[rows - 1][columns - 1] == 1 << (columns - 1), "the graph's last column");
}

/// Nodes of a graph that runs again pass on plain data: along edges, through a loop, between runs.
void kept_graph() {
  constexpr std::size_t side = 12;
  std::vector<long> cell(side * side, 0);
  long rounds = 0;
  creek::graph kept;
  std::vector<creek::graph::node> nodes;
  const auto first = kept.emplace([] {}), begin = kept.emplace([] {});
  const auto again = kept.condition([&] { return ++rounds % 3 == 0; });
  first.precede(begin);
  again.precede(begin);
  for (std::size_t i = 0; i < cell.size(); ++i) {
    nodes.push_back(kept.emplace([&cell, i] {
      if (i >= side) cell[i] += cell[i - side];
      if (i % side != 0) cell[i] += cell[i - 1];
      if (i == 0) ++cell[i];
    }));
    nodes[i].succeed(begin).precede(again);
    if (i >= side) nodes[i].succeed(nodes[i - side]);
    if (i % side != 0) nodes[i].succeed(nodes[i - 1]);
  }
  kept.run_n(2);
  expect(rounds == 6 && cell[0] == 6 && cell[1] == 21, "the kept graph's sums");
}

/// Barriers, locks and messages order what the ranks write.
void ranks() {
  constexpr int size = 4;
  std::vector<long> slots(size);
  long total = 0;
  creek::spmd(size, [&](creek::host_communicator& c, creek::symmetric_allocator& left) {
    using lock = creek::mcs_lock<creek::host_backend::memory>;
    const auto me = static_cast<std::size_t>(c.rank());
    const std::optional<creek::mpm_block> place = left.allocate(lock::bytes_needed);
    lock one_by_one(c.memory(), creek::core_id{0}, place->offset());
    for (long round = 1; round <= 20; ++round) {
      slots[me] = round;
      c.barrier();
      expect(slots[(me + 1) % size] == round, "a neighbour's slot");
      {
        const std::lock_guard guard(one_by_one);
        total += round;
      }
      c.barrier();
    }
    if (c.rank() == 0) {
      c.send_moved(std::vector<int>(2'000, 3), 1);
    } else if (c.rank() == 1) {
      expect(c.recv_moved<std::vector<int>>(0)[1'999] == 3, "a moved vector");
    }
  });
  expect(total == size * 210, "the sum under a lock");
}

}  // namespace

int main() {
  creek::runtime rt{creek::host{4}};
  rt.run(map_reduce);
  rt.run(factorization);
  rt.run(graph);
  rt.run(kept_graph);
  ranks();
  std::puts("jobs: done");
}
