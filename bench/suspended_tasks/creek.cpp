// SPDX-License-Identifier: Apache-2.0
// A promise per task. Tasks are spawned by others in groups that fit a deque.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

#include "config.hpp"
#include "harness/creek_runtime.hpp"

namespace bench::suspended_tasks {
namespace {

constexpr std::size_t group = 1000;

struct figures {
  double ns = 0;
  double bytes = 0;
  std::uint64_t ended = 0;
};

figures run(const settings& s) {
  const auto n = static_cast<std::size_t>(s.n);
  std::vector<creek::promise<void>> events(n);
  std::vector<creek::future<void>> arrivals;
  arrivals.reserve(n);
  for (auto& each : events) arrivals.push_back(each.get_future());
  std::atomic<std::size_t> begun{0}, ended{0};
  figures result;
  creek::runtime rt = new_runtime(s);
  const double before = memory_in_use();
  double measuring = 0;
  const double all = timed([&] {
    std::jthread outside([&] {
      while (begun.load(std::memory_order_acquire) < n) std::this_thread::yield();
      measuring = timed([&] { result.bytes = memory_in_use() - before; });
      for (auto& each : events) each.set_value();
    });
    rt.run([&] {
      for (std::size_t first = 0; first < n; first += group) {
        creek::spawn([&, first] {
          for (std::size_t i = first; i < std::min(n, first + group); ++i) {
            creek::spawn([&, i] {
              begun.fetch_add(1, std::memory_order_acq_rel);
              arrivals[i].get();
              ended.fetch_add(1, std::memory_order_relaxed);
            });
          }
          creek::taskwait();
        });
      }
      creek::taskwait();
    });
  });
  result.ns = all - measuring;
  result.ended = ended.load();
  return result;
}

sample measure_time(const settings& s) {
  const figures seen = run(s);
  return {seen.ns, static_cast<double>(s.n), seen.ended};
}
sample measure_bytes(const settings& s) {
  const figures seen = run(s);
  return {seen.bytes, static_cast<double>(s.n), seen.ended};
}

const registration with_time{what, measure_time};
const registration with_bytes{bytes, measure_bytes};

}  // namespace
}  // namespace bench::suspended_tasks
