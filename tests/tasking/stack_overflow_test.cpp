// SPDX-License-Identifier: Apache-2.0
// A task that needs more stack than it has dies of SIGSEGV with a line that names it; every other
// fault is handled as it would be without creek.
#include <gtest/gtest.h>

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <creek/core/threads/stack_pool.hpp>
#include <creek/core/threads/stack_slabs.hpp>
#include <creek/host.hpp>
#include <creek/tasking.hpp>

#include "support/guard_marks.hpp"
#include "support/process_facts.hpp"

namespace creek::support {
namespace {

/// Frames of about `Bytes`, touched at one end only.
template <std::size_t Bytes>
[[gnu::noinline]] int endless(int depth) {
  volatile char frame[Bytes];
  frame[0] = static_cast<char>(depth);
  return depth < 0 ? 0 : endless<Bytes>(depth + 1) + frame[0];
}

struct call_tree_walker {
  void operator()() const { endless<256>(0); }
};
struct stepping_over_pages {
  void operator()() const { endless<20000>(0); }
};

class stack_overflow : public ::testing::Test {
 protected:
  stack_overflow() { ::testing::FLAGS_gtest_death_test_style = "threadsafe"; }
  static runtime small_stacks() {
    scheduler_options options;
    options.workers = 2;
    options.stack_size = std::size_t{128} << 10;
    return runtime{host(options)};
  }
};

TEST_F(stack_overflow, in_a_spawned_task_names_the_task_and_the_remedy) {
  EXPECT_EXIT(small_stacks().run([] {
    spawn(call_tree_walker{});
    taskwait();
  }),
              died_of_fault,
              "creek: stack overflow in task '.*call_tree_walker': its stack of 128 KiB is full; "
              "raise scheduler_options::stack_size or CREEK_STACK_SIZE");
}

TEST_F(stack_overflow, in_run_names_its_closure) {
  EXPECT_EXIT(small_stacks().run(call_tree_walker{}), died_of_fault,
              "stack overflow in task '.*call_tree_walker'");
}

TEST_F(stack_overflow, in_async_names_its_closure) {
  EXPECT_EXIT(small_stacks().run([] { async(call_tree_walker{}).get(); }), died_of_fault,
              "stack overflow in task '.*call_tree_walker");
}

TEST_F(stack_overflow, in_a_stolen_branch_names_the_branch) {
  EXPECT_EXIT(small_stacks().run([] {
    fork_join(
        [] {
          while (true) usleep(1000);
        },
        call_tree_walker{});
  }),
              died_of_fault, "stack overflow in task '.*call_tree_walker'");
}

TEST_F(stack_overflow, is_caught_when_frames_step_over_a_page) {
  EXPECT_EXIT(small_stacks().run(stepping_over_pages{}), died_of_fault,
              "stack overflow in task '.*stepping_over_pages'");
}

TEST_F(stack_overflow, is_not_reported_for_other_faults) {
  EXPECT_EXIT(small_stacks().run([] {
    static volatile int* nowhere = nullptr;
    if (write(STDERR_FILENO, "before;", 7) != 7) return;
    *nowhere = 1;
  }),
              died_of_fault, under_sanitizer ? "before;" : "before;$");
}

TEST_F(stack_overflow, hands_on_to_the_handler_that_was_there) {
  const auto dies_in_own_handler = [] {
    struct sigaction own {};
    own.sa_handler = [](int) { _exit(42); };
    own.sa_flags = SA_ONSTACK;
    sigaction(SIGSEGV, &own, nullptr);
    small_stacks().run(call_tree_walker{});
  };
  EXPECT_EXIT(dies_in_own_handler(), ::testing::ExitedWithCode(42), "stack overflow in task");
}

/// Has `tasks` tasks wait for ever, then runs `last` on a stack that none of them had: a second
/// worker might idle on an older stack, or on one that the overflow goes through.
template <class F>
void run_after(std::size_t tasks, F last) {
  scheduler_options options;
  options.workers = 1;
  options.stack_size = std::size_t{128} << 10;
  runtime rt{host(options)};
  std::vector<promise<void>> never(tasks);
  std::vector<future<void>> waits;
  std::atomic<std::size_t> begun{0};
  for (auto& each : never) {
    waits.push_back(rt.async([&begun, f = each.get_future()]() mutable {
      begun.fetch_add(1);
      f.get();
    }));
  }
  while (begun.load() < tasks) std::this_thread::yield();
  // Takes the stacks that the worker had made in advance, perhaps long ago.
  rt.async([] {
      static std::vector<promise<void>> more(20);
      for (auto& each : more) spawn([&each] { each.get_future().get(); });
    }).detach();
  future<void> ending = rt.async(last);
  (void)ending.wait_for(std::chrono::minutes(1));
  std::_Exit(1);  // the tasks still wait, and perhaps the last one
}

/// A few KiB more than the stack has, and then a wait. Addresses of variables would not tell the
/// depth: AddressSanitizer may keep those elsewhere.
struct too_deep_before_a_wait {
  [[gnu::noinline]] static int dig(std::uintptr_t top) {
    volatile char frame[64];
    frame[0] = 1;
    const std::uintptr_t used = top - reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    return used > (std::uintptr_t{136} << 10) ? 0 : dig(top) + frame[0];
  }
  void operator()() const {
    if (dig(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0))) < 0) return;
    promise<void> never;
    never.get_future().get();
  }
};

constexpr std::size_t in_pool = stack_pool_limits::stacks + 10;
constexpr std::size_t with_guards = in_pool + stack_slabs::max_mapped_guards;

TEST_F(stack_overflow, of_a_stack_of_a_slab_names_the_task) {
  EXPECT_EXIT(run_after(in_pool, call_tree_walker{}), died_of_fault,
              "stack overflow in task '.*call_tree_walker.*128 KiB");
  EXPECT_EXIT(run_after(in_pool, too_deep_before_a_wait{}), died_of_fault,
              "stack overflow in task '.*too_deep_before_a_wait.*128 KiB");
}

TEST_F(stack_overflow, of_a_stack_without_a_guard_names_the_task) {
  if (under_tsan) GTEST_SKIP() << "ThreadSanitizer knows some 8000 fibers";
  const auto without_marks = [](auto last) {
    if (refuse_guard_marks()) run_after(with_guards, last);
  };
  EXPECT_EXIT(without_marks(call_tree_walker{}), died_of_fault,
              "stack overflow in task '.*call_tree_walker.*128 KiB");
  EXPECT_EXIT(without_marks(too_deep_before_a_wait{}), ::testing::KilledBySignal(SIGABRT),
              "stack overflow in task '.*too_deep_before_a_wait.*128 KiB");
}

}  // namespace
}  // namespace creek::support
