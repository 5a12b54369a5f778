// SPDX-License-Identifier: Apache-2.0
// Settings are restored however the process that changed them ends, and by no other process.
#include <creek/power/linux_clocks.hpp>

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "power/recorded_machine.hpp"
#include "support/process_facts.hpp"

namespace creek::power {
namespace {

constexpr const char* as_found = "ondemand 1400000 2300000";

class linux_clocks_end : public testing::Test {
 protected:
  static std::shared_ptr<clock_control> control() {
    auto made = linux_clocks({.pinned = true, .cpus = {0, 1, 2, 3}});
    EXPECT_EQ(made->why_not(), "");
    return made;
  }
  static void lower(clock_control& clocks) {
    for (unsigned worker = 0; worker < 4; ++worker) clocks.wish(worker, 0);
  }
  void expect_lowered() const {
    for (const int policy : {0, 2}) {
      EXPECT_EQ(machine_.settings(policy).substr(0, 9), "userspace");
      EXPECT_EQ(machine_.read(policy, "scaling_setspeed"), "1400000");
    }
  }
  void expect_as_found() const {
    EXPECT_EQ(machine_.settings(0), as_found);
    EXPECT_EQ(machine_.settings(2), as_found);
  }

  /// Runs `body` in a child and waits for its end.
  static int status_of(const std::function<void()>& body) {
    const pid_t child = fork();
    if (child == 0) {
      const rlimit no_core{0, 0};
      setrlimit(RLIMIT_CORE, &no_core);
      body();
      _exit(99);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return status;
  }
  /// A child with a control that has set clocks, whose main thread then does `ending`.
  int status_of_ending(const std::function<void()>& ending) const {
    return status_of([&] {
      const auto clocks = control();
      lower(*clocks);
      if (machine_.read(0, "scaling_setspeed") != "1400000") _exit(98);
      ending();
    });
  }

  const recorded_machine machine_{"amd_acpi_cpufreq"};
};

TEST_F(linux_clocks_end, when_the_control_goes) {
  {
    const auto clocks = control();
    lower(*clocks);
    expect_lowered();
  }
  expect_as_found();
}

TEST_F(linux_clocks_end, after_an_exception) {
  try {
    const auto clocks = control();
    lower(*clocks);
    throw std::runtime_error("the program's own");
  } catch (const std::runtime_error&) {
  }
  expect_as_found();
}

TEST_F(linux_clocks_end, limits_below_and_above_those_that_were_found) {
  for (const auto& [low, high] : {std::pair{"1400000", "1700000"}, {"2000000", "2300000"}}) {
    const recorded_machine machine("amd_acpi_cpufreq");
    machine.make_folder(0, "scaling_setspeed");
    machine.write(0, "scaling_min_freq", low);
    machine.write(0, "scaling_max_freq", high);
    for (const std::size_t step : {0, 3}) {
      const auto clocks = linux_clocks({.pinned = true, .cpus = {0}});
      clocks->wish(0, step);
      EXPECT_EQ(machine.read(0, "scaling_max_freq"), machine.read(0, "scaling_min_freq"));
    }
    EXPECT_EQ(machine.settings(0), std::string("ondemand ") + low + " " + high);
  }
}

TEST_F(linux_clocks_end, a_speed_that_a_user_had_set) {
  machine_.write(0, "scaling_governor", "userspace");
  machine_.write(0, "scaling_setspeed", "1700000");
  {
    const auto clocks = control();
    lower(*clocks);
    EXPECT_EQ(machine_.read(0, "scaling_setspeed"), "1400000");
  }
  EXPECT_EQ(machine_.settings(0), "userspace 1400000 2300000");
  EXPECT_EQ(machine_.read(0, "scaling_setspeed"), "1700000");
}

TEST_F(linux_clocks_end, by_exit) {
  EXPECT_EQ(WEXITSTATUS(status_of_ending([] { std::exit(7); })), 7);
  expect_as_found();
}

TEST_F(linux_clocks_end, by_quick_exit) {
  EXPECT_EQ(WEXITSTATUS(status_of_ending([] { std::quick_exit(8); })), 8);
  expect_as_found();
}

/// A stream that is flushed when the process has called all that it calls at exit.
FILE* stream_flushed_last(std::function<void()>& then) {
  const auto write = [](void* cookie, const char*, std::size_t bytes) -> ssize_t {
    (*static_cast<std::function<void()>*>(cookie))();
    return static_cast<ssize_t>(bytes);
  };
  cookie_io_functions_t only_write{};
  only_write.write = write;
  FILE* const made = fopencookie(&then, "w", only_write);
  if (made != nullptr) std::fputs("buffered", made);
  return made;
}

TEST_F(linux_clocks_end, nothing_is_set_when_it_is_too_late_to_put_it_back) {
  const int status = status_of([this] {
    const auto clocks = control();
    std::function<void()> lower_and_end = [&] {
      lower(*clocks);
      _exit(clocks->failed().find("about to end") != std::string::npos ? 5 : 6);
    };
    if (stream_flushed_last(lower_and_end) == nullptr) _exit(97);
    std::exit(4);
  });
  EXPECT_EQ(WEXITSTATUS(status), 5);
  expect_as_found();
}

/// Four workers keep requesting clocks; meanwhile `ending` is called with a handle of one of them.
void wish_without_end(clock_control& clocks, const std::function<void(pthread_t)>& ending) {
  std::atomic<int> wished{0};
  std::vector<std::thread> workers;
  for (unsigned worker = 0; worker < 4; ++worker) {
    workers.emplace_back([&, worker] {
      for (std::size_t i = 0;; ++i) {
        clocks.wish(worker, (i + worker) % 4);
        wished.fetch_add(1, std::memory_order_relaxed);
      }
    });
  }
  while (wished.load(std::memory_order_relaxed) < 100) std::this_thread::yield();
  ending(workers.front().native_handle());
  for (auto& each : workers) each.join();
}

constexpr int rounds = 20;

TEST_F(linux_clocks_end, by_exit_while_workers_wish) {
  for (int round = 0; round < rounds; ++round) {
    const int status = status_of([] {
      const auto clocks = control();
      wish_without_end(*clocks, [](pthread_t) { std::exit(3); });
    });
    EXPECT_EQ(WEXITSTATUS(status), 3);
    expect_as_found();
  }
}

TEST_F(linux_clocks_end, by_a_signal_while_workers_wish) {
  for (int round = 0; round < rounds; ++round) {
    const int status = status_of([] {
      const auto clocks = control();
      wish_without_end(*clocks, [](pthread_t) { raise(SIGTERM); });
    });
    EXPECT_EQ(WTERMSIG(status), SIGTERM);
    expect_as_found();
  }
}

TEST_F(linux_clocks_end, by_a_signal_that_interrupts_a_wish) {
  for (int round = 0; round < rounds; ++round) {
    const int status = status_of([] {
      const auto clocks = control();
      wish_without_end(*clocks, [](pthread_t worker) { pthread_kill(worker, SIGINT); });
    });
    EXPECT_EQ(WTERMSIG(status), SIGINT);
    expect_as_found();
  }
}

TEST_F(linux_clocks_end, by_an_exception_that_nobody_catches) {
  const int status = status_of_ending([] {
    std::set_terminate([] { std::abort(); });  // without the text on standard error
    std::thread([] { throw std::runtime_error("nobody's"); }).join();
  });
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGABRT);
  expect_as_found();
}

TEST_F(linux_clocks_end, by_signals_with_the_default_action_still_taken) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGABRT, SIGPIPE, SIGALRM, SIGUSR1,
                           SIGXCPU, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
    const int status = status_of_ending([signal] {
      raise(signal);
      pause();
    });
    if (!support::under_sanitizer) {  // whose handlers end some of these by exit()
      EXPECT_TRUE(WIFSIGNALED(status)) << strsignal(signal);
      EXPECT_EQ(WTERMSIG(status), signal);
    }
    expect_as_found();
  }
}

TEST_F(linux_clocks_end, by_a_fault) {
  const int status = status_of_ending([] { *static_cast<volatile int*>(nullptr) = 1; });
  if (!support::under_sanitizer) {
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), SIGSEGV);
  }
  expect_as_found();
}

TEST_F(linux_clocks_end, ignored_signals_stay_ignored) {
  const int status = status_of([this] {
    signal(SIGHUP, SIG_IGN);
    const auto clocks = control();
    lower(*clocks);
    raise(SIGHUP);
    _exit(machine_.read(0, "scaling_governor") == "userspace" ? 4 : 5);
  });
  EXPECT_EQ(WEXITSTATUS(status), 4);
}

std::atomic<int> handled{0};

TEST_F(linux_clocks_end, a_handler_that_was_there_is_called_and_may_go_on) {
  const int status = status_of([this] {
    signal(SIGINT, [](int) { handled.fetch_add(1); });
    signal(SIGUSR1, [](int) { handled.fetch_add(10); });
    {
      const auto clocks = control();
      lower(*clocks);
      raise(SIGUSR1);  // a signal that programs use for themselves ends no process
      if (machine_.settings(0).substr(0, 9) != "userspace") _exit(1);
      raise(SIGINT);
      if (handled.load() != 11) _exit(2);
      if (machine_.settings(0) != as_found) _exit(3);
      clocks->wish(0, 2);  // the control continues with the next change
      if (machine_.read(0, "scaling_setspeed") != "2000000") _exit(4);
      raise(SIGINT);
      raise(SIGINT);
      if (machine_.settings(0) != as_found) _exit(5);
      clocks->wish(0, 1);
      clocks->wish(0, 0);
      if (clocks->failed() != "") _exit(6);
    }
    _exit(handled.load());
  });
  EXPECT_EQ(WEXITSTATUS(status), 13);
  expect_as_found();
}

/// Also restores what a request writes after a handler that interrupted it has restored the clocks.
TEST_F(linux_clocks_end, wishes_that_handled_signals_interrupt_leave_nothing) {
  machine_.make_folder(0, "scaling_setspeed");  // limits: two writes per request
  for (int round = 0; round < rounds; ++round) {
    const int status = status_of([] {
      signal(SIGINT, [](int) { handled.fetch_add(1); });
      auto clocks = linux_clocks({.pinned = true, .cpus = {0}});
      std::atomic<bool> stop{false};
      std::thread worker([&] {
        for (std::size_t i = 0; !stop; ++i) clocks->wish(0, i % 4);
      });
      for (int i = 0; i < 200; ++i) {
        const int before = handled;
        pthread_kill(worker.native_handle(), SIGINT);
        while (handled == before) std::this_thread::yield();
      }
      stop = true;
      worker.join();
      const bool failed = clocks->failed() != "";
      clocks.reset();
      _exit(failed ? 1 : 0);
    });
    EXPECT_EQ(WEXITSTATUS(status), 0);
    EXPECT_EQ(machine_.settings(0), as_found);
  }
}

TEST_F(linux_clocks_end, a_handler_for_one_time_that_sends_its_signal_again_ends_the_process) {
  const int status = status_of([] {
    struct sigaction theirs {};
    theirs.sa_handler = [](int number) { raise(number); };
    theirs.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(SIGTERM, &theirs, nullptr);
    const auto clocks = control();
    lower(*clocks);
    raise(SIGTERM);
    pause();
  });
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
  expect_as_found();
}

TEST_F(linux_clocks_end, a_child_puts_nothing_back) {
  auto clocks = control();
  lower(*clocks);
  EXPECT_EQ(WEXITSTATUS(status_of([] { std::exit(6); })), 6);
  expect_lowered();
  EXPECT_EQ(WTERMSIG(status_of([] { raise(SIGTERM); })), SIGTERM);
  expect_lowered();
  status_of([&] { clocks.reset(); });
  expect_lowered();
}

TEST_F(linux_clocks_end, a_child_sets_nothing_and_says_so) {
  const auto clocks = control();
  lower(*clocks);
  const int status = status_of([&] {
    clocks->wish(0, 3);
    if (clocks->failed().find("forked") == std::string::npos) _exit(1);
    _exit(0);
  });
  EXPECT_EQ(WEXITSTATUS(status), 0);
  expect_lowered();
}

TEST_F(linux_clocks_end, a_child_that_is_first_to_wish_puts_back) {
  const auto clocks = control();
  status_of([&] {
    lower(*clocks);
    std::exit(machine_.read(0, "scaling_setspeed") == "1400000" ? 0 : 1);
  });
  expect_as_found();
}

}  // namespace
}  // namespace creek::power
