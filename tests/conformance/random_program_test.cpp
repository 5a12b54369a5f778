// SPDX-License-Identifier: Apache-2.0
// Random programs against their sequential meaning, on every runtime. Replay: CREEK_TEST_SEED.
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "random_program.hpp"
#include "setups.hpp"

namespace {

using namespace conformance;

class RandomPrograms : public Conformance {};
CONFORMANCE(RandomPrograms);

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 0) : otherwise;
}

/// Returns the seed that the environment sets, or a new one.
std::uint64_t first_seed() {
  static const std::uint64_t seed = from_environment("CREEK_TEST_SEED", std::random_device{}());
  return seed;
}

std::uint64_t programs(std::uint64_t otherwise) {
  return from_environment("CREEK_TEST_PROGRAMS", otherwise);
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
  std::uint64_t seed = first_seed();
  std::printf("CREEK_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  on_each_runtime([&](creek::runtime& rt) {
    for (std::uint64_t i = 0; i < programs(15) && !HasFatalFailure(); ++i) {
      check(rt, seed + i, static_cast<int>(i % 5));
    }
  });
}

TEST_P(RandomPrograms, MeanTheSameOnTinyDeques) {
  std::printf("CREEK_TEST_SEED=%llu\n", static_cast<unsigned long long>(first_seed()));
  for (const std::uint32_t capacity : {2U, 5U}) {
    on_each_runtime(
        [&](creek::runtime& rt) {
          for (std::uint64_t i = 0; i < programs(5) && !HasFatalFailure(); ++i) {
            check(rt, first_seed() + i, 3, false);
          }
        },
        capacity);
  }
}

TEST_P(RandomPrograms, MeanTheSameSideBySide) {
  std::printf("CREEK_TEST_SEED=%llu\n", static_cast<unsigned long long>(first_seed()));
  on_each_runtime([&](creek::runtime& rt) {
    std::vector<std::jthread> threads;
    for (std::uint64_t t = 0; t < 3; ++t) {
      threads.emplace_back([&rt, t] {
        for (std::uint64_t i = 0; i < programs(4); ++i) {
          check(rt, first_seed() + 1000 * t + i, 3);
        }
      });
    }
  });
}

}  // namespace
