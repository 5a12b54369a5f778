// SPDX-License-Identifier: Apache-2.0
// One cache line to the other core and one back: the minimum cost of any message and its answer.
// Two lines, each written by one side only. n round trips.
#include <atomic>
#include <thread>

#include "harness/workload.hpp"
#include "pinning.hpp"

namespace bench::limits {
namespace {

constexpr description what{.name = "ping_pong",
                           .about = "cache line to another core and back",
                           .unit = "ns",
                           .full = 640'000,
                           .quick = 64'000,
                           .smoke = 640,
                           .min_workers = 2,
                           .limit = true,
                           .groups = "tasking invoke sections"};

struct alignas(64) line {
  std::atomic<std::int64_t> value{0};
};

void wait_for(const line& l, std::int64_t value) {
  while (l.value.load(std::memory_order_acquire) != value) {
  }
}

sample measure(const settings& s) {
  const auto [here, there] = two_cpus();
  line ping;
  line pong;
  std::jthread partner([&, cpu = there] {
    const pin stay(cpu);
    for (std::int64_t i = 1; i <= repeats(s.n); ++i) {
      wait_for(ping, i);
      pong.value.store(i, std::memory_order_release);
    }
  });
  const pin stay(here);
  std::int64_t i = 0;
  sample result = median_of_parts(s.n, [&] {
    ping.value.store(++i, std::memory_order_release);
    wait_for(pong, i);
  });
  result.answer = static_cast<std::uint64_t>(pong.value.load());
  return result;
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::limits
