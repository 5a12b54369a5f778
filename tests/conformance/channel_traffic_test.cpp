// SPDX-License-Identifier: Apache-2.0
// Random operations on channels of every form, with a seed that is printed: nothing is lost,
// nothing comes twice.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "channel_forms.hpp"
#include "support/seed.hpp"

namespace {

using namespace conformance;
using namespace std::chrono_literals;
using creek::channel;
using creek::channel_status;

class ChannelTraffic : public ChannelConformance {};
CONFORMANCE(ChannelTraffic);

struct numbered {
  int producer = 0, number = 0;
};

/// Producers and consumers that send, receive, try, give up and use batches at random: every item
/// arrives once, and those of a producer in order at each consumer.
template <class Form>
void random_traffic(std::uint64_t seed, int producers, int consumers, int items,
                    std::size_t capacity, bool has_clock,
                    const std::function<void(std::function<void()>)>& start,
                    const std::function<void()>& join) {
  channel<numbered, Form> c(capacity);
  std::atomic<int> senders{producers};
  std::vector<std::vector<int>> got(static_cast<std::size_t>(consumers * producers));
  for (int p = 0; p < producers; ++p) {
    start([&, p] {
      std::minstd_rand random(static_cast<unsigned>(seed) + static_cast<unsigned>(p) * 7 + 1);
      for (int n = 0; n < items;) {
        const numbered item{p, n};
        switch (random() % 4) {
          case 0:
            if (has_clock) {
              if (c.send_for(item, std::chrono::microseconds(random() % 50))) ++n;
              break;
            }
            [[fallthrough]];
          case 1: {
            std::vector<numbered> batch;
            for (int i = 0; i < static_cast<int>(1 + random() % 5) && n + i < items; ++i)
              batch.push_back({p, n + i});
            n += static_cast<int>(c.send_batch(batch.begin(), batch.size()));
            break;
          }
          case 2:
            if (c.try_send(item)) {
              ++n;
              break;
            }
            [[fallthrough]];
          default:
            if (c.send(item)) ++n;
        }
      }
      if (senders.fetch_sub(1) == 1) c.close();
    });
  }
  for (int q = 0; q < consumers; ++q) {
    start([&, q] {
      std::minstd_rand random(static_cast<unsigned>(seed) + static_cast<unsigned>(q) * 13 + 5);
      const auto keep = [&](const numbered& item) {
        got[static_cast<std::size_t>(q * producers + item.producer)].push_back(item.number);
      };
      for (;;) {
        std::array<numbered, 4> batch;
        if (random() % 3 == 0) {
          const std::size_t count = c.receive_batch(batch.begin(), 1 + random() % 4);
          if (count == 0) return;
          for (std::size_t i = 0; i < count; ++i) keep(batch[i]);
          continue;
        }
        auto item = random() % 2 == 0 && has_clock
                        ? c.receive_for(std::chrono::microseconds(random() % 50))
                        : c.receive();
        if (item) keep(*item);
        if (item.status() == channel_status::closed) return;
      }
    });
  }
  join();
  for (int p = 0; p < producers; ++p) {
    std::vector<int> all;
    for (int q = 0; q < consumers; ++q) {
      const auto& part = got[static_cast<std::size_t>(q * producers + p)];
      EXPECT_TRUE(std::is_sorted(part.begin(), part.end())) << "out of order";
      all.insert(all.end(), part.begin(), part.end());
    }
    std::sort(all.begin(), all.end());
    std::vector<int> expected(static_cast<std::size_t>(items));
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(all, expected) << "items of producer " << p << " lost or doubled";
  }
}

TEST_P(ChannelTraffic, LosesNothingInRandomTraffic) {
  std::printf("seed %llu\n", static_cast<unsigned long long>(creek::support::chosen_seed()));
  SCOPED_TRACE("CREEK_TEST_SEED=" + std::to_string(creek::support::chosen_seed()));
  std::uint64_t seed = creek::support::chosen_seed();
  in_each_runtime([&] {
    for_each_form([&](auto form) {
      using Form = decltype(form);
      const int producers = Form::many_producers ? 3 : 1;
      const int consumers = Form::many_consumers ? 3 : 1;
      const std::size_t capacity = 1 + seed++ % 5;
      random_traffic<Form>(
          seed, producers, consumers, 60, capacity, !is_simulated(),
          [](std::function<void()> f) { creek::spawn(std::move(f)); }, [] { creek::taskwait(); });
    });
  });
}

/// Half of the ends are threads that belong to no runtime.
TEST_P(ChannelTraffic, LosesNothingBetweenTasksAndThreads) {
  if (is_simulated()) return;
  SCOPED_TRACE("CREEK_TEST_SEED=" + std::to_string(creek::support::chosen_seed()));
  std::uint64_t seed = creek::support::chosen_seed();
  in_each_runtime([&] {
    for_each_form([&](auto form) {
      using Form = decltype(form);
      std::vector<std::thread> threads;
      int started = 0;
      ++seed;
      random_traffic<Form>(
          seed, Form::many_producers ? 2 : 1, Form::many_consumers ? 2 : 1, 60, 1 + seed % 3, true,
          [&](std::function<void()> f) {
            if (started++ % 2 == 0) {
              threads.emplace_back(std::move(f));
            } else {
              creek::spawn(std::move(f));
            }
          },
          [&] {
            creek::taskwait();
            for (auto& each : threads) each.join();
          });
    });
  });
}

}  // namespace
