// SPDX-License-Identifier: Apache-2.0
#include <creek/mapreduce/detail/parallel.hpp>

#include <atomic>
#include <exception>
#include <mutex>

#include <creek/tasking/parallel_for.hpp>

namespace creek::mapreduce::detail {

void for_each_index(std::size_t n, function_ref<void(std::size_t)> f) {
  creek::parallel_for(std::size_t{0}, n, f, {.grain = 1});
}

void deal(std::size_t n, std::size_t takers, function_ref<void(std::size_t, std::size_t)> f) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;  // guards the two below
  std::size_t failed = n;
  std::exception_ptr why;
  for_each_index(takers, [&](std::size_t taker) {
    for (std::size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < n;) {
      try {
        f(taker, i);
      } catch (...) {
        next.store(n, std::memory_order_relaxed);
        const std::lock_guard lock(mutex);
        if (i < failed) {
          failed = i;
          why = std::current_exception();
        }
        return;
      }
    }
  });
  if (why) std::rethrow_exception(why);
}

}  // namespace creek::mapreduce::detail
