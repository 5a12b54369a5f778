// SPDX-License-Identifier: Apache-2.0
// Mistakes in programs that use tasks, and the messages that the compiler has to give for them.
#include <creek/tasking.hpp>

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

creek::future<int> number();

creek::future<int> next_number() {
  co_return co_await number() + 1;
}

#ifdef COROUTINE_RETURNS_ANOTHER_TYPE
// expect: a coroutine that returns future<T> must co_return what a T can be made from
creek::future<int> text() {
  co_return std::string("one");
}
#endif
#ifdef COROUTINE_AWAITS_A_FUTURE_IT_KEEPS
// expect: co_await consumes a future: write co_await std::move\(f\)
creek::future<int> kept() {
  creek::future<int> first = number();
  co_return co_await first;
}
#endif

void program(std::mutex& lock) {
#ifndef MISTAKE
  (void)creek::fork_join([] {}, [] { return 1; });
  creek::parallel_invoke([] {}, [] { return 1; });
  creek::spawn([] {});
  (void)creek::async([](int n) { return n; }, 1).get();
  (void)number().then([](int n) { return n; });
#endif
  creek::task_group tasks;
  tasks.spawn([] {});
  creek::promise<int> open;
  open.set_value(1);
  creek::runtime rt(creek::scheduler_options{});
  creek::graph kept;
#ifndef MISTAKE
  rt.run([] {});
  auto [first, second] = kept.emplace([] {}, [] { return 1.5; });
  first.precede(second, kept.condition([] { return true; }),
                kept.multi_condition([] { return std::vector<int>(); }));
  rt.run(kept);
  (void)lock;
#endif

#ifdef BRANCH_WITH_ARGUMENTS
  // expect: a function given to fork_join or run is called without arguments
  (void)creek::fork_join([] {}, [](int) {});
#endif
#ifdef BRANCH_OF_THREE_WITH_ARGUMENTS
  // expect: a function given to fork_join or run is called without arguments
  (void)creek::fork_join([](int) {}, [] {}, [] {});
#endif
#ifdef BRANCH_THAT_CANNOT_BE_CALLED
  // expect: a function given to fork_join or run is called without arguments
  (void)creek::fork_join([] {}, 1);
#endif
#ifdef BRANCH_RETURNS_A_REFERENCE
  // expect: fork_join and run store what a function returns: it must be movable
  (void)creek::fork_join([] {}, [&]() -> std::mutex& { return lock; });
#endif
#ifdef RUN_OF_A_FUNCTION_WITH_ARGUMENTS
  // expect: a function given to fork_join or run is called without arguments
  rt.run([](int) {});
#endif
#ifdef RUN_RETURNS_WHAT_CANNOT_BE_MOVED
  // expect: fork_join and run store what a function returns: it must be movable
  rt.run([] { return std::mutex(); });
#endif
#ifdef INVOKED_WITH_ARGUMENTS
  // expect: parallel_invoke calls every function without arguments
  creek::parallel_invoke([] {}, [](int) {});
#endif
#ifdef SPAWNED_TASK_WITH_ARGUMENTS
  // expect: a task is called without arguments
  creek::spawn([](int) {});
#endif
#ifdef SPAWNED_TASK_THAT_IS_COPIED
  // expect: a task is moved to where it runs: .* pass a task that cannot be copied by std::move
  auto task = [kept = std::make_unique<int>(1)] {};
  creek::spawn(task);
#endif
#ifdef TASK_OF_A_GROUP_WITH_ARGUMENTS
  // expect: a task is called without arguments
  tasks.spawn([](int) {});
#endif
#ifdef ASYNC_WITH_WRONG_ARGUMENTS
  // expect: async calls the function with copies of the arguments
  (void)creek::async([](int n) { return n; }, "one");
#endif
#ifdef ASYNC_TAKES_A_REFERENCE
  // expect: pass std::ref\(x\) to a function that takes a reference
  int n = 0;
  (void)creek::async([](int& counter) { ++counter; }, n);
#endif
#ifdef ASYNC_COPIES_AN_ARGUMENT
  // expect: async stores the function and its arguments: pass what cannot be copied by std::move
  auto owned = std::make_unique<int>(1);
  (void)creek::async([](std::unique_ptr<int>) {}, owned);
#endif
#ifdef ASYNC_RETURNS_WHAT_CANNOT_BE_MOVED
  // expect: a future holds what its task returns: it must be movable
  (void)creek::async([] { return std::mutex(); });
#endif
#ifdef ASYNC_OF_A_RUNTIME_WITH_WRONG_ARGUMENTS
  // expect: async calls the function with copies of the arguments
  (void)rt.async([] {}, 1);
#endif
#ifdef CONTINUATION_OF_OTHER_TYPE
  // expect: the function of future<T>::then must accept a T
  (void)number().then([](std::string) {});
#endif
#ifdef CONTINUATION_OF_NOTHING
  // expect: the function of future<void>::then is called without arguments
  (void)creek::async([] {}).then([](int) {});
#endif
#ifdef FUTURE_OF_A_REFERENCE
  // expect: a future holds a value: use a pointer or std::reference_wrapper for a reference
  creek::promise<int&> reference;
#endif
#ifdef PROMISE_OF_OTHER_TYPE
  // expect: promise<T>::set_value takes what a T can be made from
  open.set_value("one");
#endif
#ifdef FUTURE_COPIED
  // expect: use of deleted function .*future\(const creek::future<int>&\)
  const creek::future<int> one = number();
  (void)creek::when_all(one, number());
#endif
#ifdef TASK_LOCAL_THAT_CANNOT_BE_COPIED
  // expect: every task gets a copy of the initial value of a task_local
  creek::task_local<std::unique_ptr<int>> local;
#endif
#ifdef WORKER_LOCAL_THAT_CANNOT_BE_COPIED
  // expect: every worker gets a copy of the initial value of a worker_local
  creek::worker_local<std::atomic<int>> counts;
#endif
#ifdef WORKER_LOCAL_COMBINED_BY_NOTHING
  // expect: worker_local::combine: fold\(a, b\) must accept two values and return one
  (void)creek::worker_local<int>().combine([](int, int) {});
#endif
#ifdef NODE_WITH_ARGUMENTS
  // expect: a node of a graph is called without arguments
  (void)kept.emplace([](int) {});
#endif
#ifdef NODE_THAT_RETURNS_AN_INDEX
  // expect: emplace drops what a function returns: give one that picks a successor to condition
  (void)kept.emplace([] {}, [] { return 0; });
#endif
#ifdef CONDITION_THAT_RETURNS_NOTHING
  // expect: a condition returns an integer: the index of the successor to run
  (void)kept.condition([] {});
#endif
#ifdef CONDITION_THAT_RETURNS_A_TEXT
  // expect: a condition returns an integer: the index of the successor to run
  (void)kept.condition([] { return "left"; });
#endif
#ifdef MULTI_CONDITION_THAT_RETURNS_ONE_INDEX
  // expect: a multi_condition returns a range of integers: the indexes of the successors to run
  (void)kept.multi_condition([] { return 1; });
#endif
#ifdef RUNTIME_OF_NO_BACKEND
  // expect: no matching function
  // because: backend_choice
  creek::runtime nowhere(lock);
#endif
}
