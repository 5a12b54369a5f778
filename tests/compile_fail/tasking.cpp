// SPDX-License-Identifier: Apache-2.0
// Mistakes in programs that use tasks, and the messages that the compiler has to give for them.
#include <creek/tasking.hpp>

#include <mutex>
#include <string>
#include <vector>

struct account {
  int deposit(int n) { return n; }
  void close() {}
};

void program(std::vector<int>& numbers, const creek::remote<account>& object,
             const creek::group<account>& objects) {
  const auto plus = [](int a, int b) { return a + b; };
  (void)creek::parallel_reduce(numbers.begin(), numbers.end(), 0, plus);
  creek::parallel_for(0, 10, [](int) {});
  (void)creek::fork_join([] {}, [] {});
  creek::spawn([] {});
  (void)object.call(&account::deposit, 1);
  (void)objects.map(&account::deposit, 1);

#ifdef COMBINE_RETURNS_NOTHING
  // expect: constraints not satisfied
  // expect: is_invocable_r_v<T, Combine&
  (void)creek::parallel_reduce(numbers.begin(), numbers.end(), 0, [](int, int) {});
#endif
#ifdef COMBINE_OF_OTHER_TYPE
  // expect: constraints not satisfied
  // expect: is_invocable_r_v<T, Combine&
  (void)creek::parallel_reduce(numbers.begin(), numbers.end(), 0,
                               [](std::string a, std::string b) { return a + b; });
#endif
#ifdef LOOP_BODY_WITHOUT_INDEX
  // expect: constraints not satisfied
  // expect: invocable<Body&
  creek::parallel_for(0, 10, [] {});
#endif
#ifdef LOOP_OVER_NUMBERS_WITH_FRACTIONS
  // expect: constraints not satisfied
  // expect: loop_cursor
  creek::parallel_for(0.0, 1.0, [](double) {});
#endif
#ifdef SORT_WITHOUT_AN_ORDER
  // expect: constraints not satisfied
  // expect: predicate<Compare&
  std::vector<account> accounts(3);
  creek::parallel_sort(accounts.begin(), accounts.end());
#endif
#ifdef SPAWNED_TASK_WITH_ARGUMENTS
  // expect: a task is called without arguments
  creek::spawn([](int) {});
#endif
#ifdef ARGUMENT_THAT_CANNOT_BE_MOVED
  // expect: must have a move or copy constructor; pass a remote<T>
  (void)object.call([](account&, const std::mutex&) {}, std::mutex{});
#endif
#ifdef CALL_WITH_WRONG_ARGUMENTS
  // expect: no type named .type. in .struct std::invoke_result
  (void)object.call(&account::deposit, "one");
#endif
#ifdef GROUP_MAP_WITHOUT_RESULTS
  // expect: group::map: f returns nothing; use step\(\)
  (void)objects.map(&account::close);
#endif
#ifdef RUNTIME_OF_NO_BACKEND
  // expect: no matching function
  // expect: backend_choice
  creek::runtime rt(account{});
#endif
}
