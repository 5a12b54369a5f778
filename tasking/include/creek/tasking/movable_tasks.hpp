// SPDX-License-Identifier: Apache-2.0
// Tasks that move between ranks: a rank without tasks takes some of another's. Source:
// lifeline-based global load balancing [Saraswat 2011].
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <creek/core/objects/object_space.hpp>
#include <creek/tasking/detail/movable_bag.hpp>
#include <creek/tasking/detail/movable_pool.hpp>
#include <creek/tasking/runtime.hpp>

namespace creek {

/// The tasks of the thread that runs a movable task, which gets it as its first argument.
template <class Result>
class task_bag {
 public:
  explicit task_bag(detail::movable_bag& tasks) noexcept : tasks_(&tasks) {}

  /// Adds a task: F(bag, arguments...), here or on another rank. It runs after this one has ended,
  /// the newest of this thread's first.
  template <auto F, class... A>
  void spawn(A&&... arguments) {
    using function = detail::movable_function<F>;
    static_assert(std::is_same_v<typename function::signature::result, Result>,
                  "a movable task spawns tasks with the same type of results");
    function::add(*tasks_, std::forward<A>(arguments)...);
  }
  /// Returns what tasks of this thread have made so far, from Result{} on.
  template <class R = Result>
  requires(!std::is_void_v<R>) [[nodiscard]] R& result() const noexcept {
    return *static_cast<R*>(tasks_->result);
  }

 private:
  detail::movable_bag* tasks_;
};

/// Tasks that run on any rank of an object space. Making it is collective; the thread of the object
/// space uses it, and has one at a time. Functions of tasks are template arguments: a function, or
/// an object without state, that takes a task_bag<Result>& and values that can be sent.
template <class Result = void>
class movable_tasks {
 public:
  /// The calling thread runs the tasks, and answers other ranks between two tasks.
  explicit movable_tasks(object_space& space) : pool_(space, nullptr) {}
  /// Workers run the tasks; the calling thread answers other ranks meanwhile.
  movable_tasks(object_space& space, runtime& workers) : pool_(space, &workers) {}

  /// Adds a task for the next run; on any rank.
  template <auto F, class... A>
  void spawn(A&&... arguments) {
    task_bag<Result>(pool_.own()).template spawn<F>(std::forward<A>(arguments)...);
  }

  /// Runs all tasks of all ranks, which all call this, and those that these spawn. Returns when
  /// none is left on any rank. Rethrows what a task of this rank throws; the other ranks then wait
  /// until the program ends.
  void run() requires std::is_void_v<Result> { pool_.run(std::vector<void*>(pool_.threads())); }
  /// The same; returns the results of all threads, combined by `op`, on each rank. Threads of a
  /// rank are combined first, then the ranks in their order.
  template <class Op, class R = Result>
  requires(!std::is_void_v<R>) R run(Op op) {
    static_assert(sendable<R>, "results of ranks are sent to rank 0");
    std::vector<padded<R>> results(pool_.threads());
    std::vector<void*> places;
    for (padded<R>& each : results) places.push_back(&each.value);
    pool_.run(std::move(places));
    R own = std::move(results.front().value);
    for (std::size_t i = 1; i < results.size(); ++i) {
      own = op(std::move(own), std::move(results[i].value));
    }
    pool_.combined = &own;
    return combine_ranks(op, own);
  }
  /// The same, but the tasks of thread i use results[i], one for each thread: see threads(). They
  /// are not combined, and need not be sent.
  template <class R = Result>
  requires(!std::is_void_v<R>) void run_with(std::span<R> results) {
    std::vector<void*> places;
    for (R& each : results) places.push_back(&each);
    pool_.run(std::move(places));
  }

  /// Returns how many threads of this rank run tasks.
  [[nodiscard]] std::size_t threads() const noexcept { return pool_.threads(); }

  [[nodiscard]] const movable_counts& counts() const noexcept { return pool_.counts(); }

 private:
  template <class R>
  struct alignas(64) padded {
    R value{};
  };

  static Result own_result() requires(!std::is_void_v<Result>) {
    return *static_cast<Result*>(detail::movable_pool::current().combined);
  }
  template <class Op, class R>
  R combine_ranks(Op op, const R& own) {
    object_space& space = pool_.space();
    R total = own;
    if (space.rank() == 0) {
      std::vector<async_result<R>> others;
      for (int rank = 1; rank < space.size(); ++rank) {
        others.push_back(space.async_on<&movable_tasks::own_result>(rank));
      }
      for (auto& each : others) total = op(std::move(total), each.get());
    }
    return space.bcast(std::move(total), 0);
  }

  detail::movable_pool pool_;
};

}  // namespace creek
