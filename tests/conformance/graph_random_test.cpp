// SPDX-License-Identifier: Apache-2.0
// Random graphs, some of them in graphs and in loops, against the same sums in sequence.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "setups.hpp"
#include "support/seed.hpp"

namespace {

using namespace conformance;

class GraphRandom : public Conformance {};
CONFORMANCE(GraphRandom);

/// A random graph of sums, some of them in inner graphs, in a loop; and the same sums in sequence.
class random_sums {
 public:
  explicit random_sums(std::uint64_t seed) : random_(seed) {
    const std::size_t size = 1 + random_() % 40;
    values_.assign(size, 0);
    before_.resize(size);
    for (std::size_t i = 1; i < size; ++i) {
      for (std::size_t k = random_() % std::min<std::size_t>(i + 1, 5); k-- > 0;) {
        before_[i].push_back(random_() % i);
      }
    }
    rounds_ = 1 + static_cast<int>(random_() % 3);
    auto begin = graph_.emplace([this] { round_ = 0; });
    auto loop = graph_.emplace([] {});
    auto again = graph_.condition([this] { return ++round_ < rounds_ ? 0 : 1; });
    std::vector<creek::graph::node> nodes;
    for (std::size_t i = 0; i < size; ++i) nodes.push_back(node_for(i));
    for (std::size_t i = 0; i < size; ++i) {
      for (const std::size_t before : before_[i]) nodes[before].precede(nodes[i]);
      if (before_[i].empty()) loop.precede(nodes[i]);
      nodes[i].precede(again);
    }
    begin.precede(loop);
    again.precede(loop);
  }
  std::vector<std::uint64_t> run(int times) {
    values_.assign(values_.size(), 0);
    graph_.run_n(static_cast<std::size_t>(times));
    return values_;
  }
  std::vector<std::uint64_t> expected(int times) {
    values_.assign(values_.size(), 0);
    for (int round = 0; round < times * rounds_; ++round) {
      for (std::size_t i = 0; i < values_.size(); ++i) add(i);
    }
    return values_;
  }

 private:
  creek::graph::node node_for(std::size_t i) {
    switch (random_() % 8) {
      case 0:
        inner_.push_back(std::make_unique<creek::graph>());
        inner_.back()->emplace([this, i] { add(i); }).succeed(inner_.back()->emplace([] {}));
        return graph_.composed_of(*inner_.back());
      case 1:
        return graph_.emplace([this, i] { creek::spawn([this, i] { add(i); }); });
      case 2:
        return graph_.emplace([this, i] { creek::async([this, i] { add(i); }).get(); });
      default:
        return graph_.emplace([this, i] { add(i); });
    }
  }
  void add(std::size_t i) {
    std::uint64_t sum = values_[i] * 3 + i + 1;
    for (const std::size_t before : before_[i]) sum += values_[before];
    values_[i] = sum;
  }

  std::mt19937_64 random_;
  std::vector<std::uint64_t> values_;
  std::vector<std::vector<std::size_t>> before_;
  int rounds_ = 1, round_ = 0;
  std::vector<std::unique_ptr<creek::graph>> inner_;
  creek::graph graph_;
};

TEST_P(GraphRandom, RandomGraphsGiveTheSumsOfASequence) {
  const bool replays = std::getenv("CREEK_TEST_SEED") != nullptr;
  std::uint64_t seed = creek::support::chosen_seed();
  const int programs = is_host() ? 10 : 3;
  on_each_runtime([&](creek::runtime& rt) {
    for (int i = 0; i < programs; ++i, ++seed) {
      SCOPED_TRACE("replay: CREEK_TEST_SEED=" + std::to_string(seed));
      random_sums sums(seed);
      for (const int times : {1, 2}) {
        const auto got = rt.run([&] { return sums.run(times); });
        ASSERT_EQ(got, sums.expected(times));
      }
      if (replays) return;
    }
  });
}

}  // namespace
