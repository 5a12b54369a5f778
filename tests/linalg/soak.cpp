// SPDX-License-Identifier: Apache-2.0
// Random calls of linear algebra, for a chosen time, one by one and several at once in runtimes of
// several workers. Each is judged by residuals, some against another LAPACK. A failure prints the
// command that repeats it.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <string_view>
#include <vector>

#include <creek/host.hpp>
#include <creek/tasking.hpp>

#include "soak_case.hpp"

namespace creek::linalg::testing {
namespace {

struct options {
  double seconds = 2;
  long batches = -1;  // -1: as many as fit into the time
  std::uint64_t seed = std::random_device{}();
};

options read_options(int count, char** arguments) {
  options given;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string_view name = arguments[i];
    if (name == "--seconds") given.seconds = std::atof(arguments[i + 1]);
    if (name == "--batches") given.batches = std::atol(arguments[i + 1]);
    if (name == "--seed") given.seed = std::strtoull(arguments[i + 1], nullptr, 10);
  }
  return given;
}

struct tally {
  long cases = 0;
  double worst = 0;
};

class soak {
 public:
  /// Runs cases one after the other, or three at once.
  void batch(std::uint64_t seed) {
    dice d(seed);
    const auto workers = static_cast<std::size_t>(d.below(5));
    const index_t cases = workers > 0 && d.one_in(4) ? 3 : 1;
    std::vector<finding> found(static_cast<std::size_t>(cases));
    std::vector<std::uint64_t> seeds;
    for (index_t i = 0; i < cases; ++i) seeds.push_back(d.seed());
    const auto run = [&](index_t i) {
      const auto at = static_cast<std::size_t>(i);
      try {
        found[at] = run_case(seeds[at]);
      } catch (const std::exception& failure) {
        found[at] = {"exception", failure.what(), std::numeric_limits<double>::infinity()};
      }
    };
    if (workers == 0) {
      run(0);
    } else {
      runtime_of(workers).run([&] { parallel_for(index_t{0}, cases, run, {.grain = 1}); });
    }
    for (const finding& one : found) count(one, seed, workers);
  }

  bool passed() const { return misses_ == 0; }
  void report() const {
    for (const auto& [routine, of] : tallies_) {
      fmt::print("{:10}{:8} cases, worst residual {:.3g}\n", routine, of.cases, of.worst);
    }
    fmt::print("{} misses\n", misses_);
  }

 private:
  runtime& runtime_of(std::size_t workers) {
    if (runtimes_.size() <= workers) runtimes_.resize(workers + 1);
    auto& there = runtimes_[workers];
    if (!there) there = std::make_unique<runtime>(host(static_cast<unsigned>(workers)));
    return *there;
  }
  void count(const finding& one, std::uint64_t seed, std::size_t workers) {
    tally& of = tallies_[one.routine];
    ++of.cases;
    of.worst = std::max(of.worst, one.residual);
    if (one.passed()) return;
    ++misses_;
    fmt::print("miss: {}, {} workers: residual {:.3g}; repeat with --batches 1 --seed {}\n",
               one.what, workers, one.residual, seed);
  }

  std::vector<std::unique_ptr<runtime>> runtimes_;  // by the number of workers
  std::map<std::string, tally> tallies_;
  long misses_ = 0;
};

int soak_main(const options& given) {
  const std::string lapack = reference_lapack();
  fmt::print("--seed {}, beside {}\n", given.seed, lapack.empty() ? "no other LAPACK" : lapack);
  std::fflush(stdout);
  soak all;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(given.seconds);
  for (long i = 0; i != given.batches; ++i) {
    if (given.batches < 0 && std::chrono::steady_clock::now() >= end) break;
    all.batch(given.seed + static_cast<std::uint64_t>(i));
    std::fflush(stdout);
  }
  all.report();
  return all.passed() ? 0 : 1;
}

}  // namespace
}  // namespace creek::linalg::testing

int main(int count, char** arguments) {
  return creek::linalg::testing::soak_main(creek::linalg::testing::read_options(count, arguments));
}
