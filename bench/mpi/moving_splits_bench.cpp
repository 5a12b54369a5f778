// SPDX-License-Identifier: Apache-2.0
// Word count on ranks of which rank 0 is slow, because its map() does the work of a split many
// times: with splits that move to other ranks, and with those that stay. In turns in one run.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <creek/host.hpp>
#include <creek/mapreduce.hpp>
#include <creek/mapreduce/machines.hpp>
#include <creek/mpi.hpp>

#include "../../support/median.hpp"
#include "timed.hpp"

namespace {

using namespace creek::mapreduce;

std::string random_words(std::size_t bytes) {
  std::mt19937_64 random(7);
  std::string text;
  while (text.size() < bytes) text += std::to_string(random() % 5000) + ' ';
  return text;
}

struct counted_text : text_view {
  counted_text(std::string_view text, bool may_move)
      : text_view(text, 256 << 10), moves(may_move) {}
  [[nodiscard]] bool splits_may_move() const noexcept { return moves; }
  template <class F>
  void visit(std::size_t i, F&& f) {
    ++visits;
    text_view::visit(i, f);
  }
  bool moves;
  std::atomic<std::size_t> visits{0};
};

struct slow_count : word_count {
  std::size_t slowness = 1;
  template <class Emit>
  void map(const text_split& split, Emit& emit) const {
    std::size_t letters = 0;
    for (std::size_t i = 1; i < slowness; ++i) {
      for_each_word(split.text, [&](std::string_view word) { letters += word.size(); });
    }
    if (letters > slowness * split.text.size()) return;  // never: the loop is not dropped
    for_each_word(split.text, [&](std::string_view word) { emit(word, 1); });
  }
};

int run(creek::mpi_communicator& all, std::size_t slowness, std::size_t megabytes, int rounds) {
  const std::string text = random_words(megabytes << 20);
  creek::runtime rt{creek::host{1}};
  slow_count job;
  if (all.rank() == 0) job.slowness = slowness;
  std::vector<double> seconds[2];
  std::size_t visits[2] = {}, splits = 0, distinct[2] = {};
  for (int i = 0; i < rounds; ++i) {
    for (int turn = 0; turn < 2; ++turn) {
      const bool moves = (turn + i) % 2 == 0;
      counted_text from(text, moves);
      seconds[moves].push_back(bench::timed(all, [&] {
        distinct[moves] = run_on_machines(job, all, rt, from, {.top = 1}).distinct;
      }));
      splits = from.splits();
      visits[moves] += from.visits;
    }
  }
  if (all.rank() != 0) return 0;
  std::printf("%zu MB in %zu splits on %d ranks; rank 0 is slow; medians of %d rounds\n", megabytes,
              splits, all.size(), rounds);
  for (const bool moves : {false, true}) {
    std::printf("splits %s: %8.3f s, rank 0 maps %zu\n", moves ? "move" : "stay",
                bench::median(seconds[moves]), visits[moves] / static_cast<std::size_t>(rounds));
  }
  return distinct[0] == distinct[1] ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return creek::ranks(argc, argv, [&](creek::mpi_communicator& all) {
    const auto argument = [&](int i, int usual) { return argc > i ? std::atoi(argv[i]) : usual; };
    const int slowness = argument(1, 10), megabytes = argument(2, 64), rounds = argument(3, 5);
    if (slowness < 1 || megabytes < 1 || rounds < 1) {
      std::fprintf(stderr, "usage: mpirun -n P %s [SLOWNESS [MEGABYTES [ROUNDS]]]\n", argv[0]);
      return 2;
    }
    return run(all, static_cast<std::size_t>(slowness), static_cast<std::size_t>(megabytes),
               rounds);
  });
}
