// SPDX-License-Identifier: Apache-2.0
// Mistakes in calls of parallel algorithms, and the messages that the compiler has to give for
// them.
#include <creek/tasking.hpp>
#include <creek/tasking/algorithm.hpp>

#include <list>
#include <memory>
#include <string>
#include <vector>

struct account {
  int balance = 0;
};

void program(std::vector<int>& numbers, std::vector<account>& accounts) {
  const auto plus = [](int a, int b) { return a + b; };
  const auto by_balance = [](const account& a, const account& b) { return a.balance < b.balance; };
#ifndef MISTAKE
  creek::parallel_for(0, 10, [](int) {});
  creek::parallel_for(0, numbers.size(), [](std::size_t) {}, {.grain = 4});
  creek::parallel_for_range(0, 10, [](int, int) {});
  const creek::parallel_options options;
  (void)creek::parallel_reduce(numbers.begin(), numbers.end(), 0, plus);
  (void)creek::parallel_reduce(numbers.begin(), numbers.end(), 0, plus, options);
  (void)creek::parallel_reduce(numbers, 0, plus, options);
  (void)creek::parallel_reduce(
      numbers, 0, [](int n) { return n; }, plus, options);
  creek::parallel_sort(accounts, by_balance);
  creek::parallel_inclusive_scan(numbers.begin(), numbers.end(), numbers.begin());
  creek::for_each(accounts, [](int&) {}, &account::balance, {.grain = 4});
  creek::for_each(
      accounts, [](account&) {}, options);
  creek::transform(
      numbers, numbers.begin(), [](int n) { return n; }, options);
  (void)creek::find_if(
      accounts, [](int n) { return n == 0; }, &account::balance);
  creek::stable_sort(accounts, {}, &account::balance);
#endif

#ifdef LOOP_BODY_WITHOUT_INDEX
  // expect: parallel_for calls body\(i\) with an index, or body\(element\) with an element
  creek::parallel_for(0, 10, [] {});
#endif
#ifdef LOOP_BODY_OF_OTHER_TYPE
  // expect: parallel_for calls body\(i\) with an index, or body\(element\) with an element
  creek::parallel_for(numbers, [](std::string&) {});
#endif
#ifdef LOOP_BODY_IS_A_NUMBER
  // expect: parallel_for calls body\(i\) with an index, or body\(element\) with an element
  creek::parallel_for(0, numbers.size(), 1);
#endif
#ifdef CHUNK_BODY_WITH_ONE_INDEX
  // expect: parallel_for_range calls body\(lo, hi\) with the two ends of a chunk
  creek::parallel_for_range(0, 10, [](int) {});
#endif
#ifdef LOOP_OVER_NUMBERS_WITH_FRACTIONS
  // expect: no matching function for call to .parallel_for
  // because: .*loop_cursor
  creek::parallel_for(0.0, 1.0, [](double) {});
#endif
#ifdef LOOP_OVER_A_LIST
  // expect: no matching function for call to .parallel_for
  // because: .*random_access_range
  std::list<int> list;
  creek::parallel_for(list, [](int) {});
#endif
#ifdef COMBINE_RETURNS_NOTHING
  // expect: combine\(a, b\) must accept two values of the identity's type and return one
  (void)creek::parallel_reduce(numbers.begin(), numbers.end(), 0, [](int, int) {});
#endif
#ifdef COMBINE_OF_OTHER_TYPE
  // expect: combine\(a, b\) must accept two values of the identity's type and return one
  (void)creek::parallel_reduce(numbers, 0, [](std::string a, std::string b) { return a + b; });
#endif
#ifdef COMBINE_OF_OTHER_ELEMENTS
  // expect: combine\(a, b\) must accept, as b, what map\(\) returns, or an element if there is no
  (void)creek::parallel_reduce(accounts, 0, plus);
#endif
#ifdef MAP_OF_OTHER_TYPE
  // expect: parallel_reduce calls map\(i\) with an index, or map\(element\) with an element
  (void)creek::parallel_reduce(
      numbers, 0, [](const account& a) { return a.balance; }, plus);
#endif
#ifdef MAP_RETURNS_NOTHING
  // expect: combine\(a, b\) must accept, as b, what map\(\) returns
  (void)creek::parallel_reduce(
      0, 10, 0, [](int) {}, plus);
#endif
#ifdef IDENTITY_THAT_CANNOT_BE_COPIED
  // expect: a reduction or a scan copies its identity: the type must be copyable
  using owner = std::unique_ptr<int>;
  (void)creek::parallel_reduce(
      0, 10, owner(), [](int) { return owner(); }, [](owner a, owner) { return a; });
#endif
#ifdef FOLD_RETURNS_NOTHING
  // expect: parallel_reduce_range calls fold\(lo, hi, value\), which must return the new value
  (void)creek::parallel_reduce_range(
      0, 10, 0, [](int, int, int) {}, plus);
#endif
#ifdef SCAN_WITHOUT_THE_KIND_OF_PASS
  // expect: parallel_scan calls fold\(lo, hi, carry, is_final\), which must return the new carry
  (void)creek::parallel_scan(
      0, 10, 0, [](int, int, int carry) { return carry; }, plus);
#endif
#ifdef SCAN_COMBINES_TO_NOTHING
  // expect: combine\(a, b\) must accept two values of the identity's type and return one
  (void)creek::parallel_scan(
      0, 10, 0, [](int, int, int carry, bool) { return carry; }, [](int, int) {});
#endif
#ifdef INCLUSIVE_SCAN_OF_WHAT_CANNOT_BE_ADDED
  // expect: parallel_inclusive_scan: op\(a, b\) must accept two elements and return one
  creek::parallel_inclusive_scan(accounts.begin(), accounts.end(), accounts.begin());
#endif
#ifdef SCAN_WRITES_TO_CONSTANTS
  // expect: parallel_inclusive_scan writes to `out`: it must accept elements of the input
  creek::parallel_inclusive_scan(numbers.begin(), numbers.end(), numbers.cbegin());
#endif
#ifdef EXCLUSIVE_SCAN_OF_OTHER_TYPE
  // expect: a scan from init: op\(a, b\) must accept values of init's type
  creek::parallel_exclusive_scan(numbers.begin(), numbers.end(), numbers.begin(), std::string());
#endif
#ifdef SORT_WITHOUT_AN_ORDER
  // expect: a sort needs an order: operator< of the elements, or less\(a, b\) that returns bool
  creek::parallel_sort(accounts.begin(), accounts.end());
#endif
#ifdef SORT_BY_NOTHING
  // expect: a sort needs an order: operator< of the elements, or less\(a, b\) that returns bool
  creek::parallel_stable_sort(accounts, [](const account&, const account&) {});
#endif
#ifdef SORT_OF_CONSTANTS
  // expect: a sort moves elements: they must be movable and not const
  const std::vector<int>& constants = numbers;
  creek::parallel_sort(constants);
#endif
#ifdef SORT_OF_WHAT_CANNOT_BE_MOVED
  // expect: a sort moves elements: they must be movable and not const
  struct pinned {
    const int n = 0;
    bool operator<(const pinned& other) const { return n < other.n; }
  };
  std::vector<pinned> fixed(2);
  creek::parallel_stable_sort(fixed);
#endif
#ifdef SORT_OF_A_LIST
  // expect: no matching function for call to .parallel_sort
  // because: .*random_access
  std::list<int> list;
  creek::parallel_sort(list.begin(), list.end());
#endif
#ifdef FOR_EACH_OF_OTHER_TYPE
  // expect: for_each calls f\(proj\(element\)\), or f\(element\) if there is no projection
  creek::for_each(
      accounts, [](std::string&) {}, &account::balance);
#endif
#ifdef PROJECTION_OF_OTHER_TYPE
  // expect: a projection is called with an element: it must accept one
  creek::for_each(
      numbers, [](int) {}, &account::balance);
#endif
#ifdef TRANSFORM_TO_CONSTANTS
  // expect: transform writes to `out` what f returns: `out` must accept it
  creek::transform(numbers, numbers.cbegin(), [](int n) { return n; });
#endif
#ifdef TRANSFORM_OF_TWO_RANGES_BY_ONE
  // expect: transform calls f\(proj\(element\)\), or f\(proj1\(a\), proj2\(b\)\) for two ranges
  creek::transform(numbers, numbers, numbers.begin(), [](int n) { return n; });
#endif
#ifdef TRANSFORM_REDUCE_TO_OTHER_TYPE
  // expect: must return what converts to init's type
  (void)creek::transform_reduce(numbers, 0, plus, [](int) { return std::string(); });
#endif
#ifdef PREDICATE_RETURNS_NOTHING
  // expect: the predicate must accept what the projection returns for an element
  (void)creek::find_if(numbers, [](int) {});
#endif
#ifdef PARTITION_OF_CONSTANTS
  // expect: partition moves elements: they must be movable and not const
  const std::vector<int>& constants = numbers;
  creek::partition(constants, [](int) { return true; });
#endif
#ifdef INCLUSIVE_SCAN_FROM_OTHER_TYPE
  // expect: a scan from init: op\(a, b\) must accept values of init's type
  creek::inclusive_scan(numbers, numbers.begin(), plus, std::string());
#endif
#ifdef MERGE_WITHOUT_AN_ORDER
  // expect: comp\(a, b\) must accept two elements, or what their projections return
  creek::merge(accounts, accounts, accounts.begin());
#endif
#ifdef MERGE_TO_OTHER_ELEMENTS
  // expect: merge copies elements to `out`: it must accept those of both inputs
  std::vector<account> out(2);
  creek::merge(numbers, numbers, out.begin());
#endif
#ifdef FIND_IN_A_LIST
  // expect: no match for call to .*find_if
  // because: .*random_access
  std::list<int> list;
  (void)creek::find_if(list, [](int) { return true; });
#endif
}
