// SPDX-License-Identifier: Apache-2.0
// Splits that move, while they are mapped, to ranks that have none left; ranks are host threads.
#include <creek/mapreduce.hpp>
#include <creek/mapreduce/machines.hpp>
#include <creek/mapreduce/spill_on_machines.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <creek/core/objects/object_space.hpp>
#include <creek/host/spmd.hpp>
#include <fstream>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "oracle.hpp"
#include "support/temporary_folder.hpp"

namespace creek::mapreduce {
namespace {

/// Text that counts the visits of a rank. The rank that is slow ends its second visit when others
/// have made more than `awaited`.
struct counted_text : text_view {
  counted_text(std::string_view text, bool may_move) : text_view(text, 1000), moves(may_move) {}
  [[nodiscard]] bool splits_may_move() const noexcept { return moves; }
  template <class F>
  void visit(std::size_t i, F&& f) {
    text_view::visit(i, f);
    if (!is_slow) ++*of_others;
    if (++visits != 2 || !is_slow) return;
    while (*of_others <= awaited) std::this_thread::yield();
  }
  bool moves, is_slow = false;
  std::size_t awaited = 0;
  std::atomic<std::size_t> visits{0}, own{0};
  std::atomic<std::size_t>* of_others = &own;
};

/// Counts words on ranks, of which rank 0 waits, if splits may move, until others have mapped more
/// than theirs. Returns how many splits each rank has mapped.
std::vector<std::size_t> visits_of_ranks(int ranks, std::string_view text, bool may_move,
                                         bool in_files) {
  const word_count job{.sorted = word_order::by_word};
  const auto expected = run(job, text);
  const support::temporary_folder folder;
  std::vector<std::size_t> visits(static_cast<std::size_t>(ranks));
  std::vector<std::vector<record<std::string, std::uint64_t>>> parts(visits.size());
  std::atomic<std::size_t> of_others{0};
  spmd(ranks, [&](host_communicator& c) {
    const auto me = static_cast<std::size_t>(c.rank());
    runtime rt(scheduler_options{.workers = 1 + static_cast<unsigned>(me) % 2});
    counted_text from(text, may_move);
    from.of_others = &of_others;
    from.is_slow = may_move && me == 0;
    from.awaited = from.splits() - own_splits<counted_text>(from, 0, ranks).splits();
    const auto keep = [&](const auto& word) {
      parts[me].push_back({std::string(word.key), word.value});
    };
    if (in_files) {
      auto part = run_in_parts(job, c, rt, from, {}, {1 << 20, folder.path()});
      part.for_each(keep);
    } else {
      const auto part = run_in_parts(job, c, rt, from);
      std::ranges::for_each(part, keep);
    }
    visits[me] = from.visits;
  });
  std::size_t i = 0;
  for (const auto& part : parts) {
    for (const auto& word : part) {
      EXPECT_EQ(word.key, expected[i].key);
      EXPECT_EQ(word.value, expected[i].value);
      ++i;
    }
  }
  EXPECT_EQ(i, expected.size());
  return visits;
}

TEST(MapReduceMovingSplits, GoToRanksThatHaveNone) {
  const std::string text = oracle::random_text(7, 100'000, 2000);
  const std::size_t splits = text_view(text, 1000).splits();
  for (const bool in_files : {false, true}) {
    for (const int ranks : {2, 3, 4}) {
      const std::size_t share = splits / static_cast<std::size_t>(ranks);
      const auto stay = visits_of_ranks(ranks, text, false, in_files);
      EXPECT_NEAR(static_cast<double>(stay[0]), static_cast<double>(share), 1);
      const auto moved = visits_of_ranks(ranks, text, true, in_files);
      EXPECT_LT(moved[0], stay[0]) << ranks;
      EXPECT_EQ(std::accumulate(moved.begin(), moved.end(), std::size_t{0}), splits);
    }
  }
}

TEST(MapReduceMovingSplits, AreNoneIfThereIsAStream) {
  const support::temporary_folder folder;
  const std::string small = folder.path() / "small.txt";
  std::ofstream(small) << "a few words";
  EXPECT_TRUE(text_files({small}).splits_may_move());
  EXPECT_FALSE(text_files({small, "/dev/null"}).splits_may_move());
  EXPECT_FALSE(text_files({"/dev/null", small}).splits_may_move());
}

TEST(MapReduceMovingSplits, StayUnderAnObjectSpace) {
  const std::string text = oracle::random_text(7, 10'000, 200);
  spmd(2, [&](host_communicator& c) {
    object_space space(c);
    runtime rt(scheduler_options{.workers = 1});
    counted_text from(text, true);
    const auto made = run_on_machines(word_count{}, c, rt, from);
    EXPECT_NEAR(static_cast<double>(from.visits), static_cast<double>(from.splits()) / 2, 1);
    if (c.rank() != 0) return;
    EXPECT_EQ(made.records, run(word_count{}, text).records);
  });
}

TEST(MapReduceMovingSplits, RethrowFailures) {
  const std::string text = oracle::random_text(7, 10'000, 200);
  spmd(1, [&](host_communicator& c) {
    runtime rt(scheduler_options{.workers = 2});
    counted_text from(text, true);
    own_splits<counted_text> mine(from, c.rank(), c.size());
    auto map = [](std::size_t, std::size_t split) {
      if (split == 3) throw error(EBADMSG, "a bad word");
    };
    EXPECT_THROW(detail::map_moving_splits(c, rt, mine, map), error);
  });
}

}  // namespace
}  // namespace creek::mapreduce
