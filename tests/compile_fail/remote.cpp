// SPDX-License-Identifier: Apache-2.0
// Mistakes in calls of objects on workers, and the messages that the compiler has to give for them.
#include <creek/tasking.hpp>

#include <mutex>
#include <string>
#include <vector>

struct account {
  explicit account(int) {}
  int deposit(int n) { return n; }
  void close() {}
  std::mutex& lock();
};
struct shop {
  int buy(int n) { return n; }
};
struct pinned {
  pinned() = default;
  pinned(const pinned&) = delete;
};

void program(const creek::remote<account>& object, const creek::group<account>& objects,
             const creek::group<pinned>& fixed, creek::core_id core) {
#ifndef MISTAKE
  (void)object.call(&account::deposit, 1);
  (void)object.async(&account::deposit, 1);
  object.post(&account::close);
  (void)objects.map(&account::deposit, 1);
  (void)creek::call_on(core, [] { return 1; });
  (void)creek::make_on<account>(core, 1);
  fixed.barrier();
#endif

#ifdef ARGUMENT_THAT_CANNOT_BE_MOVED
  // expect: must have a move or copy constructor; pass a remote<T>
  (void)object.call([](account&, const std::mutex&) {}, std::mutex{});
#endif
#ifdef CALL_WITH_WRONG_ARGUMENTS
  // expect: f of a remote<T> call must be a method of T, or accept T& first, and copies of the arg
  (void)object.call(&account::deposit, "one");
#endif
#ifdef METHOD_OF_ANOTHER_CLASS
  // expect: f of a remote<T> call must be a method of T, or accept T& first
  (void)object.async(&shop::buy, 1);
#endif
#ifdef CALL_WITHOUT_THE_OBJECT
  // expect: f of a remote<T> call must be a method of T, or accept T& first
  object.post([] {});
#endif
#ifdef ARGUMENT_BY_REFERENCE
  // expect: copies of the arguments, as rvalues
  int counter = 0;
  (void)object.call([](account&, int& n) { ++n; }, counter);
#endif
#ifdef RESULT_BY_REFERENCE
  // expect: what a remote call returns is moved to the caller: .* copyable if it is returned by ref
  (void)object.call(&account::lock);
#endif
#ifdef RESULT_THAT_CANNOT_BE_MOVED
  // expect: what a remote call returns is moved to the caller: it must be movable
  (void)creek::call_on(core, [] { return std::mutex(); });
#endif
#ifdef REMOTE_REFERENCE
  // expect: remote<T> refers to an object: T must not be a reference, an array or void
  creek::remote<account&> reference;
#endif
#ifdef WORKER_CALL_WITH_WRONG_ARGUMENTS
  // expect: call_on, async_on and post_on call f\(arguments...\) with copies
  creek::post_on(core, [](int) {});
#endif
#ifdef OBJECT_WITHOUT_THAT_CONSTRUCTOR
  // expect: make_on<T>: T has no constructor for copies of these arguments
  (void)creek::make_on<account>(core, "one");
#endif
#ifdef FOREIGN_WITHOUT_THAT_CONSTRUCTOR
  // expect: make_foreign<T>: T has no constructor for these arguments
  (void)creek::make_foreign<account>();
#endif
#ifdef GROUP_WITHOUT_THAT_CONSTRUCTOR
  // expect: make_group<T>: T has no constructor for copies of these arguments
  (void)creek::make_group<account>({core});
#endif
#ifdef GROUP_MAP_WITHOUT_RESULTS
  // expect: group::map: f returns nothing; use step\(\)
  (void)objects.map(&account::close);
#endif
#ifdef GROUP_STEP_CHANGES_ARGUMENTS
  // expect: f of a group<T> call must be a method of T, or accept T& first, and const arguments
  objects.step([](account&, std::string& text) { text += "!"; }, std::string());
#endif
#ifdef GROUP_REDUCED_BY_NOTHING
  // expect: group::reduce: op\(a, b\) must accept two results of f and return one
  (void)objects.reduce([](account& a) { return a.deposit(0); }, [](int, int) {});
#endif
#ifdef GROUP_BROADCAST_OF_OTHER_TYPE
  // expect: group<T>::broadcast assigns the value to every member: T must accept it
  objects.broadcast(std::string());
#endif
#ifdef GROUP_GATHERED_WITHOUT_COPIES
  // expect: group<T>::gather returns copies of the members: T must be copyable
  (void)fixed.gather();
#endif
}
