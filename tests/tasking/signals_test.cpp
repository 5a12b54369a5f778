// SPDX-License-Identifier: Apache-2.0
// Signals that interrupt workers, asleep or not: every system call in which creek sleeps is
// restarted, and handlers run on whatever stack the worker is on.
#include <gtest/gtest.h>

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include <creek/host.hpp>
#include <creek/tasking.hpp>

#include "support/process_facts.hpp"

namespace creek::support {
namespace {

std::atomic<int> delivered{0};

std::vector<pid_t> other_threads() {
  std::vector<pid_t> threads;
  DIR* tasks = opendir("/proc/self/task");
  const auto self = static_cast<pid_t>(syscall(SYS_gettid));
  while (const dirent* entry = readdir(tasks)) {
    const pid_t thread = std::atoi(entry->d_name);
    if (thread != 0 && thread != self) threads.push_back(thread);
  }
  closedir(tasks);
  return threads;
}

void signal_all(const std::vector<pid_t>& threads) {
  for (const pid_t thread : threads) syscall(SYS_tgkill, getpid(), thread, SIGUSR1);
}

long fib(int n) {
  if (n < 2) return n;
  auto [a, b] = fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

class signals : public ::testing::TestWithParam<idle_policy> {
 protected:
  void SetUp() override {
    struct sigaction action {};
    action.sa_handler = [](int) { delivered.fetch_add(1); };  // without SA_RESTART
    sigaction(SIGUSR1, &action, &before_);
    delivered = 0;
  }
  void TearDown() override { sigaction(SIGUSR1, &before_, nullptr); }
  static runtime make() {
    scheduler_options options;
    options.workers = 3;
    options.idle = GetParam();
    options.stack_size = std::size_t{under_sanitizer ? 256 : 32} << 10;  // handlers also run on it
    return runtime{host(options)};
  }

 private:
  struct sigaction before_ {};
};

TEST_P(signals, interrupt_sleeping_workers) {
  runtime rt = make();
  const auto threads = other_threads();
  for (int round = 0; round < 200; ++round) {
    signal_all(threads);
    ASSERT_EQ(rt.run([round] { return round; }), round);
  }
  while (delivered.load() == 0) std::this_thread::yield();
}

TEST_P(signals, interrupt_running_tasks_and_waits) {
  runtime rt = make();
  const auto threads = other_threads();
  std::atomic<bool> stop{false};
  std::thread pest([&] {
    while (!stop) {
      signal_all(threads);
      std::this_thread::yield();
    }
  });
  // The rounds may end before the other thread has begun.
  for (int round = 0; round < 20 || delivered.load() == 0; ++round) {
    EXPECT_EQ(rt.run([] { return fib(15); }), 610);
    promise<int> made;
    auto next = rt.async([f = made.get_future()]() mutable { return f.get() + 1; });
    made.set_value(round);
    EXPECT_EQ(next.get(), round + 1);
  }
  stop = true;
  pest.join();
  EXPECT_GT(delivered.load(), 0);
}

TEST_P(signals, interrupt_a_foreign_thread_that_waits) {
  runtime rt = make();
  std::atomic<pid_t> waiter{0};
  promise<int> made;
  std::thread foreign([&, f = made.get_future()]() mutable {
    waiter = static_cast<pid_t>(syscall(SYS_gettid));
    EXPECT_EQ(f.get(), 5);
  });
  while (waiter == 0) std::this_thread::yield();
  for (int i = 0; i < 50; ++i) {
    syscall(SYS_tgkill, getpid(), waiter.load(), SIGUSR1);
    std::this_thread::yield();
  }
  while (delivered.load() == 0) std::this_thread::yield();
  made.set_value(5);
  foreign.join();
}

INSTANTIATE_TEST_SUITE_P(idle, signals,
                         ::testing::Values(idle_policy::block, idle_policy::backoff,
                                           idle_policy::poll),
                         [](const auto& chosen) { return std::string(to_string(chosen.param)); });

TEST(signal_masks, are_those_of_the_thread_that_made_the_runtime) {
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  runtime rt{host(2)};
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  future<bool> is_blocked = rt.async([] {  // run() may make this thread a worker
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    return sigismember(&mask, SIGUSR2) == 1;
  });
  EXPECT_TRUE(is_blocked.get());
}

}  // namespace
}  // namespace creek::support
