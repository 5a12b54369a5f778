// SPDX-License-Identifier: Apache-2.0
// Random programs against their sequential meaning, on every runtime. Replay: CREEK_TEST_SEED.
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "random_program.hpp"
#include "setups.hpp"
#include "support/seed.hpp"

namespace {

using namespace conformance;

class RandomPrograms : public Conformance {};
CONFORMANCE(RandomPrograms);

std::uint64_t programs(std::uint64_t otherwise) {
  return creek::support::number_from("CREEK_TEST_PROGRAMS", otherwise);
}

outcome run_on(creek::runtime& rt, const program& p) {
  std::atomic<std::uint64_t> side{0};
  outcome result;
  result.value = rt.run([&] { return run_as_task(p, side); });
  result.side = side;
  return result;
}

void check(creek::runtime& rt, std::uint64_t seed, int depth, bool pipelines = true) {
  std::mt19937_64 random(seed);
  const program p = make_program(random, depth, pipelines);
  ASSERT_EQ(run_on(rt, p), run_sequentially(p))
      << "replay with CREEK_TEST_SEED=" << seed << "; " << p.size() << " nodes: " << p;
}

TEST_P(RandomPrograms, MeanWhatTheyMeanSequentially) {
  std::uint64_t seed = creek::support::chosen_seed();
  std::printf("CREEK_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  on_each_runtime([&](creek::runtime& rt) {
    for (std::uint64_t i = 0; i < programs(15) && !HasFatalFailure(); ++i) {
      check(rt, seed + i, static_cast<int>(i % 5));
    }
  });
}

TEST_P(RandomPrograms, MeanTheSameOnTinyDeques) {
  std::printf("CREEK_TEST_SEED=%llu\n",
              static_cast<unsigned long long>(creek::support::chosen_seed()));
  for (const std::uint32_t capacity : {2U, 5U}) {
    on_each_runtime(
        [&](creek::runtime& rt) {
          for (std::uint64_t i = 0; i < programs(5) && !HasFatalFailure(); ++i) {
            check(rt, creek::support::chosen_seed() + i, 3, false);
          }
        },
        capacity);
  }
}

TEST_P(RandomPrograms, MeanTheSameSideBySide) {
  std::printf("CREEK_TEST_SEED=%llu\n",
              static_cast<unsigned long long>(creek::support::chosen_seed()));
  on_each_runtime([&](creek::runtime& rt) {
    std::vector<std::jthread> threads;
    for (std::uint64_t t = 0; t < 3; ++t) {
      threads.emplace_back([&rt, t] {
        for (std::uint64_t i = 0; i < programs(4); ++i) {
          check(rt, creek::support::chosen_seed() + 1000 * t + i, 3);
        }
      });
    }
  });
}

}  // namespace
