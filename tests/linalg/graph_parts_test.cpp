// SPDX-License-Identifier: Apache-2.0
// Parts of the task graph, each by itself: the count of strands, the schedule under its lock, the
// list of ended tasks, the records, failures; and what a graph tells an observer.
#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include <creek/linalg/task_graph.hpp>

#include "graph/execution/graph_schedule.hpp"
#include "graph/execution/strand_count.hpp"
#include "graph/graph_failure.hpp"
#include "graph/records/block_table.hpp"
#include "graph/records/ended_tasks.hpp"
#include "graph/records/task_links.hpp"

namespace creek::linalg::detail {
namespace {

// --- The count of strands ----------------------------------------------------------------------

TEST(StrandCount, LeavesOneWorkerToAnEnqueuerAtWork) {
  strand_count strands;
  strands.begin(4, false);
  EXPECT_EQ(strands.count_spawns({}, 2), 2u);
  EXPECT_EQ(strands.count_spawns({}, 9), 1u);
  EXPECT_EQ(strands.count_spawns({}, 9), 0u);
  strands.let_enqueuer_wait(true);
  EXPECT_EQ(strands.count_spawns({}, 9), 1u);
  strands.let_enqueuer_wait(false);
  EXPECT_FALSE(strands.may_stay(~0U));
  strands.leave();
  EXPECT_TRUE(strands.may_stay(~0U));
}

TEST(StrandCount, KeepsOneStrandWhateverAPolicySays) {
  strand_count strands;
  strands.begin(4, false);
  EXPECT_EQ(strands.count_spawns({.max_awake = 1, .max_spawns = 0}, 3), 1u);
  EXPECT_EQ(strands.count_spawns({.max_awake = 4, .max_spawns = 0}, 3), 0u);
  EXPECT_TRUE(strands.may_stay(1));
}

TEST(StrandCount, SpawnsNoneWithoutARuntimeOrTasks) {
  strand_count strands;
  strands.begin(0, true);
  EXPECT_EQ(strands.count_spawns({}, 3), 0u);
  strands.begin(3, true);
  EXPECT_EQ(strands.count_spawns({}, 0), 0u);
}

TEST(StrandCount, SpawnsInRounds) {
  strand_count strands;
  strands.begin(16, true);
  unsigned spawned = strands.count_spawns({}, 14);
  EXPECT_EQ(spawned, strand_count::spawns_per_round);
  EXPECT_EQ(strands.count_pending(~0U, 2), 2u);  // no more than there are ready tasks
  EXPECT_EQ(strands.count_pending(~0U, 9), 0u);
  spawned = strands.count_spawns({}, 9);
  EXPECT_EQ(spawned, strand_count::spawns_per_round);
  EXPECT_EQ(strands.count_pending(~0U, 5), strand_count::spawns_per_round);
  EXPECT_EQ(strands.count_pending(~0U, 5), 1u);
  EXPECT_EQ(strands.count_pending(~0U, 5), 0u);
}

// --- The schedule ------------------------------------------------------------------------------

class schedule_of_two : public testing::Test {
 protected:
  schedule_of_two() {
    schedule.begin(2, true, false);
    schedule.reserve(8);
  }
  graph_task* add() {
    graph_task& task = tasks.emplace_back();
    task.number = tasks.size();
    schedule.count_added();
    return &task;
  }
  graph_reports reports;
  graph_schedule schedule{reports};
  std::deque<graph_task> tasks;
};

TEST_F(schedule_of_two, StrandTakesTasksUntilNoneIsReady) {
  graph_task* const first = add();
  graph_task* const second = add();
  EXPECT_EQ(schedule.publish(first, {}), 1u);
  EXPECT_EQ(schedule.publish(second, {}), 0u);  // the other worker is the enqueuer's
  EXPECT_EQ(schedule.ready(), 2u);
  EXPECT_EQ(schedule.take_or_leave(0, ~0U).task, first);
  EXPECT_EQ(schedule.end_and_take(nullptr, 0, true, 0, {}).task, second);
  EXPECT_EQ(schedule.end_and_take(nullptr, 0, true, 0, {}).task, nullptr);
  EXPECT_EQ(schedule.unfinished(), 0u);
  EXPECT_EQ(schedule.take_or_leave(0, ~0U).task, nullptr);  // leaves
  EXPECT_EQ(schedule.publish(add(), {}), 1u);               // so a strand is needed again
}

TEST_F(schedule_of_two, EndOfATaskMakesItsSuccessorsReady) {
  graph_task* const first = add();
  graph_task* const left = add();
  graph_task* const right = add();
  schedule.publish(first, {});
  EXPECT_EQ(schedule.take(0), first);
  left->next = right;
  EXPECT_EQ(schedule.end_and_take(left, 0, false, 0, {}).task, left);
  EXPECT_EQ(schedule.ready(), 1u);
  EXPECT_EQ(schedule.end_and_take(nullptr, 0, false, 1, {}).task, nullptr);  // the goal is reached
}

TEST_F(schedule_of_two, PromiseIsKeptOnceWhenThereIsRoom) {
  promise<void> room;
  future<void> told = room.get_future();
  graph_task* const first = add();
  graph_task* const second = add();
  schedule.publish(first, {});
  EXPECT_FALSE(schedule.wait_for_room(room, 1));  // a task is ready: the enqueuer runs it
  EXPECT_EQ(schedule.take(0), first);
  EXPECT_FALSE(schedule.wait_for_room(room, 2));  // there is room
  EXPECT_TRUE(schedule.wait_for_room(room, 1));
  const auto ended = schedule.end_and_take(second, 0, true, 0, {});
  EXPECT_EQ(ended.promised, &room);
  EXPECT_EQ(schedule.end_and_take(nullptr, 0, true, 0, {}).promised, nullptr);
}

TEST_F(schedule_of_two, StrandThatCouldNotBeSpawnedIsCountedAgain) {
  EXPECT_EQ(schedule.publish(add(), {}), 1u);
  schedule.spawn_failed();
  EXPECT_EQ(schedule.spawn_for_ready({}, false), 1u);
}

// --- Records, links, failures ------------------------------------------------------------------

TEST(EndedTasks, ReturnAllRecordsOfAllThreads) {
  constexpr int threads = 4, each = 200;
  std::deque<graph_task> tasks(threads * each);
  ended_tasks ended;
  std::vector<std::thread> pushing;
  for (int t = 0; t < threads; ++t) {
    pushing.emplace_back([&, t] {
      for (int i = 0; i < each; ++i) ended.push(tasks[static_cast<std::size_t>(t * each + i)]);
    });
  }
  std::set<graph_task*> seen;
  const auto take = [&] {
    for (graph_task* task = ended.take_all(); task != nullptr; task = task->next) {
      EXPECT_TRUE(seen.insert(task).second);
    }
  };
  take();
  for (std::thread& thread : pushing) thread.join();
  take();
  EXPECT_EQ(seen.size(), tasks.size());
}

class linked_records : public testing::Test {
 protected:
  linked_records() { records.add_room(); }
  graph_task& add(std::uint64_t number) {
    if (!records.has_room()) records.add_room();
    graph_task& task = records.take();
    task.successors = nullptr;
    task.pending = linking;
    task.poisoned = task.failed = false;
    task.number = number;
    return task;
  }
  /// Returns the edges that the task got.
  std::int32_t link(graph_task& task, const std::vector<found_edge>& found) {
    records.reserve_edges(found.size());
    const std::int32_t edges = link_predecessors(task, found, records);
    ready = end_linking(task, edges);
    return edges;
  }
  task_records records;
  bool ready = false;
};

TEST_F(linked_records, TaskIsReadyAfterItsLastPredecessor) {
  graph_task& first = add(0);
  graph_task& second = add(1);
  graph_task& last = add(2);
  EXPECT_EQ(link(last, {{&first, 0}, {&second, graph_edge::affine}}), 2);
  EXPECT_FALSE(ready);
  unsigned edges = 0;
  EXPECT_EQ(close_successors(first, 3, edges), nullptr);
  EXPECT_EQ(close_successors(second, 5, edges), &last);
  EXPECT_EQ(edges, 2u);
  EXPECT_EQ(last.home.load(), 5);  // of the affine edge
}

TEST_F(linked_records, PredecessorThatHasEndedGetsNoEdge) {
  graph_task& first = add(0);
  first.failed = true;
  first.ran_on = 7;
  unsigned edges = 0;
  close_successors(first, 7, edges);
  graph_task& last = add(1);
  EXPECT_EQ(link(last, {{&first, graph_edge::flow | graph_edge::affine}}), 0);
  EXPECT_TRUE(ready);
  EXPECT_TRUE(last.poisoned.load());
  EXPECT_EQ(last.home.load(), 7);
}

TEST_F(linked_records, FailureIsKnownAfterItsRecordWasRecycled) {
  graph_task& failed = add(4);
  const task_name name{&failed, 4};
  EXPECT_TRUE(records.must_stay(name));
  EXPECT_FALSE(records.has_failed(name));
  failed.failed = true;
  unsigned edges = 0;
  close_successors(failed, 0, edges);
  failed.next = nullptr;
  records.recycle(&failed);
  EXPECT_TRUE(records.has_failed(name));
  records.forget_failures();
  EXPECT_FALSE(records.must_stay(name));
}

TEST_F(linked_records, PathsAreComputedFromTheEnd) {
  graph_task& first = add(0);
  graph_task& second = add(1);
  first.weight = 3;
  second.weight = 2;
  link(second, {{&first, 0}});
  records.refresh_paths();
  EXPECT_EQ(second.path.load(), 2);
  EXPECT_EQ(first.path.load(), 5);
}

TEST_F(linked_records, VerifyFindsWhatDoesNotAgree) {
  graph_task& first = add(0);
  graph_task& second = add(1);
  link(first, {});
  EXPECT_TRUE(records.verify());
  EXPECT_EQ(link(second, {{&first, 0}}), 1);
  EXPECT_TRUE(records.verify());
  second.pending = 0;  // it would run before its predecessor has ended
  EXPECT_FALSE(records.verify());
  second.pending = 1;
  std::swap(first.number, second.number);  // the edge leads to an older task
  EXPECT_FALSE(records.verify());
  std::swap(first.number, second.number);
  first.newer = nullptr;
  EXPECT_FALSE(records.verify());
}

TEST(BlockTable, VerifyFindsWhatDoesNotAgree) {
  block_table<int> blocks;
  std::array<char, 100> bytes{};
  const auto all_live = [](int) { return true; };
  for (char& byte : bytes) {
    const std::array operands = {in(&byte)};
    blocks.look_up(operands, all_live);
    blocks.enter(1, operands, all_live, [](int, dependence, bool) {});
  }
  EXPECT_TRUE(blocks.verify());
  auto* const entry = blocks.entries().front();
  ++entry->readers.count;
  EXPECT_FALSE(blocks.verify());
  --entry->readers.count;
  entry->used = false;
  EXPECT_FALSE(blocks.verify());
}

TEST(GraphFailure, KeepsTheFirstExceptionAndARequestedStop) {
  std::stop_source stop;
  graph_failure failure(stop.get_token());
  failure.fail(std::make_exception_ptr(std::runtime_error("first")));
  failure.fail(std::make_exception_ptr(std::logic_error("second")));
  failure.skip();
  failure.cancel();
  EXPECT_TRUE(failure.has_failed() && failure.is_cancelled());
  EXPECT_EQ(failure.skipped(), 1u);
  EXPECT_THROW(std::rethrow_exception(failure.take()), std::runtime_error);
  EXPECT_FALSE(failure.has_failed() || failure.is_cancelled());
  stop.request_stop();
  EXPECT_TRUE(failure.is_cancelled());
  EXPECT_EQ(failure.take(), nullptr);
  EXPECT_TRUE(failure.is_cancelled());
}

// --- The observer ------------------------------------------------------------------------------

class counting_observer final : public execution_observer {
 public:
  void worked(std::span<const work_amount> done) noexcept override { add(done); }
  void moved(std::uint64_t block, std::size_t bytes, bool written) noexcept override {
    (written ? written_bytes : read_bytes) += bytes;
    last_block = block;
  }
  void entered(unsigned) noexcept override { depth += 1; }
  void left(unsigned, std::span<const work_amount> done) noexcept override {
    depth -= 1;
    add(done);
  }
  std::int64_t operator[](work kind) const { return amounts[static_cast<std::size_t>(kind)]; }

  std::size_t read_bytes = 0, written_bytes = 0;
  std::uint64_t last_block = 0;
  int depth = 0;

 private:
  void add(std::span<const work_amount> done) {
    for (const work_amount& each : done) {
      amounts[static_cast<std::size_t>(each.kind)] += each.number;
    }
  }
  std::array<std::int64_t, static_cast<std::size_t>(work::count)> amounts{};
};

TEST(ObservedGraph, StatesItsWorkAndTheBytesThatItMoves) {
  counting_observer seen;
  int a = 0, b = 0;
  {
    const observed_thread observed(seen);
    task_graph graph;
    graph.add({.flops = 10}, {out(&a, 100)}, [] {});
    graph.add({.flops = 5}, {in(&a, 100), out(&b)}, [] {});
    graph.add({.flops = 1}, {inout(&b, 8)}, [&] { EXPECT_EQ(seen.depth, 0); });
    graph.wait();
  }
  EXPECT_EQ(execution_observer::current(), nullptr);
  EXPECT_EQ(seen[work::task_recorded], 3);
  EXPECT_EQ(seen[work::operand_found], 4);
  EXPECT_EQ(seen[work::edge_found], 2);
  EXPECT_EQ(seen[work::edge_changed], 4);  // linked, and told of the end
  EXPECT_GE(seen[work::task_queued], 6);
  EXPECT_EQ(seen[work::flop], 16);
  EXPECT_EQ(seen.read_bytes, 108u);
  EXPECT_EQ(seen.written_bytes, 108u);
  EXPECT_EQ(seen.last_block, 1u);
  EXPECT_EQ(seen.depth, 0);
}

TEST(ObservedGraph, IsNotObservedWithoutAnObserver) {
  counting_observer seen;
  int a = 0;
  task_graph graph;
  graph.add({.flops = 10}, {out(&a, 100)}, [] {});
  const observed_thread observed(seen);
  graph.wait();
  EXPECT_EQ(seen[work::flop], 0);
}

}  // namespace
}  // namespace creek::linalg::detail
