// SPDX-License-Identifier: Apache-2.0
// One mistake per run that the user's sanitizer must find, in tasks on stacks of the library:
//   planted race | heap | stack | arithmetic | leak
// `planted tbb` runs tasks on the tbb backend, which refuses, because the sanitizer would report
// false errors.
#include <atomic>
#include <cstdio>
#include <functional>
#include <limits>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <creek/host.hpp>
#include <creek/tasking.hpp>

namespace {

int shared_by_mistake = 0;

/// Two tasks write one int. The first waits for the second, which therefore runs on another worker;
/// but a relaxed atomic does not order their writes. (They do not write at once, since
/// ThreadSanitizer can miss two accesses of the same moment.)
void race() {
  std::atomic<bool> written{false};
  creek::fork_join(
      [&] {
        while (!written.load(std::memory_order_relaxed)) std::this_thread::yield();
        ++shared_by_mistake;
      },
      [&] {
        ++shared_by_mistake;
        written.store(true, std::memory_order_relaxed);
      });
}

/// Suspends this task until an external thread resumes it, most likely on another worker.
void be_resumed() {
  creek::promise<void> gate;
  creek::future<void> opened = gate.get_future();
  std::jthread opener([gate = std::move(gate)]() mutable { gate.set_value(); });
  opened.get();
}

[[gnu::noinline]] int read_heap(int index) {
  const std::vector<int> numbers(8, 1);
  be_resumed();
  return numbers.data()[index];
}

[[gnu::noinline]] int read_stack(int index) {
  volatile int numbers[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  be_resumed();
  return numbers[index];
}

[[gnu::noinline]] int overflow(int number) {
  be_resumed();
  return number + 1;
}

[[gnu::noinline]] void lose() {
  be_resumed();
  auto* volatile lost = new int[100];
  lost = nullptr;
}

/// Runs tasks on oneTBB, or prints the message that refuses them.
int run_on_tbb() {
  try {
    creek::runtime rt({.workers = 2}, "tbb");
    std::vector<int> numbers(100, 1);
    const int sum = rt.run([&] {
      be_resumed();
      return creek::parallel_reduce(numbers.begin(), numbers.end(), 0, std::plus<>{});
    });
    return sum == 100 ? 0 : 1;
  } catch (const creek::usage_error& refusal) {
    std::fprintf(stderr, "%s\n", refusal.what());
    return 1;
  }
}

int plant(std::string_view what) {
  creek::runtime rt{creek::host{2}};
  volatile int eight = 8, most = std::numeric_limits<int>::max();
  int seen = 0;
  rt.run([&] {
    creek::task_group group;
    group.spawn([&] {
      if (what == "race") race();
      if (what == "heap") seen = read_heap(eight);
      if (what == "stack") seen = read_stack(eight);
      if (what == "arithmetic") seen = overflow(most);
      if (what == "leak") lose();
    });
    group.wait();
  });
  return seen;
}

}  // namespace

int main(int count, char** words) {
  const std::string_view what = count > 1 ? words[1] : "";
  if (what == "tbb") return run_on_tbb();
  std::printf("not found: %d\n", plant(what));
}
