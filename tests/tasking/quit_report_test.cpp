// SPDX-License-Identifier: Apache-2.0
// Reports of waits at SIGQUIT.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>

#include "support/process_facts.hpp"
#include "waiting_tasks.hpp"

namespace creek::support {
namespace {

using ::testing::HasSubstr;

/// Standard error as a pipe, for the life of this object.
class captured_errors {
 public:
  captured_errors() : before_(dup(STDERR_FILENO)) {
    if (pipe(ends_) != 0) std::abort();
    dup2(ends_[1], STDERR_FILENO);
  }
  ~captured_errors() {
    dup2(before_, STDERR_FILENO);
    for (const int each : {before_, ends_[0], ends_[1]}) close(each);
  }
  captured_errors(const captured_errors&) = delete;
  captured_errors& operator=(const captured_errors&) = delete;

  /// Reads until what was read has `text`; returns it.
  std::string read_until(const std::string& text) {
    std::string all;
    while (all.find(text) == all.npos) {
      char bytes[4096];
      const ssize_t count = read(ends_[0], bytes, sizeof bytes);
      if (count > 0) all.append(bytes, static_cast<std::size_t>(count));
    }
    return all;
  }

 private:
  int before_;
  int ends_[2];
};

std::atomic<int> earlier_calls{0};

class quit_signal : public ::testing::Test {
 protected:
  quit_signal() { sigaction(SIGQUIT, nullptr, &before_); }
  ~quit_signal() override { sigaction(SIGQUIT, &before_, nullptr); }
  static struct sigaction now() {
    struct sigaction action {};
    sigaction(SIGQUIT, nullptr, &action);
    return action;
  }
  static void count_call(int) { earlier_calls.fetch_add(1); }
  static void set(void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;
    sigaction(SIGQUIT, &action, nullptr);
  }

 private:
  struct sigaction before_ {};
};

TEST_F(quit_signal, has_waits_reported_although_no_worker_is_free) {
  captured_errors errors;
  {
    runtime rt = make(1, true);
    promise<int> last;
    std::atomic<bool> begun{false}, may_end{false};
    future<int> waiter = rt.async(waits_for_future{last.get_future()});
    report_with(rt, "a future");
    future<int> busy = rt.async(busy_task{&begun, &may_end});
    spin_until(begun);
    for (int round = 0; round < 3; ++round) {
      kill(getpid(), SIGQUIT);
      const std::string text = errors.read_until("not known who fulfils it\n");
      EXPECT_THAT(text, HasSubstr("creek: runtime 'creek' (host, 1 workers): 1 tasks wait:\n"));
      EXPECT_THAT(text, HasSubstr("waits_for_future: has waited"));
    }
    may_end = true;
    last.set_value(3);
    EXPECT_EQ(waiter.get() + busy.get(), 4);  // the program goes on
  }
  EXPECT_EQ(now().sa_handler, SIG_DFL);
}

TEST_F(quit_signal, reaches_every_runtime_that_asked_for_it_and_the_earlier_handler) {
  captured_errors errors;
  set(&count_call);
  earlier_calls = 0;
  {
    const runtime silent = make(1);
    EXPECT_EQ(now().sa_handler, &count_call);
    runtime first = make(1, true);
    {
      const runtime second = make(2, true);
      kill(getpid(), SIGQUIT);
      const std::string text = errors.read_until("(host, 1 workers): 0 tasks wait\n");
      EXPECT_THAT(text, HasSubstr("(host, 2 workers): 0 tasks wait\n"));
    }
    kill(getpid(), SIGQUIT);
    errors.read_until("(host, 1 workers): 0 tasks wait\n");
    EXPECT_EQ(earlier_calls, 2);
    runtime third = make(3, true);
    first.shut_down();
    kill(getpid(), SIGQUIT);
    EXPECT_THAT(errors.read_until("tasks wait\n"), HasSubstr("(host, 3 workers)"));
  }
  EXPECT_EQ(now().sa_handler, &count_call);
  EXPECT_EQ(earlier_calls, 3);
}

TEST_F(quit_signal, leaves_a_handler_alone_that_was_installed_later) {
  {
    const runtime rt = make(1, true);
    set(&count_call);
  }
  EXPECT_EQ(now().sa_handler, &count_call);
  {
    const runtime rt = make(1, true);
    EXPECT_NE(now().sa_handler, &count_call);
  }
  EXPECT_EQ(now().sa_handler, &count_call);
}

TEST_F(quit_signal, ends_a_child_of_fork_as_before) {
  runtime rt = make(2, true);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const rlimit no_core{};
    setrlimit(RLIMIT_CORE, &no_core);
    raise(SIGQUIT);
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGQUIT) << status;
  captured_errors errors;
  kill(getpid(), SIGQUIT);
  errors.read_until("0 tasks wait\n");
}

TEST_F(quit_signal, works_in_a_child_that_makes_its_own_runtime) {
  if (under_tsan) GTEST_SKIP() << "starts no threads in the child of a fork";
  runtime rt = make(2, true);
  captured_errors errors;
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    {
      const runtime own = make(3, true);
      raise(SIGQUIT);
      errors.read_until("(host, 3 workers): 0 tasks wait\n");
    }
    _exit(now().sa_handler == SIG_DFL && rt.waiting().empty() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

}  // namespace
}  // namespace creek::support
