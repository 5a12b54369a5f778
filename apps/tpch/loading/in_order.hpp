// SPDX-License-Identifier: Apache-2.0
// Processes the pieces of a file in several tasks, from the front to the end.
#pragma once

#include <atomic>
#include <creek/tasking/parallel_for.hpp>
#include <creek/tasking/this_worker.hpp>
#include <cstddef>

namespace creek::tpch {

/// Runs as many tasks as there are workers; each calls `make()` once and passes the function it
/// returns some of the numbers 0, 1, ... n-1, in order and each once. Outside a runtime: this
/// thread. After an exception no more numbers are handed out; it is rethrown here.
template <class Make>
void in_order(std::size_t n, Make&& make) {
  std::atomic<std::size_t> next{0};
  parallel_for(0u, worker_count(),
               [&](unsigned) {
                 try {
                   auto&& visit = make();
                   for (std::size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < n;)
                     visit(i);
                 } catch (...) {
                   next.store(n, std::memory_order_relaxed);
                   throw;
                 }
               },
               {.grain = 1});
}

}  // namespace creek::tpch
