// SPDX-License-Identifier: Apache-2.0
// A user's tasks in a program that a sanitizer watches, while the library that switches their
// stacks and hands them over was compiled without. All data are plain: only creek orders what one
// task writes and another reads.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <functional>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <creek/host.hpp>
#include <creek/tasking.hpp>

#include "expect.hpp"

namespace {

constexpr int strands = 200;

long fib(int n) {
  if (n < 2) return n;
  auto [a, b] = creek::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

/// Results of forks that are not trivial, and exceptions from stolen branches.
void forks() {
  expect(fib(16) == 987, "fib(16)");
  for (int round = 0; round < 50; ++round) {
    std::vector<int> left(64), right(64);
    auto [text, size] = creek::fork_join(
        [&] {
          std::iota(left.begin(), left.end(), round);
          return std::string(100, 'l');
        },
        [&] {
          std::iota(right.begin(), right.end(), round);
          if (round % 5 == 0) std::this_thread::yield();
          return right.size();
        });
    expect(left == right && text.size() == 100 && size == 64, "fork_join's results");
    try {
      creek::fork_join([] { fib(6); }, [] { throw std::runtime_error("second branch"); });
      expect(false, "fork_join rethrows");
    } catch (const std::runtime_error& caught) {
      expect(caught.what() == std::string("second branch"), "the branch's exception");
    }
  }
}

/// An exception leaves a frame after its strand was resumed elsewhere.
int wait_deeply(creek::future<std::vector<int>>& awaited, int depth) {
  volatile char room[64];
  room[depth % 64] = static_cast<char>(depth);
  if (depth > 0) return wait_deeply(awaited, depth - 1) + (room[depth % 64] == depth ? 0 : 1);
  const std::vector<int> got = awaited.get();
  if (got.front() % 3 == 0) throw std::out_of_range("a multiple of three");
  return got.front();
}

/// Strands that all wait at once, some of them inside a handler, for a thread unknown to
/// creek.
void suspended_strands() {
  std::vector<creek::promise<std::vector<int>>> promises(strands);
  std::vector<creek::promise<void>> gates(strands);
  std::vector<int> outcome(strands, -1);
  creek::task_group group;
  for (int i = 0; i < strands; ++i) {
    const auto at = static_cast<std::size_t>(i);
    group.spawn(
        [&, at, value = promises[at].get_future(), gate = gates[at].get_future()]() mutable {
          try {
            outcome[at] = wait_deeply(value, 8);
          } catch (const std::out_of_range&) {
            gate.get();  // suspended while it handles an exception
            outcome[at] = 0;
            try {
              throw std::logic_error("inside a handler");
            } catch (const std::logic_error&) {
              outcome[at] -= 1;
            }
          }
        });
  }
  std::jthread device([&] {
    for (int i = 0; i < strands; ++i) {
      promises[static_cast<std::size_t>(i)].set_value(std::vector<int>(32, i));
    }
    for (auto& gate : gates) gate.set_value();
  });
  group.wait();
  for (int i = 0; i < strands; ++i) {
    expect(outcome[static_cast<std::size_t>(i)] == (i % 3 == 0 ? -1 : i), "a suspended strand");
  }
}

/// Children that outlive their parents, taskwait, exceptions of children.
void children() {
  std::vector<std::string> names(strands);
  for (std::size_t i = 0; i < names.size(); ++i) {
    creek::spawn([&names, i] {
      creek::spawn([&names, i] { names[i] += "child"; });
      creek::taskwait();
      names[i] += std::to_string(fib(8));
    });
  }
  creek::taskwait();
  for (const std::string& name : names) expect(name == "child21", "taskwait");
  for (int i = 0; i < 20; ++i) {
    creek::spawn([i] {
      if (i % 7 == 3) throw std::runtime_error("a child");
    });
  }
  try {
    creek::taskwait();
    expect(false, "taskwait rethrows");
  } catch (const std::runtime_error&) {
  }
}

void cancellation() {
  std::vector<int> ran(strands);
  std::stop_source enough;
  creek::task_group group(enough.get_token());
  for (std::size_t i = 0; i < ran.size(); ++i) {
    group.spawn([&, i] {
      ran[i] = 1;
      if (i == 20) enough.request_stop();
      if (!group.is_cancelled()) fib(5);
    });
  }
  group.wait();
  expect(std::accumulate(ran.begin(), ran.end(), 0) > 0, "some tasks ran");
}

creek::future<std::string> tell(int i) {
  const int half = co_await creek::async([i] { return i / 2; });
  if (half % 10 == 9) throw std::runtime_error("coroutine");
  std::string text = co_await creek::async([half] { return std::to_string(half); });
  co_return text + "!";
}

void coroutines() {
  std::vector<creek::future<std::string>> told;
  for (int i = 0; i < strands; ++i) told.push_back(tell(i));
  int thrown = 0;
  for (int i = 0; i < strands; ++i) {
    try {
      const std::string text = told[static_cast<std::size_t>(i)].get();
      expect(text == std::to_string(i / 2) + "!", "a coroutine's result");
    } catch (const std::runtime_error&) {
      ++thrown;
    }
  }
  expect(thrown == strands / 10, "exceptions of coroutines");
}

void futures() {
  for (int round = 0; round < 50; ++round) {
    auto both =
        creek::when_all(creek::async([] { return std::string(40, 'a'); }),
                        creek::async([] { return std::vector<int>(40, 7); }))
            .then([](auto parts) { return std::get<0>(parts).size() + std::get<1>(parts)[3]; });
    std::vector<creek::future<std::string>> racers;
    for (int i = 0; i < 4; ++i) racers.push_back(creek::async([i] { return std::to_string(i); }));
    auto first = creek::when_any(std::move(racers)).get();
    expect(first.futures[first.index].get() == std::to_string(first.index), "when_any");
    expect(both.get() == 47, "when_all and then");
  }
}

struct journal {
  std::vector<std::string> lines;
  void write(std::string line) { lines.push_back(std::move(line)); }
  std::size_t size() const { return lines.size(); }
  std::string last() const { return lines.empty() ? std::string() : lines.back(); }
};

void objects() {
  const creek::core_id last{static_cast<int>(creek::worker_count()) - 1};
  const creek::remote<journal> book = creek::make_on<journal>(last);
  for (int i = 0; i < strands; ++i) book.post(&journal::write, std::string(60, 'p'));
  expect(book.call(&journal::size) == strands, "posts before a call");
  creek::parallel_for(0, strands, [&](int i) { book.call(&journal::write, std::to_string(i)); });
  expect(book.async(&journal::size).get() == 2 * strands, "calls of several workers");
  expect(!book.call(&journal::last).empty(), "the last line");
  for (int i = 0; i < 50; ++i) {
    try {  // a child that the call leaves behind ends with it
      book.call([](journal&) { creek::spawn([] { throw std::runtime_error("left behind"); }); });
      expect(false, "a call rethrows");
    } catch (const std::runtime_error& caught) {
      expect(caught.what() == std::string("left behind"), "the child's exception");
    }
  }
  const creek::group<journal> all = creek::make_group<journal>();
  all.step(&journal::write, std::string("to all"));
  expect(all.reduce(&journal::size, std::plus{}) == creek::worker_count(), "a group's reduction");
  const std::vector<int> doubled = creek::call_on(last, [] { return std::vector<int>(50, 2); });
  expect(doubled.size() == 50, "call_on");
}

void loops() {
  std::vector<int> squares(20'000);
  creek::parallel_for(std::size_t{0}, squares.size(),
                      [&](std::size_t i) { squares[i] = static_cast<int>(i % 100 * (i % 100)); });
  const long sum = creek::parallel_reduce(squares.begin(), squares.end(), 0L, std::plus<>{});
  expect(sum == std::accumulate(squares.begin(), squares.end(), 0L), "parallel_reduce");
  creek::parallel_sort(squares.begin(), squares.end());
  expect(std::is_sorted(squares.begin(), squares.end()), "parallel_sort");
}

/// Threads outside the runtime that run tasks there at the same time. A thread may act as a worker
/// meanwhile.
void callers(creek::runtime& rt) {
  std::array<long, 3> sums{};
  {
    std::vector<std::jthread> threads;
    for (long& sum : sums) {
      threads.emplace_back([&rt, &sum] {
        for (int i = 0; i < 100; ++i) sum += rt.run([] { return fib(5); });
      });
    }
  }
  for (const long sum : sums) expect(sum == 500, "run() of several threads");
}

/// Tasks that wait when the program ends, never resumed. Only the stack of each knows its
/// block.
void left_behind() {
  static auto* const forgotten = new creek::runtime(creek::host{2});
  static auto* const never = new std::array<creek::promise<void>, 10>;
  static auto* const unfinished = new std::vector<creek::future<int>>;
  static std::atomic<std::size_t> waiting{0};
  for (creek::promise<void>& each : *never) {
    unfinished->push_back(forgotten->async([gate = each.get_future()]() mutable {
      const auto block = std::make_unique<std::vector<int>>(100, 1);
      waiting.fetch_add(1);
      gate.get();
      return block->front();
    }));
  }
  while (waiting.load() != never->size()) std::this_thread::yield();
}

}  // namespace

/// Called with the name of a file, to which the runtimes write their traces.
int main(int arguments, char** argument) {
  const std::pair<creek::scheduler_kind, creek::idle_policy> ways[] = {
      {creek::scheduler_kind::stealing_random, creek::idle_policy::block},
      // No worker sleeps, so no push is slow for that reason.
      {creek::scheduler_kind::stealing_random, creek::idle_policy::poll},
      {creek::scheduler_kind::sharing, creek::idle_policy::block},
  };
  for (const auto& [scheduler, idle] : ways) {
    creek::scheduler_options options;
    options.workers = 4;
    options.scheduler = scheduler;
    options.idle = idle;
    creek::runtime rt(options);
    if (arguments > 1) rt.trace_to(argument[1]);
    rt.run(forks);
    rt.run(suspended_strands);
    rt.run(children);
    rt.run(cancellation);
    rt.run(coroutines);
    rt.run(futures);
    rt.run(objects);
    rt.run(loops);
    std::vector<int> outside(10, 1);
    auto sum = rt.async([&] { return std::accumulate(outside.begin(), outside.end(), 0); });
    expect(sum.get() == 10, "runtime::async from a thread");
    callers(rt);
  }
  left_behind();
  std::puts("soak: done");
}
