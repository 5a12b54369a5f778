// SPDX-License-Identifier: Apache-2.0
// The state of a stack stays with it while strands are suspended and resumed on other threads.
// Stacks cost only touched pages, which are released when they are idle.
#include <gtest/gtest.h>

#include <atomic>
#include <cfenv>
#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <creek/core/threads/stack_pool.hpp>
#include <creek/core/threads/stack_slabs.hpp>
#include <creek/host.hpp>
#include <creek/tasking.hpp>

#include "support/process_facts.hpp"

namespace creek::support {
namespace {

/// Always suspends the calling strand; another one resumes it, usually on another thread.
void wander() {
  promise<void> back;
  auto arrived = back.get_future();
  spawn([&back] { back.set_value(); });
  for (int i = 0; i < 3; ++i) std::this_thread::yield();
  arrived.get();
}

TEST(strands, keep_the_exception_they_handle) {
  runtime rt{host(3)};
  constexpr int strands = 200;
  std::atomic<int> right{0};
  rt.run([&] {
    for (int i = 0; i < strands; ++i) {
      spawn([&right, i] {
        try {
          throw i;
        } catch (...) {
          wander();
          try {
            throw std::to_string(i);
          } catch (const std::string& inner) {
            wander();
            EXPECT_EQ(inner, std::to_string(i));
          }
          wander();
          EXPECT_EQ(std::uncaught_exceptions(), 0);
          try {
            std::rethrow_exception(std::current_exception());
          } catch (int outer) {
            if (outer == i) right.fetch_add(1);
          }
        }
        EXPECT_EQ(std::current_exception(), nullptr);
      });
    }
    taskwait();
  });
  EXPECT_EQ(right.load(), strands);
}

TEST(strands, keep_the_count_of_exceptions_on_their_way) {
  struct waits_while_unwinding {
    int& seen;
    ~waits_while_unwinding() {
      const int before = std::uncaught_exceptions();
      wander();
      seen = before == std::uncaught_exceptions() ? before : -1;
    }
  };
  runtime rt{host(3)};
  std::atomic<int> right{0};
  rt.run([&] {
    for (int i = 0; i < 100; ++i) {
      spawn([&right] {
        int seen = 0;
        try {
          waits_while_unwinding guard{seen};
          throw std::runtime_error("on its way");
        } catch (const std::runtime_error&) {
          if (seen == 1 && std::uncaught_exceptions() == 0) right.fetch_add(1);
        }
      });
    }
    taskwait();
  });
  EXPECT_EQ(right.load(), 100);
}

TEST(strands, keep_their_rounding_mode) {
  runtime rt{host(2)};
  rt.run([] {
    spawn([] {
      std::fesetround(FE_UPWARD);
      wander();
      EXPECT_EQ(std::fegetround(), FE_UPWARD);
      std::fesetround(FE_TONEAREST);
    });
    spawn([] {
      wander();
      EXPECT_EQ(std::fegetround(), FE_TONEAREST);
    });
    taskwait();
  });
}

TEST(strands, may_find_their_wait_over_any_number_of_times) {
  runtime rt{host([] {
    scheduler_options options;
    options.workers = 2;
    options.stack_size = std::size_t{16} << 10;
    return options;
  }())};
  int tries = 0;
  rt.run([&] {
    for (int i = 0; i < 20000; ++i) {
      const auto over = [](void* count, ext::strand*) {
        ++*static_cast<int*>(count);
        return false;
      };
      ext::suspend_here(over, &tries, "a test");
    }
  });
  EXPECT_EQ(tries, 20000);
}

/// Suspends `strands` strands at once, each after `first`; returns the resident bytes they added.
template <class F>
std::size_t suspend_many(runtime& rt, int strands, F first) {
  std::vector<promise<int>> values(static_cast<std::size_t>(strands));
  std::vector<future<int>> results;
  std::atomic<int> waiting{0};
  const std::size_t before = resident_bytes();
  for (auto& value : values) {
    results.push_back(rt.async([&waiting, first, f = value.get_future()]() mutable {
      first();
      waiting.fetch_add(1);
      return f.get();
    }));
  }
  while (waiting.load() < strands) std::this_thread::yield();
  const std::size_t now = resident_bytes();
  for (int i = 0; i < strands; ++i) values[static_cast<std::size_t>(i)].set_value(i);
  long sum = 0;
  for (auto& each : results) sum += each.get();
  EXPECT_EQ(sum, static_cast<long>(strands) * (strands - 1) / 2);
  return now > before ? now - before : 0;
}
constexpr auto nothing = [] {};

// ThreadSanitizer knows at most about 8000 threads and fibers together.
constexpr int many = under_sanitizer ? 1000 : 10000;

TEST(suspended_strands, cost_the_pages_they_touched) {
  runtime rt{host(2)};
  const std::size_t each = suspend_many(rt, many, nothing) / many;
  std::printf("%d strands suspended at once, %zu bytes resident each\n", many, each);
  if (!under_sanitizer) {
    EXPECT_LT(each, 6144U) << "a page, and the future";
  }
}

TEST(suspended_strands, are_not_limited_by_the_number_of_mappings) {
  constexpr std::size_t strands = under_tsan ? 1000 : under_asan ? 10000 : 100000;
  runtime rt{host(2)};
  const std::size_t mappings = mapping_count();
  std::vector<promise<void>> events(strands);
  std::vector<future<void>> waits;
  for (auto& each : events) waits.push_back(each.get_future());
  std::atomic<std::size_t> begun{0}, ended{0};
  std::thread outside([&] {
    while (begun.load() < strands) std::this_thread::yield();
    if (!under_sanitizer) {
      // Guards are mappings too where the kernel has no marks for them, but not all.
      const std::size_t guards = 2 * (stack_slabs::max_mapped_guards + stack_pool_limits::stacks);
      EXPECT_LE(mapping_count(), mappings + guards + 200);
    }
    for (auto& each : events) each.set_value();
  });
  rt.run([&] {
    constexpr std::size_t group = 1000;  // fits a deque
    for (std::size_t first = 0; first < strands; first += group) {
      spawn([&, first] {
        for (std::size_t i = first; i < first + group; ++i) {
          spawn([&, i] {
            begun.fetch_add(1);
            waits[i].get();
            ended.fetch_add(1);
          });
        }
        taskwait();
      });
    }
    taskwait();
  });
  outside.join();
  EXPECT_EQ(ended.load(), strands);
}

TEST(suspended_strands, leave_stacks_for_the_next) {
  runtime rt{host(3)};
  suspend_many(rt, 1000, nothing);
  const std::size_t before = address_space();
  for (int wave = 0; wave < 10; ++wave) suspend_many(rt, 1000, nothing);
  if (under_asan) GTEST_SKIP() << "AddressSanitizer maps stacks of its own beside these";
  // Each worker may keep 128 for itself, and the last slab has more than are used.
  const std::size_t stack = (std::size_t{1} << 20) + (std::size_t{200} << 10);
  EXPECT_LE(address_space(), before + 3000 * stack) << "stacks are not taken from the pool";
}

/// Touches this number of bytes of the stack.
[[gnu::noinline]] void dig(std::size_t bytes) {
  volatile std::byte frame[4096];
  std::memset(const_cast<std::byte*>(frame), 1, sizeof frame);
  if (bytes > sizeof frame) dig(bytes - sizeof frame);
  frame[0] = std::byte{0};
}

TEST(idle_stacks, give_their_pages_back) {
  if (under_sanitizer) GTEST_SKIP() << "resident memory of a sanitizer is its own";
  runtime rt{host(2)};
  constexpr std::size_t strands = 2000, depth = std::size_t{64} << 10;
  const std::size_t before = resident_bytes();
  const std::size_t grown = suspend_many(rt, strands, [] { dig(depth); });
  const std::size_t after = resident_bytes();
  EXPECT_GT(grown, strands * depth) << "the test dug deep enough";
  EXPECT_LT(after, before + grown / 2) << "only a few stacks stay warm";
}

/// A strand that waits for its own task, which no worker has begun.
TEST(suspended_strands, offer_what_they_have_not_begun) {
  for (const auto scheduler : {scheduler_kind::stealing_random, scheduler_kind::sharing}) {
    for (const auto deque : {deque_kind::host, deque_kind::mpb}) {
      scheduler_options options;
      options.workers = 1;
      options.scheduler = scheduler;
      options.deque = deque;
      runtime rt{host(options)};
      std::atomic<int> ran{0};
      rt.run([&] {
        constexpr int tasks = 500;
        promise<void> last;
        auto all = last.get_future();
        for (int i = 0; i < tasks; ++i) {
          spawn([&] {
            if (ran.fetch_add(1) + 1 == tasks) last.set_value();
          });
        }
        all.get();  // not a wait for children: none of them may run on this stack
      });
      EXPECT_EQ(ran.load(), 500);
    }
  }
}

TEST(tiny_stacks, are_enough_for_small_tasks) {
  scheduler_options options;
  options.workers = 2;
  options.stack_size = std::size_t{under_sanitizer ? 64 : 16} << 10;
  options.deque_capacity = 2;
  runtime rt{host(options)};
  suspend_many(rt, 500, nothing);
}

}  // namespace
}  // namespace creek::support
