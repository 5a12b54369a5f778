// SPDX-License-Identifier: Apache-2.0
// Setups that a conformance case runs on: every backend with several numbers of workers, and on
// host every scheduler, deque and idle policy one after the other.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/core/function_ref.hpp>
#include <creek/tasking.hpp>

namespace conformance {

struct setup {
  std::string backend;
  unsigned workers;
};

/// Returns creek::backends() with 1, 2 and 4 workers each; on scc 1, 4 and all 48 cores.
std::vector<setup> setups();
std::string name_of(const testing::TestParamInfo<setup>& info);
std::ostream& operator<<(std::ostream& out, const setup& shown);

/// Returns the options to run a case with: on host every scheduler, deque and idle policy, on scc
/// every scheduler.
std::vector<creek::scheduler_options> variants(const setup& where);
/// Returns runtime(options, backend); on scc the chip has room for such a deque.
creek::runtime make_runtime(const creek::scheduler_options& options, const std::string& backend);
/// Returns "random/host/block" or the like, for messages.
std::string describe(const creek::scheduler_options& options);

/// Base of all suites. A suite is `class ForkJoin : public Conformance {}` and
/// CONFORMANCE(ForkJoin).
class Conformance : public testing::TestWithParam<setup> {
 protected:
  /// Calls body(runtime) on a new runtime of every variant.
  void on_each_runtime(creek::function_ref<void(creek::runtime&)> body,
                       std::uint32_t deque_capacity = 2048);
  /// Does the same with the body as the task that run() starts.
  void in_each_runtime(creek::function_ref<void()> body, std::uint32_t deque_capacity = 2048) {
    on_each_runtime([&](creek::runtime& rt) { rt.run(body); }, deque_capacity);
  }
  bool is_host() const { return GetParam().backend == "host"; }
  /// Returns whether time is virtual; then a wait for something outside keeps its worker.
  bool is_simulated() const { return GetParam().backend == "scc"; }
};

/// Thrown by tasks of these tests.
struct failure {
  int number = 0;
};

/// Counts its living instances, to find those destroyed too late, twice or never.
class counted {
 public:
  explicit counted(std::atomic<int>& alive) : alive_(&alive) { ++*alive_; }
  counted(const counted& other) : alive_(other.alive_) { ++*alive_; }
  counted& operator=(const counted&) = delete;
  ~counted() { --*alive_; }

 private:
  std::atomic<int>* alive_;
};

/// Returns the number in the `failure` that f() throws, or -1 if it throws none.
template <class F>
int failure_of(F&& f) {
  try {
    f();
  } catch (const failure& caught) {
    return caught.number;
  }
  return -1;
}

long fib_sequential(int n);
/// Computes fib(n) by fork and join.
long fib(int n);

}  // namespace conformance

#define CONFORMANCE(suite)                                                      \
  INSTANTIATE_TEST_SUITE_P(on, suite, testing::ValuesIn(conformance::setups()), \
                           conformance::name_of)
