// SPDX-License-Identifier: Apache-2.0
// Random calls for a long time: each arrives once, with its arguments unchanged, whatever their
// length, and failures return to the caller. CREEK_SOAK_CALLS sets their number; CREEK_SEED where
// the random numbers begin.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
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

/// Does the work of one caller, which has its own random numbers.
tally call_at_random(const group<sink>& sinks, std::uint64_t calls, std::uint64_t seed) {
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
    if (kind < 150) {
      sent.sum += value;
      to.post(&sink::take, value);
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
  for (const unsigned workers : {2U, 4U}) {
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
        sent.push_back(async([&sinks, each = calls / 2 / callers, from = seed + i] {
          return call_at_random(sinks, each, from);
        }));
      }
      tally all;
      for (auto& each : sent) all = all + each.get();
      sinks.barrier();
      EXPECT_EQ(all.wrong, 0U);
      EXPECT_EQ(sinks.reduce([](sink& s) { return s.calls; }, std::plus{}), all.calls);
      EXPECT_EQ(sinks.reduce([](sink& s) { return s.sum; }, std::plus{}), all.sum);
    });
  }
}

}  // namespace
}  // namespace creek::support
