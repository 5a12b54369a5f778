// SPDX-License-Identifier: Apache-2.0
// Random calls for a long time, by tasks and a thread outside, among short-lived objects, time-outs
// and forks: each arrives once, with its arguments unchanged, whatever their length, and failures
// return to the caller. CREEK_SOAK_CALLS sets their number; CREEK_SEED where
// the random numbers begin.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <creek/host.hpp>
#include <creek/tasking.hpp>

#include "support/process_facts.hpp"
#include "support/seed.hpp"

namespace creek::support {
namespace {

struct refused {
  std::uint64_t value;
};

/// Counts the messages that it was sent.
struct sink {
  std::uint64_t calls = 0;
  std::uint64_t sum = 0;
  void take(std::uint64_t value) {
    ++calls;
    sum += value;
  }
  std::uint64_t answer(std::uint64_t value) {
    take(value);
    return value * 3;
  }
  void refuse(std::uint64_t value) {
    take(value);
    throw refused{value};
  }
  template <std::size_t N>
  void take_many(const std::array<std::uint64_t, N>& values) {
    for (const std::uint64_t each : values) sum += each;
    ++calls;
  }
  void take_vector(const std::vector<std::uint64_t>& values) {
    for (const std::uint64_t each : values) sum += each;
    ++calls;
  }
};

/// Calls of a sink that are merged at their sender.
struct merged_takes {
  std::uint64_t calls = 1;
  std::uint64_t sum = 0;
  void operator()(sink& here) const {
    here.calls += calls;
    here.sum += sum;
  }
  void merge(const merged_takes& next) noexcept {
    calls += next.calls;
    sum += next.sum;
  }
};

/// An object that lives for a few calls.
class short_lived {
 public:
  static inline std::atomic<std::int64_t> alive{0}, begun{0}, tried{0};
  short_lived() noexcept { ++alive; }
  short_lived(const short_lived&) = delete;
  short_lived& operator=(const short_lived&) = delete;
  ~short_lived() { --alive; }
  void note(std::uint64_t value) {
    ++begun;
    last_ = value;
  }

 private:
  std::uint64_t last_ = 0;
};

/// Makes an object, calls it in ways that may come too late for it, and lets it go.
void call_short_lived(std::mt19937_64& random, unsigned workers, std::uint64_t value) {
  const auto made = make_on<short_lived>(core_id{static_cast<int>(random() % workers)});
  for (auto left = random() % 4; left > 0; --left, ++short_lived::tried) {
    if (random() % 2 == 0) {
      made.post(&short_lived::note, value);
    } else {
      const std::chrono::microseconds span{random() % 30};
      (void)made.call_for(span, &short_lived::note, value);
    }
  }
  if (random() % 4 == 0) made.destroy();
}

std::uint64_t leaves(int depth) {
  if (depth == 0) return 1;
  const auto half = [depth] { return leaves(depth - 1); };
  const auto [left, right] = fork_join(half, half);
  return left + right;
}

struct tally {
  std::uint64_t calls = 0, sum = 0, wrong = 0;
  friend tally operator+(tally a, tally b) {
    return {a.calls + b.calls, a.sum + b.sum, a.wrong + b.wrong};
  }
};

template <std::size_t N>
void post_many(const remote<sink>& to, std::uint64_t value, tally& sent) {
  std::array<std::uint64_t, N> values;
  values.fill(value);
  sent.sum += N * value;
  to.post([](sink& s, const auto& given) { s.take_many(given); }, values);
}

/// Does the work of one caller, which has its own random numbers; a caller is a task, or a thread
/// outside.
tally call_at_random(const group<sink>& sinks, std::uint64_t calls, std::uint64_t seed,
                     bool is_task) {
  std::mt19937_64 random(seed);
  tally sent;
  std::vector<std::pair<future<std::uint64_t>, std::uint64_t>> open;
  const auto settle = [&] {
    for (auto& [result, value] : open) sent.wrong += result.get() != 3 * value;
    open.clear();
  };
  while (sent.calls < calls) {
    const remote<sink>& to =
        sinks[static_cast<int>(random() % static_cast<unsigned>(sinks.size()))];
    const std::uint64_t value = random() % 1'000'003;
    const auto kind = random() % 256;
    ++sent.calls;
    if (kind < 90) {
      sent.sum += value;
      to.post(&sink::take, value);
    } else if (kind < 130) {
      sent.sum += value;
      to.post(merged_takes{1, value});
    } else if (kind < 135) {
      sent.sum += value;
      to.post_batched(&sink::take, value);
    } else if (kind < 140) {
      const std::vector<std::uint64_t> values(random() % 20, value);
      sent.calls += values.size() - 1;  // wraps for none
      sent.sum += values.size() * value;
      to.post_many(&sink::take, values);
    } else if (kind < 150) {
      const bool is_sent = to.try_post(&sink::take, value);
      sent.sum += is_sent ? value : 0;
      sent.calls -= is_sent ? 0 : 1;
    } else if (kind < 180) {
      post_many<5>(to, value, sent);
    } else if (kind < 200) {
      post_many<9>(to, value, sent);
    } else if (kind < 210) {
      post_many<100>(to, value, sent);
    } else if (kind < 220) {
      std::vector<std::uint64_t> values(random() % 50, value);
      sent.sum += values.size() * value;
      to.post(&sink::take_vector, std::move(values));
    } else if (kind < 235) {
      sent.sum += value;
      open.emplace_back(to.async(&sink::answer, value), value);
      if (open.size() > 16) settle();
    } else if (kind < 245) {
      sent.sum += value;
      sent.wrong += to.call(&sink::answer, value) != 3 * value;
    } else if (kind < 250) {
      sent.sum += value;
      try {
        to.call(&sink::refuse, value);
        ++sent.wrong;
      } catch (const refused& failure) {
        sent.wrong += failure.value != value;
      }
    } else if (kind < 251 && is_task) {
      --sent.calls;
      call_short_lived(random, worker_count(), value);
    } else if (kind < 252 && is_task) {
      --sent.calls;
      sent.wrong += leaves(9) != 512;
    } else {
      const auto members = static_cast<std::uint64_t>(sinks.size());
      sent.calls += members - 1;
      sent.sum += members * value;
      sinks.step(&sink::take, value);
    }
  }
  settle();
  return sent;
}

TEST(remote_soak, loses_and_duplicates_nothing) {
  const std::uint64_t calls = number_from("CREEK_SOAK_CALLS", under_sanitizer ? 20'000 : 200'000);
  const std::uint64_t seed = number_from("CREEK_SEED", std::random_device{}());
  std::printf("CREEK_SEED=%llu\n", static_cast<unsigned long long>(seed));
  for (const unsigned workers : {1U, 2U, 4U, 16U, 64U}) {
    runtime rt{host(workers)};
    rt.run([&] {
      std::vector<core_id> cores;
      for (unsigned i = 0; i < 3 * workers; ++i) {
        cores.push_back(core_id{static_cast<int>(i % workers)});
      }
      const group<sink> sinks = make_group<sink>(cores, group_shape::tree(3));
      constexpr std::uint64_t callers = 4;
      std::vector<future<tally>> sent;
      for (std::uint64_t i = 0; i < callers; ++i) {
        sent.push_back(async([&sinks, each = calls / 4 / callers, from = seed + i] {
          return call_at_random(sinks, each, from, true);
        }));
      }
      tally all, of_outside;
      std::thread outside(
          [&] { of_outside = call_at_random(sinks, calls / 16 / callers, seed + callers, false); });
      for (auto& each : sent) all = all + each.get();
      blocking([&] { outside.join(); });
      all = all + of_outside;
      sinks.barrier();
      EXPECT_EQ(all.wrong, 0U);
      EXPECT_EQ(sinks.reduce([](sink& s) { return s.calls; }, std::plus{}), all.calls);
      EXPECT_EQ(sinks.reduce([](sink& s) { return s.sum; }, std::plus{}), all.sum);
    });
    rt.shut_down();
    EXPECT_EQ(short_lived::alive, 0);
    EXPECT_LE(short_lived::begun, short_lived::tried);
  }
}

}  // namespace
}  // namespace creek::support
