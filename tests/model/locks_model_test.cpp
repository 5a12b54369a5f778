// SPDX-License-Identifier: Apache-2.0
// Locks over memory that goes stale: inside, a counter in a block is read, raised, written back.
#include <gtest/gtest.h>

#include <mutex>

#include <creek/core/protocols/mcs_lock.hpp>
#include <creek/core/protocols/test_and_set_lock.hpp>
#include <creek/core/protocols/ticket_lock.hpp>

#include "stale_memory.hpp"

namespace {

using namespace creek;
using namespace creek::model;

template <class Memory, class MakeLock>
outcome count_under(int cores, int rounds, exploration how, MakeLock make_lock) {
  int inside = 0;
  word total = 0;
  return explore_on<Memory>(
      cores, how,
      [&](Memory& memory) {
        auto lock = make_lock(memory);
        for (int round = 0; round < rounds; ++round) {
          const std::lock_guard guard{lock};
          expect(++inside == 1, "two cores inside");
          memory.invalidate();
          const auto counter = memory.at(core_id{0}, 512);
          word value = 0;
          memory.read(&value, counter, sizeof value);
          ++value;
          memory.write(counter, &value, sizeof value);
          memory.flush();
          total = value;
          --inside;
        }
      },
      [&] { inside = 0; },
      [&] { expect(total == static_cast<word>(cores * rounds), "a lost increment"); });
}

const auto test_and_set = [](auto& memory) { return test_and_set_lock{memory, core_id{0}}; };
const auto ticket = [](auto& memory) { return ticket_lock{memory, core_id{0}, 0, counter_id{0}}; };
const auto mcs = [](auto& memory) { return mcs_lock{memory, core_id{0}, 64}; };

template <class MakeLock>
void check_lock(MakeLock make_lock) {
  const outcome two = count_under<stale_memory>(2, 2, {.preemptions = 3}, make_lock);
  EXPECT_EQ(two.failure, "");
  EXPECT_TRUE(two.complete);
  const outcome three = count_under<stale_memory>(3, 1, {.preemptions = 3}, make_lock);
  EXPECT_EQ(three.failure, "");
  EXPECT_TRUE(three.complete);
  EXPECT_EQ(count_under<stale_memory>(5, 4, {.random_runs = 2000}, make_lock).failure, "");
}

TEST(LockModel, TestAndSet) {
  check_lock(test_and_set);
}
TEST(LockModel, Ticket) {
  check_lock(ticket);
}
TEST(LockModel, Mcs) {
  check_lock(mcs);
}

TEST(LockModel, FindsDataThatWasNotFlushed) {
  EXPECT_NE(count_under<memory_that_never_flushes>(2, 2, {}, ticket).failure, "");
}
TEST(LockModel, FindsDataReadFromAStaleCopy) {
  EXPECT_NE(count_under<memory_that_never_invalidates>(2, 2, {}, ticket).failure, "");
}

// A lock that tests and acquires in two steps.
struct broken_lock {
  stale_memory& memory;
  void lock() {
    const auto taken = memory.at(core_id{0}, 128).as<word>();
    memory.wait_until(taken, [](word t) { return t == 0; });
    memory.store(taken, 1);
  }
  void unlock() { memory.store(memory.at(core_id{0}, 128).as<word>(), 0); }
};
TEST(LockModel, FindsALockThatIsNone) {
  const auto make = [](stale_memory& memory) { return broken_lock{memory}; };
  EXPECT_NE(count_under<stale_memory>(2, 1, {.preemptions = 2}, make).failure, "");
}

}  // namespace
