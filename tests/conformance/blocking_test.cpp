// SPDX-License-Identifier: Apache-2.0
// Calls that block: their results, and that a worker runs other tasks meanwhile. The thread that
// blocks waits for what only another task of the same runtime brings.
#include <unistd.h>

#include <any>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "setups.hpp"

namespace {

using namespace conformance;

class Blocking : public Conformance {};
CONFORMANCE(Blocking);

/// A pipe; what is written into it wakes who reads.
class pipe_of_bytes {
 public:
  pipe_of_bytes() {
    if (pipe(ends_.data()) != 0) std::abort();
  }
  pipe_of_bytes(const pipe_of_bytes&) = delete;
  pipe_of_bytes& operator=(const pipe_of_bytes&) = delete;
  ~pipe_of_bytes() {
    for (const int end : ends_) close(end);
  }
  int read_byte() {
    unsigned char byte = 0;
    return read(ends_[0], &byte, 1) == 1 ? byte : -1;
  }
  void write_byte(unsigned char byte) {
    if (write(ends_[1], &byte, 1) != 1) std::abort();
  }

 private:
  std::array<int, 2> ends_{};
};

TEST_P(Blocking, ReturnsWhatTheCallReturns) {
  in_each_runtime([] {
    int called = 0;
    creek::blocking([&] { ++called; });
    EXPECT_EQ(called, 1);
    EXPECT_EQ(creek::blocking([](int a, int b) { return a + b; }, 3, 4), 7);
    EXPECT_EQ(&creek::blocking([&]() -> int& { return called; }), &called);
    auto moved =
        creek::blocking([](std::unique_ptr<int> given) { return given; }, std::make_unique<int>(5));
    EXPECT_EQ(*moved, 5);
    EXPECT_EQ(creek::blocking(&std::string::size, std::string("four")), 4U);
    EXPECT_EQ(failure_of([] { creek::blocking([] { throw failure{9}; }); }), 9);
    const auto constant = creek::blocking([]() -> const std::string { return "constant"; });
    EXPECT_EQ(constant, "constant");
    EXPECT_EQ(std::any_cast<int>(creek::blocking([] { return std::any(4); })), 4);
    EXPECT_EQ(creek::blocking(close, -1), -1);
    EXPECT_EQ(errno, EBADF);
  });
}

TEST_P(Blocking, RunsOnTheCallersThreadOutsideOfARuntime) {
  const auto here = std::this_thread::get_id();
  EXPECT_EQ(creek::blocking([] { return std::this_thread::get_id(); }), here);
}

TEST_P(Blocking, RunsOnAThreadThatIsNoWorker) {
  if (is_simulated()) return;
  in_each_runtime([] {
    EXPECT_THROW(creek::blocking([] { creek::spawn([] {}); }), creek::usage_error);
    EXPECT_THROW(creek::blocking([] { creek::taskwait(); }), creek::usage_error);
  });
}

TEST_P(Blocking, LeavesTheWorkerToOtherTasks) {
  if (is_simulated()) return;
  in_each_runtime([] {
    constexpr int pairs = 20;
    std::vector<pipe_of_bytes> pipes(pairs);
    std::atomic<int> sum{0};
    for (auto& each : pipes) {
      creek::spawn([&] { sum += creek::blocking([&] { return each.read_byte(); }); });
    }
    for (auto& each : pipes) creek::spawn([&] { each.write_byte(3); });
    creek::taskwait();
    EXPECT_EQ(sum.load(), 3 * pairs);
  });
}

TEST_P(Blocking, HasMoreCallsThanThreads) {
  if (is_simulated() || GetParam().workers != 1) return;
  creek::runtime rt = make_runtime({.workers = 1}, GetParam().backend);
  rt.run([] {
    constexpr int calls = 540;
    std::vector<std::atomic<bool>> may_end(calls);
    std::atomic<int> ended{0};
    for (auto& each : may_end) {
      creek::spawn([&] {
        creek::blocking([&] { each.wait(false); });
        ++ended;
      });
    }
    for (auto& each : may_end) {
      creek::spawn([&] {
        each = true;
        each.notify_one();
      });
    }
    creek::taskwait();
    EXPECT_EQ(ended.load(), calls);
  });
}

TEST_P(Blocking, MixesWithAllOtherWaits) {
  const std::uint32_t seed = std::random_device{}();
  std::cout << "seed " << seed << '\n';
  in_each_runtime([seed] {
    std::minstd_rand random(seed);
    std::atomic<int> made{0}, ended{0};
    std::vector<creek::future<int>> results;
    for (int i = 0; i < 100; ++i) {
      const auto kind = random() % 4;
      ++made;
      const auto body = [&ended, kind] {
        if (kind == 0) creek::blocking([] { std::this_thread::yield(); });
        if (kind == 1) creek::fork_join([] { creek::blocking([] {}); }, [] {});
        if (kind == 2) creek::async([] { return creek::blocking([] { return 1; }); }).get();
        ++ended;
        return 1;
      };
      if (random() % 2 == 0) {
        creek::spawn(body);
      } else {
        results.push_back(creek::async(body));
      }
    }
    for (auto& each : results) each.get();
    creek::taskwait();
    EXPECT_EQ(made.load(), ended.load());
  });
}

}  // namespace
