// SPDX-License-Identifier: Apache-2.0
// Threads of the peers that share memory: one per worker, started together.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace bench {

/// Calls `body(worker)` on `workers` threads, which begin when all of them are on a processor.
/// Returns the nanoseconds from then until the last one is done.
template <class Body>
double time_threads(unsigned workers, const Body& body) {
  using clock = std::chrono::steady_clock;
  std::vector<clock::time_point> began(workers), ended(workers);
  {
    std::atomic<unsigned> there{0};
    std::vector<std::jthread> threads;
    for (unsigned w = 0; w < workers; ++w) {
      threads.emplace_back([&, w] {
        there.fetch_add(1);
        while (there.load(std::memory_order_acquire) != workers) {
        }
        began[w] = clock::now();
        body(w);
        ended[w] = clock::now();
      });
    }
  }
  const std::chrono::duration<double, std::nano> took =
      *std::max_element(ended.begin(), ended.end()) - *std::min_element(began.begin(), began.end());
  return took.count();
}

}  // namespace bench
