// SPDX-License-Identifier: Apache-2.0
// The communicator over MPI, and the algorithms on it. Started by an MPI's launcher; each rank runs
// every test, and what a test expects holds at each rank.
#include <creek/mpi.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/mapreduce.hpp>
#include <creek/mapreduce/machines.hpp>
#include <creek/mapreduce/ranks.hpp>

#include "core/collectives_cases.hpp"
#include "mapreduce/oracle.hpp"
#include "mpi/ranks.hpp"
#include "support/process_facts.hpp"

namespace creek {
namespace {

std::vector<std::uint8_t> pattern(std::size_t bytes, int seed) {
  std::vector<std::uint8_t> made(bytes);
  for (std::size_t i = 0; i < bytes; ++i) {
    made[i] = static_cast<std::uint8_t>(hash_integer(i / 8 + static_cast<unsigned>(seed)));
  }
  return made;
}

TEST_F(MpiRanks, HaveProcessorsOfThisMachine) {
  EXPECT_GE(c.processors(), 1);
  EXPECT_LE(c.processors(), static_cast<int>(std::thread::hardware_concurrency()));
}

/// Returns the number of pairs of neighbours that are on two machines.
int pairs_apart(mpi_communicator& ranks, const neighbour_graph& graph) {
  std::array<char, 64> name{};
  EXPECT_EQ(gethostname(name.data(), name.size() - 1), 0);
  const std::vector<std::array<char, 64>> names = ranks.allgather(name);
  int pairs = 0;
  for (int rank = 0; rank < ranks.size(); ++rank) {
    for (const int other : graph.of(rank)) {
      pairs += other > rank &&
               names[static_cast<std::size_t>(rank)] != names[static_cast<std::size_t>(other)];
    }
  }
  return pairs;
}

/// The same ranks with other numbers.
TEST_F(MpiRanks, AreNumberedSoThatNeighboursAreNear) {
  std::vector<neighbour_graph> graphs{neighbour_graph::grid({c.size()}),
                                      neighbour_graph::grid({c.size()}, {c.size() > 2})};
  if (c.size() % 2 == 0) graphs.push_back(neighbour_graph::grid({2, c.size() / 2}));
  for (const neighbour_graph& graph : graphs) {
    mpi_communicator near(c, graph);
    ASSERT_EQ(near.size(), c.size());
    std::vector<int> parents = near.allgather(c.rank());
    EXPECT_EQ(parents[static_cast<std::size_t>(near.rank())], c.rank());
    std::sort(parents.begin(), parents.end());
    for (int i = 0; i < c.size(); ++i) EXPECT_EQ(parents[static_cast<std::size_t>(i)], i);
    const std::vector<int> neighbours = near.declare_neighbours(graph);
    for (const int other : neighbours) near.post(near.rank(), other);
    for (const int other : neighbours) EXPECT_EQ(near.take<int>(other), other);
    // A ring on two machines with half of the ranks each needs two pairs apart, a chain one.
    EXPECT_LE(pairs_apart(near, graph), std::max(2, c.size() / 2));
    EXPECT_LE(pairs_apart(near, graph), pairs_apart(c, graph));
  }
  const auto other_size = neighbour_graph::grid({c.size() + 1});
  EXPECT_THROW(mpi_communicator(c, other_size), usage_error);
  EXPECT_THROW((void)c.declare_neighbours(other_size), usage_error);
}

TEST_F(MpiRanks, CarryMessagesOfAllSizesInOrder) {
  const std::vector<std::size_t> sizes{1, 7, 64, 4095, 65'537, 1'000'001, 0, 3};
  for (int from = 0; from < c.size(); ++from) {
    for (int to = 0; to < c.size(); ++to) {
      if (from == to) continue;
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        const auto expected = pattern(sizes[i], 100 * from + to + static_cast<int>(i));
        if (c.rank() == from) c.send(std::span<const std::uint8_t>(expected), to);
        if (c.rank() != to) continue;
        std::vector<std::uint8_t> got(sizes[i]);
        c.recv(std::span(got), from);
        ASSERT_EQ(got, expected);
      }
    }
  }
}

TEST_F(MpiRanks, ExchangeAlsoWithThemselves) {
  for (const int step : {0, 1, c.size() - 1}) {
    const int to = (c.rank() + step) % c.size(), from = (c.rank() + c.size() - step) % c.size();
    const auto out = pattern(300'000, c.rank());
    std::vector<std::uint8_t> in(out.size());
    c.exchange(std::span<const std::uint8_t>(out), to, std::span(in), from);
    ASSERT_EQ(in, pattern(out.size(), from));
  }
}

TEST_F(MpiRanks, KeepManyRequestsInOrder) {
  constexpr int many = 200;
  std::vector<int> out(many), in(many);
  std::vector<std::unique_ptr<mpi_communicator::request>> requests;
  for (int i = 0; i < many; ++i) {
    out[static_cast<std::size_t>(i)] = 1000 * c.rank() + i;
    const auto at = static_cast<std::size_t>(i);
    requests.emplace_back(
        new mpi_communicator::request(c.irecv(std::span(in).subspan(at, 1), previous())));
    requests.emplace_back(
        new mpi_communicator::request(c.isend(std::span<const int>(out).subspan(at, 1), next())));
  }
  for (auto at = requests.rbegin(); at != requests.rend(); ++at) {
    while (!(*at)->test()) {
    }
  }
  for (int i = 0; i < many; ++i) {
    ASSERT_EQ(in[static_cast<std::size_t>(i)], 1000 * previous() + i);
  }
}

TEST_F(MpiRanks, PostedMessagesDoNotMeetSentOnes) {
  for (int i = 0; i < 50; ++i) c.post(i, next());
  const auto long_one = pattern(200'000, 5);
  c.post(std::span<const std::uint8_t>(long_one), next());
  const int seven = 7;
  int got_seven = 0;
  c.exchange(std::span(&seven, 1), next(), std::span(&got_seven, 1), previous());
  EXPECT_EQ(got_seven, 7);
  for (int i = 0; i < 50; ++i) ASSERT_EQ(c.take<int>(previous()), i);
  std::vector<std::uint8_t> got(long_one.size());
  c.take(std::span(got), previous());
  EXPECT_EQ(got, long_one);
  EXPECT_EQ(c.try_take<int>(previous()), std::nullopt);
}

TEST_F(MpiRanks, SayThatAMailboxIsFull) {
  const std::vector<char> big(900'000, 'x');
  c.post(std::span<const char>(big), next());  // too long for MPI to take over
  const char was_full = c.try_post(std::array<char, 300'000>{}, next()) ? 0 : 1;
  c.barrier();  // nobody takes before all have tried
  char theirs_was_full = 0;
  c.exchange(std::span(&was_full, 1), next(), std::span(&theirs_was_full, 1), previous());
  std::vector<char> got(big.size());
  c.take(std::span(got), previous());
  EXPECT_EQ(got, big);
  if (theirs_was_full == 0) (void)c.take<std::array<char, 300'000>>(previous());
  EXPECT_TRUE(was_full == 1 || c.size() == 1);
  for (const std::size_t bytes : {1'000'000u, 2'000'000u}) {
    // Posts of more than a mailbox holds wait for nothing but their receivers.
    const std::vector<char> more(bytes, 'y');
    c.post(std::span<const char>(more), next());
    got.assign(bytes, 0);
    c.take(std::span(got), previous());
    EXPECT_EQ(got, more);
  }
}

/// Posts to one rank do not wait for those to another.
TEST_F(MpiRanks, HaveAMailboxForEachReceiver) {
  if (c.size() < 3) return;
  const std::vector<char> big(900'000, 'x'), small(300'000, 's');
  std::vector<char> got;
  if (c.rank() == 0) {
    c.post(std::span<const char>(big), 1);
    c.post(std::span<const char>(small), 2);
  } else if (c.rank() == 1) {
    EXPECT_EQ(c.take<int>(2), 5);
    got.resize(big.size());
    c.take(std::span(got), 0);
    EXPECT_EQ(got, big);
  } else if (c.rank() == 2) {
    got.resize(small.size());
    c.take(std::span(got), 0);
    EXPECT_EQ(got, small);
    c.post(5, 1);
  }
}

/// A wait may sleep long for a short message. A long one is copied in parts while MPI is called.
TEST(MpiWaits, SleepLongForShortMessagesOnly) {
  using namespace std::chrono_literals;
  using namespace mpi_backend;
  EXPECT_EQ(longest_sleep(0), 10ms);
  EXPECT_EQ(longest_sleep(65'536), 10ms);
  EXPECT_EQ(longest_sleep(1'000'000), 1ms);
  EXPECT_EQ(back_off::sleep_after(1us, 10ms), 10us);
  EXPECT_EQ(back_off::sleep_after(8ms, 10ms), 1ms);
  EXPECT_EQ(back_off::sleep_after(3s, 10ms), 10ms);
  EXPECT_EQ(back_off::sleep_after(3s, 1ms), 1ms);
}

TEST_F(MpiRanks, UseTheMpiOfTheirLauncher) {
  const std::string name = c.implementation();
  if (std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr || std::getenv("PMIX_RANK") != nullptr) {
    EXPECT_TRUE(name.starts_with("Open MPI")) << name;
  } else if (std::getenv("PMI_SIZE") != nullptr) {
    EXPECT_TRUE(name.starts_with("MPICH")) << name;
  } else {
    EXPECT_EQ(name, "one rank without MPI");
  }
}

TEST_F(MpiRanks, GetALongMessageForWhichTheReceiverIsLate) {
  if (c.size() < 2 || c.rank() > 1) return;
  const auto out = pattern(std::size_t{30} << 20, 3);
  if (c.rank() == 0) return c.send(std::span<const std::uint8_t>(out), 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  std::vector<std::uint8_t> in(out.size());
  c.recv(std::span(in), 0);
  EXPECT_EQ(in, out);
}

TEST_F(MpiRanks, CollectivesAgreeWithOneRank) {
  using namespace collectives_cases;
  broadcasts(c);
  reduces_in_rank_order(c);
  reduces_for_all_in_rank_order(c);
  gathers_and_scatters(c);
  sends_all_to_all(c);
  sends_all_to_all_of_any_lengths(c);
  scans_in_rank_order(c);
  for (const broadcast_kind kind : {broadcast_kind::simple, broadcast_kind::chain,
                                    broadcast_kind::binary_tree, broadcast_kind::two_tree}) {
    std::vector<int> data(3000, c.rank() == c.size() - 1 ? 9 : 0);
    c.bcast(std::span(data), c.size() - 1, kind);
    EXPECT_EQ(data, std::vector(3000, 9));
  }
}

TEST_F(MpiRanks, AreSplitByColor) {
  mpi_communicator half(c, c.rank() % 2);
  EXPECT_EQ(half.rank(), c.rank() / 2);
  EXPECT_EQ(half.size(), (c.size() + 1 - c.rank() % 2) / 2);
  EXPECT_EQ(half.allreduce(1, std::plus{}), half.size());
  collectives_cases::reduces_for_all_in_rank_order(half);
  EXPECT_THROW(mpi_communicator(c, -1), usage_error);
}

/// Returns the message of the usage_error that `f` throws.
template <class F>
std::string refused(F&& f) {
  try {
    f();
  } catch (const usage_error& why) {
    return why.what();
  }
  return "nothing";
}

TEST_F(MpiRanks, SayWhatIsWrong) {
  const std::string size = std::to_string(c.size());
  EXPECT_EQ(refused([&] { c.send(1, c.size()); }), "mpi: rank " + size + " of " + size);
  EXPECT_EQ(refused([&] { (void)c.recv<int>(-1); }), "mpi: rank -1 of " + size);
  std::string other;
  std::thread([&] { other = refused([&] { c.send(1, 0); }); }).join();
  EXPECT_NE(other.find("used by the thread that made it"), std::string::npos) << other;
  if (c.size() == 1) return;
  // One sends too little, one too much.
  const auto out = pattern(64, 0);
  std::vector<std::uint8_t> in(48);
  for (const std::size_t bytes : {40u, 64u}) {
    const auto sending = c.isend(std::span<const std::uint8_t>(out).first(bytes), next());
    const std::string why = refused([&] { c.recv(std::span(in), previous()); });
    EXPECT_NE(why.find("48"), std::string::npos) << why;
    EXPECT_NE(why.find("rank " + std::to_string(previous())), std::string::npos) << why;
  }
}

TEST_F(MpiRanks, CountWordsAsOneProcessDoes) {
  using namespace mapreduce;
  const std::string text = oracle::random_text(21, 60'000, 900);
  const auto expected = run(word_count{}, text);
  for (const std::size_t top : {0, 5}) {
    text_view from(text, even_split(text.size(), c.size()));
    const auto counted = run_on_ranks(word_count{}, c, from, {.top = top});
    if (c.rank() != 0) {
      EXPECT_TRUE(counted.records.empty());
      continue;
    }
    EXPECT_EQ(counted.distinct, expected.distinct);
    EXPECT_EQ(counted.emitted, expected.emitted);
    ASSERT_EQ(counted.size(), top == 0 ? expected.size() : top);
    EXPECT_TRUE(std::equal(counted.begin(), counted.end(), expected.begin()));
  }
}

/// Words with the positions of the lines they are in: no combine(), and values that own memory.
struct lines_of_words {
  using key_type = std::string_view;
  using value_type = std::uint64_t;
  template <class Emit>
  static void map(const mapreduce::text_split& split, Emit& emit) {
    mapreduce::for_each_word(split.text, [&](std::string_view word) {
      const auto at = static_cast<std::uint64_t>(word.data() - split.text.data());
      emit(word, split.from.offset + at);
    });
  }
  static std::vector<std::uint64_t> reduce(std::string_view,
                                           const mapreduce::values<lines_of_words>& all) {
    std::vector<std::uint64_t> sorted(all.begin(), all.end());
    std::ranges::sort(sorted);
    return sorted;
  }
};

TEST_F(MpiRanks, RunJobsWithWorkersAsOneProcessDoes) {
  using namespace mapreduce;
  const std::string text = oracle::random_text(22, 300'000, 4000);
  runtime rt(scheduler_options{.workers = 2});
  text_view from(text, 10'000);
  const auto counted = run_on_machines(word_count{}, c, rt, from, {.top = 50});
  const auto listed = run_on_machines(lines_of_words{}, c, rt, from);
  if (c.rank() != 0) {
    EXPECT_TRUE(counted.records.empty() && listed.records.empty());
    return;
  }
  EXPECT_EQ(counted.records, run(word_count{}, text, {.top = 50}).records);
  EXPECT_EQ(listed.records, run(lines_of_words{}, text).records);
  EXPECT_EQ(counted.sent_bytes == 0, c.size() == 1);
}

TEST_F(MpiRanks, KeepPartsOfAResult) {
  using namespace mapreduce;
  const std::string text = oracle::random_text(23, 300'000, 4000);
  runtime rt(scheduler_options{.workers = 2});
  text_view from(text, 10'000);
  const auto check = [&](const auto& part, const auto& all) {
    const std::size_t before = c.exclusive_scan(part.size(), std::plus{}, std::size_t{0});
    EXPECT_EQ(c.allreduce(part.size(), std::plus{}), all.size());
    ASSERT_LE(before + part.size(), all.size());
    EXPECT_TRUE(std::equal(part.begin(), part.end(), &all[0] + before));
    EXPECT_EQ(part.emitted, all.emitted);
    EXPECT_EQ(part.distinct, all.distinct);
  };
  check(run_in_parts(word_count{}, c, rt, from), run(word_count{}, text));
  check(run_in_parts(lines_of_words{}, c, rt, from), run(lines_of_words{}, text));
}

/// The others wait for rank 0, which sleeps; this is about processor time, of which a sleep is
/// none.
TEST_F(MpiRanks, WaitWithoutAProcessor) {
  c.barrier();
  constexpr std::chrono::milliseconds sleep{700};
  if (c.rank() == 0) {
    std::this_thread::sleep_for(sleep);
    for (int to = 1; to < c.size(); ++to) c.send(to, to);
    return;
  }
  const double before = support::cpu_seconds();
  EXPECT_EQ(c.recv<int>(0), c.rank());
  EXPECT_LT(support::cpu_seconds() - before, 0.1) << "it polled";
}

/// Writes the failures of a rank, with its number.
class rank_printer : public testing::EmptyTestEventListener {
 public:
  explicit rank_printer(int rank) : rank_(rank) {}

 private:
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::fprintf(stderr, "rank %d: %s:%d: %s\n", rank_, result.file_name(), result.line_number(),
                 result.message());
  }
  int rank_;
};

}  // namespace
}  // namespace creek

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return creek::ranks(argc, argv, [](creek::mpi_communicator& c) {
    creek::all_ranks = &c;
    if (c.rank() != 0) {
      auto& listeners = testing::UnitTest::GetInstance()->listeners();
      delete listeners.Release(listeners.default_result_printer());
      listeners.Append(new creek::rank_printer(c.rank()));
    }
    const int failed = RUN_ALL_TESTS();
    return c.allreduce(failed, [](int a, int b) { return a > b ? a : b; });
  });
}
