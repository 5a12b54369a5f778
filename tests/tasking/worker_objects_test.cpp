// SPDX-License-Identifier: Apache-2.0
// Objects on workers of ranks that are host threads.
#include <creek/tasking/worker_objects.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <creek/host/spmd.hpp>

#include "support/process_facts.hpp"
#include "worker_objects_cases.hpp"

namespace creek {
namespace {

using namespace worker_objects_cases;

class WorkerObjects : public testing::TestWithParam<int> {};

TEST_P(WorkerObjects, OnHostThreads) {
  spmd(GetParam(), [](host_communicator& c) { run_all(c); });
}

INSTANTIATE_TEST_SUITE_P(Sizes, WorkerObjects, testing::Values(1, 2, 3));

TEST(WorkerObjectsUse, NeedsWorkersOfTheRank) {
  spmd(2, [](host_communicator& c) {
    runtime rt{host{1}};
    object_space space(c);
    if (c.rank() == 0) use_workers(space, rt);
    const auto make = [&] { (void)space.make_on<account>({1, 0}); };
    EXPECT_EQ(what_of<usage_error>(make),
              "a call of worker 0 of rank 1, whose object_space has no workers: give it some by "
              "use_workers()");
    EXPECT_EQ(space.worker_count(0), 1);
    EXPECT_EQ(space.worker_count(1), 0);
    EXPECT_EQ(space.make_on_all_workers<account>().size(), 1);
    if (c.rank() == 0) {
      EXPECT_THROW(use_workers(space, rt), usage_error);
    }
  });
  spmd(1, [](host_communicator& c) {
    object_space space(c);
    EXPECT_EQ(what_of<usage_error>([&] { (void)space.make_on_all_workers<account>(); }),
              "no rank has workers for objects: call use_workers()");
    runtime ended{host{1}};
    ended.shut_down();
    EXPECT_THROW(use_workers(space, ended), usage_error);
  });
}

bool has_backend(const std::string& name) {
  const std::vector<std::string> all = backends();
  return std::ranges::find(all, name) != all.end();
}

/// A worker of oneTBB is just a number, and calls are tasks that any thread runs.
TEST(WorkerObjectsUse, WorksOnOneTbb) {
  if (!has_backend("tbb") || support::under_sanitizer) GTEST_SKIP() << "no oneTBB";
  scheduler_options options;
  options.workers = workers_per_rank;
  spmd(2, [&](host_communicator& c) {
    runtime workers(options, "tbb");
    for (const auto& one : {&keeps_the_order_of_each_caller, &passes_exceptions_on,
                            &runs_tasks_in_calls, &makes_counted_objects, &stress}) {
      object_space space(c);
      use_workers(space, workers);
      one(space);
    }
    c.barrier();
    EXPECT_EQ(counted::made, counted::ended);
    c.barrier();
  });
  counted::ended_elsewhere = 0;
}

TEST(WorkerObjectsUse, IsRefusedOnTheChip) {
  if (!has_backend("scc")) GTEST_SKIP() << "no simulated chip";
  spmd(1, [](host_communicator& c) {
    object_space space(c);
    runtime chip(scheduler_options{}, "scc");
    EXPECT_EQ(what_of<usage_error>([&] { use_workers(space, chip); }),
              "use_workers: the workers of the simulated chip run in run() only");
  });
}

/// Calls are refused, and objects destroyed, when the runtime has ended first.
TEST(WorkerObjectsUse, OutlivesTheRuntime) {
  const int before = counted::made - counted::ended;
  spmd(1, [](host_communicator& c) {
    auto rt = std::make_unique<runtime>(host{2});
    object_space space(c);
    use_workers(space, *rt);
    const auto one = space.make_on<account>({0, 0}, "Ada", 1);
    const auto other = space.make_on<counted>({0, 1});
    rt.reset();
    EXPECT_EQ(what_of<usage_error>([&] { one.call<&account::balance>(); }),
              "a call of an object whose worker has ended with its runtime");
    EXPECT_EQ(what_of<usage_error>([&] {
                (void)space.make_on<account>({0, 1});
              }),
              "a call of a worker whose runtime has ended");
    one.post<&account::deposit>(1);
    EXPECT_THROW(space.barrier(), usage_error);
    (void)other;
  });
  EXPECT_EQ(counted::made - counted::ended, before);
  EXPECT_EQ(counted::ended_elsewhere.exchange(0), 1);  // by this thread
}

/// The end of the object space by an exception waits for the calls that its workers run.
TEST(WorkerObjectsUse, EndsByAnExceptionWhileCallsRun) {
  const int before = counted::made - counted::ended;
  static std::atomic<int> calls;
  calls = 0;
  const auto body = [](host_communicator& c) {
    runtime rt{host{2}};
    object_space space(c);
    use_workers(space, rt);
    const auto one = space.make_on<counted>({c.rank(), 0});
    constexpr auto count = [](counted&) { ++calls; };
    for (int i = 0; i < 100; ++i) one.post<count>();
    auto made = space.async_on<[] { return std::string(100'000, 'x'); }>(worker_address{0, 1});
    space.poll();
    throw error(EIO, "a rank that ends");
  };
  EXPECT_EQ(what_of<error>([&] { spmd(1, body); }), "a rank that ends: Input/output error");
  EXPECT_EQ(calls, 100);
  EXPECT_EQ(counted::made - counted::ended, before);
}

}  // namespace
}  // namespace creek
