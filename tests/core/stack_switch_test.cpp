// SPDX-License-Identifier: Apache-2.0
// Flows of control on their own stacks: the values they exchange, and how each ends.
#include <gtest/gtest.h>

#include <exception>
#include <stdexcept>

#include <creek/core/threads/stack_switch.hpp>

#include "support/process_facts.hpp"

namespace creek {
namespace {

constexpr std::size_t stack_bytes = std::size_t{64} << 10;

int steps = 0;

// Has data that sanitizers watch on each stack while the other one runs.
[[gnu::noinline]] void step(volatile int* counted) {
  *counted = *counted + 1;
  steps += *counted;
}

void count_up(switch_context& self, switch_context& previous) {
  volatile int counted = 0;
  for (switch_context* back = &previous;;) {
    step(&counted);
    back = &switch_stacks(self, *back);
  }
}

struct flow {
  explicit flow(void (*entry)(switch_context&, switch_context&)) {
    prepare_context(context, stack, stack_bytes, entry);
  }
  flow(const flow&) = delete;
  flow& operator=(const flow&) = delete;
  ~flow() {
    release_context(context);
    unmap_guarded(stack, stack_bytes);
  }

  std::byte* stack = map_guarded(stack_bytes);
  switch_context context;
};

TEST(stack_switch, goes_to_and_fro) {
  switch_context here;
  adopt_thread_stack(here);
  flow other(count_up);
  steps = 0;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(&switch_stacks(here, other.context), &other.context);
  }
  EXPECT_EQ(steps, 1 + 2 + 3);
}

void handle_one(switch_context& self, switch_context& previous) {
  switch_context* back = &previous;
  try {
    throw std::runtime_error("theirs");
  } catch (const std::exception&) {
    back = &switch_stacks(self, *back);
  }
  for (;;) back = &switch_stacks(self, *back);
}

TEST(stack_switch, leaves_each_flow_its_exceptions) {
  switch_context here;
  adopt_thread_stack(here);
  flow other(handle_one);
  try {
    throw std::runtime_error("mine");
  } catch (const std::exception&) {
    switch_stacks(here, other.context);
    try {
      std::rethrow_exception(std::current_exception());
    } catch (const std::exception& current) {
      EXPECT_STREQ(current.what(), "mine");
    }
  }
  switch_stacks(here, other.context);
  EXPECT_FALSE(std::current_exception());
}

// AddressSanitizer gives every flow a second stack if it looks for uses of frames after their
// functions have returned.
TEST(stack_switch, gives_all_memory_back) {
  switch_context here;
  adopt_thread_stack(here);
  const auto use_one = [&] {
    flow other(count_up);
    switch_stacks(here, other.context);
  };
  for (int i = 0; i < 10; ++i) use_one();
  const std::size_t before = support::address_space();
  for (int i = 0; i < 300; ++i) use_one();
  EXPECT_LT(support::address_space(), before + 100 * stack_bytes);
}

}  // namespace
}  // namespace creek
