// SPDX-License-Identifier: Apache-2.0
// Barriers of pinned threads made of single cache lines, each written by one thread and read by
// another: the minimum cost of bringing all workers to one point. By dissemination, where all
// notify each other at once, and along a tree, where arrivals come in to one thread and releases go
// out from it, as in anything that one worker starts and waits for. n episodes.
// Source: [Mellor-Crummey 1991].
#include <atomic>
#include <thread>

#include "harness/workload.hpp"
#include "pinning.hpp"

namespace bench::limits {
namespace {

constexpr description dissemination{.name = "barrier",
                                    .about = "barrier of all workers, by dissemination",
                                    .unit = "ns",
                                    .full = 640'000,
                                    .quick = 64'000,
                                    .smoke = 640,
                                    .min_workers = 2,
                                    .limit = true,
                                    .all_workers = true,
                                    .groups = "invoke"};
constexpr description tree{.name = "barrier_tree",
                           .about = "... in to one worker along a tree of four, and out again",
                           .unit = "ns",
                           .full = 640'000,
                           .quick = 64'000,
                           .smoke = 640,
                           .min_workers = 2,
                           .limit = true,
                           .all_workers = true,
                           .groups = "invoke"};

/// The number of the last episode that its writer has reached.
struct alignas(64) flag {
  std::atomic<std::int64_t> episode{0};
  void raise(std::int64_t to) { episode.store(to, std::memory_order_release); }
  void await(std::int64_t wanted) const {
    while (episode.load(std::memory_order_acquire) < wanted) {
    }
  }
};

/// In round k each thread notifies the one 2^k further on.
class dissemination_flags {
 public:
  explicit dissemination_flags(unsigned threads) : threads_(threads), flags_(threads * rounds) {}
  void wait(unsigned self, std::int64_t episode) {
    for (unsigned round = 0; (1U << round) < threads_; ++round) {
      at((self + (1U << round)) % threads_, round).raise(episode);
      at(self, round).await(episode);
    }
  }

 private:
  static constexpr unsigned rounds = 32;
  flag& at(unsigned thread, unsigned round) { return flags_[thread * rounds + round]; }

  unsigned threads_;
  std::vector<flag> flags_;
};

/// Thread t waits for threads 4 t + 1 .. 4 t + 4 on its way in.
class tree_flags {
 public:
  explicit tree_flags(unsigned threads) : come_(threads), go_(threads) {}
  void wait(unsigned self, std::int64_t episode) {
    const auto first = std::min<std::size_t>(come_.size(), 4 * self + 1);
    const auto last = std::min<std::size_t>(come_.size(), 4 * self + 5);
    for (std::size_t child = first; child < last; ++child) come_[child].await(episode);
    if (self != 0) {
      come_[self].raise(episode);
      go_[self].await(episode);
    }
    for (std::size_t child = first; child < last; ++child) go_[child].raise(episode);
  }

 private:
  std::vector<flag> come_, go_;
};

/// Runs the barriers; the answer is the number of episodes.
template <class Barrier>
sample measure(const settings& s) {
  const auto cpus = allowed_cpus();
  if (cpus.size() < s.workers) return {.work = 0};
  Barrier all(s.workers);
  std::vector<std::jthread> others;
  for (unsigned thread = 1; thread < s.workers; ++thread) {
    others.emplace_back([&, thread] {
      const pin stay(cpus[thread]);
      for (std::int64_t i = 1; i <= repeats(s.n); ++i) all.wait(thread, i);
    });
  }
  const pin stay(cpus[0]);
  std::int64_t episode = 0;
  sample result = median_of_parts(s.n, [&] { all.wait(0, ++episode); });
  result.answer = static_cast<std::uint64_t>(episode);
  return result;
}

const registration with_dissemination{dissemination, measure<dissemination_flags>};
const registration with_tree{tree, measure<tree_flags>};

}  // namespace
}  // namespace bench::limits
