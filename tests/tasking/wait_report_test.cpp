// SPDX-License-Identifier: Apache-2.0
// Reports of waits: who would end them, cycles, reports while tasks run, and at SIGQUIT.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <creek/host.hpp>
#include <creek/tasking.hpp>

#include "support/process_facts.hpp"

namespace creek::support {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

runtime make(unsigned workers, bool dump_on_sigquit = false) {
  scheduler_options options;
  options.workers = workers;
  options.hang_limit = 0ns;
  options.dump_on_sigquit = dump_on_sigquit;
  return runtime{host(options)};
}

void spin_until(const std::atomic<bool>& flag) {
  while (!flag) std::this_thread::yield();
}

/// Returns the report as soon as it has `text`.
std::string report_with(const runtime& rt, const char* text) {
  for (;;) {
    std::string report = to_string(rt.waiting());
    if (report.find(text) != report.npos) return report;
    std::this_thread::yield();
  }
}

// --- Who would end a wait -----------------------------------------------------------------------

// Tasks with a name; closures of one function share theirs.
struct waits_for_future {
  future<int> awaited;
  int operator()() { return awaited.get(); }
};
struct busy_task {
  std::atomic<bool>* begun;
  std::atomic<bool>* may_end;
  int operator()() const {
    *begun = true;
    spin_until(*may_end);
    return 1;
  }
};
struct doubles {
  int operator()(int value) const { return 2 * value; }
};

class wait_reports : public ::testing::Test {
 protected:
  runtime rt = make(2);
  std::atomic<bool> begun{false}, may_end{false};
  promise<int> last;
};

TEST_F(wait_reports, say_on_which_worker_an_awaited_task_runs) {
  future<int> busy = rt.async(busy_task{&begun, &may_end});
  spin_until(begun);
  future<int> waiter = rt.async(waits_for_future{std::move(busy)});
  const std::string report = report_with(rt, "waits_for_future: has waited");
  EXPECT_THAT(report, HasSubstr("s for a future: "));
  EXPECT_THAT(report, HasSubstr("busy_task, which runs on worker "));
  may_end = true;
  EXPECT_EQ(waiter.get(), 1);
}

TEST_F(wait_reports, say_that_an_awaited_task_has_not_begun_or_waits_itself) {
  future<int> inner = rt.async(waits_for_future{last.get_future().then(doubles{})});
  report_with(rt, "doubles, which has not begun");
  future<int> outer = rt.async(waits_for_future{std::move(inner)});
  const std::string report = report_with(rt, "waits_for_future, which waits itself");
  EXPECT_THAT(report, Not(HasSubstr("cycle")));
  last.set_value(4);
  EXPECT_EQ(outer.get(), 8);
}

TEST_F(wait_reports, say_that_nobody_is_known_who_fulfils_a_promise) {
  future<int> waiter = rt.async(waits_for_future{last.get_future()});
  report_with(rt, "s for a future: not known who fulfils it\n");
  last.set_value(4);
  EXPECT_EQ(waiter.get(), 4);
}

TEST_F(wait_reports, know_stolen_children_and_branches_that_wait) {
  struct child {
    std::atomic<bool>* begun;
    future<int>* awaited;
    void operator()() const {
      *begun = true;
      awaited->get();
    }
  };
  future<int> awaited = last.get_future();
  std::thread caller([&] {
    rt.run([&] {
      spawn(child{&begun, &awaited});
      spin_until(begun);
      taskwait();
    });
  });
  const std::string children = report_with(rt, "; 1 have not ended");
  EXPECT_THAT(children, HasSubstr("s for the tasks that it spawned: "));
  EXPECT_THAT(children, HasSubstr("child, which waits itself; 1 have not ended\n"));
  last.set_value(1);
  caller.join();

  promise<int> second;
  awaited = second.get_future();
  begun = false;
  caller = std::thread([&] {
    rt.run([&] { fork_join([&] { spin_until(begun); }, child{&begun, &awaited}); });
  });
  report_with(rt, "child, which waits itself\n");
  second.set_value(1);
  caller.join();
}

struct counter {
  int wait(std::atomic<bool>* begun, std::atomic<bool>* may_end) {
    return busy_task{begun, may_end}();
  }
  int wait_for(future<int>* awaited) { return awaited->get(); }
  int get() { return 7; }
};

TEST_F(wait_reports, name_the_object_that_would_answer) {
  remote<counter> object = rt.run([] { return make_on<counter>(core_id{1}); });
  const std::string number = std::to_string(object.address().generation);
  future<int> busy = object.async(&counter::wait, &begun, &may_end);
  future<int> waiter = rt.async([&] { return object.call(&counter::get); });
  report_with(rt, ("s for the answer to a call: object " + number + "\n").c_str());
  may_end = true;
  EXPECT_EQ(waiter.get() + busy.get(), 8);

  future<int> awaited = last.get_future();
  busy = object.async(&counter::wait_for, &awaited);
  waiter = rt.async([&] { return object.call(&counter::get); });
  const std::string report = report_with(rt, "which has to end first and waits itself");
  EXPECT_THAT(report, HasSubstr("s for the answer to a call: object " + number + ": "));
  last.set_value(1);
  EXPECT_EQ(waiter.get() + busy.get(), 8);
}

TEST_F(wait_reports, are_written_by_dump_to_a_file) {
  std::FILE* file = std::tmpfile();
  rt.dump(file);
  future<int> waiter = rt.async(waits_for_future{last.get_future()});
  report_with(rt, "a future");
  rt.dump(file);
  std::rewind(file);
  std::string text(1000, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  EXPECT_THAT(text, HasSubstr("creek: runtime 'creek' (host, 2 workers): 0 tasks wait\n"
                              "creek: runtime 'creek' (host, 2 workers): 1 tasks wait:\n"));
  EXPECT_THAT(text, HasSubstr("waits_for_future: has waited"));
  last.set_value(1);
  EXPECT_EQ(waiter.get(), 1);
}

TEST_F(wait_reports, refuse_a_runtime_that_has_ended) {
  rt.shut_down();
  EXPECT_THROW(rt.dump(), usage_error);
}

// --- Cycles -------------------------------------------------------------------------------------

/// Tasks that wait for ever cannot be ended, so these tests run in processes of their own.
class cycles_of_waits : public ::testing::TestWithParam<unsigned> {
 protected:
  cycles_of_waits() { ::testing::FLAGS_gtest_death_test_style = "threadsafe"; }

  [[noreturn]] static void print_and_exit(const runtime& rt) {
    std::fputs(report_with(rt, "a cycle of waits").c_str(), stderr);
    _exit(0);
  }
};
INSTANTIATE_TEST_SUITE_P(workers, cycles_of_waits, ::testing::Values(1U, 2U, 3U));

struct two_futures {
  future<int> first, second;
  std::atomic<bool> are_set{false};
};
struct first_task {
  two_futures* both;
  int operator()() const {
    spin_until(both->are_set);
    return both->second.get();
  }
};
struct second_task {
  two_futures* both;
  int operator()() const {
    spin_until(both->are_set);
    return both->first.get();
  }
};

TEST_P(cycles_of_waits, of_two_futures_are_named) {
  const auto plant = [] {
    runtime rt = make(GetParam());
    two_futures both;
    rt.run([&] {
      both.first = async(first_task{&both});
      both.second = async(second_task{&both});
      both.are_set = true;
    });
    print_and_exit(rt);
  };
  EXPECT_EXIT(plant(), ::testing::ExitedWithCode(0),
              "a cycle of waits: [^\n]*(first_task waits for [^\n]*second_task, which waits for "
              "[^\n]*first_task|second_task waits for [^\n]*first_task, which waits for "
              "[^\n]*second_task)\n");
}

struct partner {
  remote<partner>* other = nullptr;
  int ask(int further) { return further == 0 ? 0 : other->async(&partner::ask, further - 1).get(); }
};

TEST_P(cycles_of_waits, of_two_objects_are_named) {
  const auto plant = [] {
    runtime rt = make(GetParam());
    remote<partner> first, second;
    rt.run([&] {
      const core_id last{static_cast<int>(rt.worker_count()) - 1};
      first = make_on<partner>(core_id{0}, partner{&second});
      second = make_on<partner>(last, partner{&first});
    });
    std::fprintf(stderr, "%llu %llu\n", static_cast<unsigned long long>(first.address().generation),
                 static_cast<unsigned long long>(second.address().generation));
    future<int> never = first.async(&partner::ask, 2);
    print_and_exit(rt);
  };
  EXPECT_EXIT(plant(), ::testing::ExitedWithCode(0),
              "1 2\n(.*\n)*a cycle of waits: (object 1: [^\n]* waits for object 2: [^\n]*, which "
              "waits for object 1: |object 2: [^\n]* waits for object 1: [^\n]*, which waits for "
              "object 2: )");
}

TEST_P(cycles_of_waits, through_a_stolen_child_are_named) {
  if (GetParam() == 1) GTEST_SKIP() << "a child is stolen by another worker";
  struct child {
    two_futures* both;
    std::atomic<bool>* begun;
    void operator()() const {
      *begun = true;
      both->first.get();
    }
  };
  struct parent {
    two_futures* both;
    int operator()() const {
      spin_until(both->are_set);
      std::atomic<bool> begun{false};
      spawn(child{both, &begun});
      spin_until(begun);
      taskwait();
      return 0;
    }
  };
  const auto plant = [] {
    runtime rt = make(GetParam());
    two_futures both;
    rt.run([&] {
      both.first = async(parent{&both});
      both.are_set = true;
    });
    print_and_exit(rt);
  };
  EXPECT_EXIT(plant(), ::testing::ExitedWithCode(0),
              "a cycle of waits: [^\n]*(child waits for [^\n]*parent, which waits for "
              "[^\n]*child|parent waits for [^\n]*child, which waits for [^\n]*parent)\n");
}

// --- While tasks run ----------------------------------------------------------------------------

long fib(int n) {
  if (n < 2) return n;
  future<long> left = async([n] { return fib(n - 1); });
  const long right = fib(n - 2);
  return n % 2 == 0 && left.wait_for(1us) == std::future_status::timeout ? right + left.get()
                                                                         : left.get() + right;
}

TEST(wait_reports_of_a_busy_runtime, disturb_nobody) {
  runtime rt = make(3);
  std::atomic<bool> is_over{false};
  unsigned long reports = 0;
  std::thread observer([&] {
    do {
      for (const waiting_task& each : rt.waiting()) {
        ASSERT_THAT(each.task, Not(IsEmpty()));
        ASSERT_THAT(each.cycle, IsEmpty());
      }
      ++reports;
    } while (!is_over);
  });
  const int n = under_sanitizer ? 12 : 18;
  const long expected = under_sanitizer ? 144 : 2584;
  remote<counter> object = rt.run([] { return make_on<counter>(core_id{1}); });
  for (int round = 0; round < (under_sanitizer ? 5 : 20); ++round) {
    const long result = rt.run([&] {
      const int calls = 7;
      parallel_for(0, calls, [&](int) { EXPECT_EQ(object.call(&counter::get), 7); });
      auto [a, b] = fork_join([=] { return fib(n); },
                              [&] {
                                for (int i = 0; i < 50; ++i)
                                  EXPECT_EQ(object.async(&counter::get).get(), 7);
                                for (int i = 0; i < 50; ++i) spawn([] { fib(4); });
                                taskwait();
                                return fib(n);
                              });
      return a + b;
    });
    ASSERT_EQ(result, 2 * expected);
    ASSERT_THAT(rt.run([&] { return rt.waiting(); }), IsEmpty());  // a task may ask as well
  }
  is_over = true;
  observer.join();
  EXPECT_GT(reports, 0U);
}

// --- SIGQUIT ------------------------------------------------------------------------------------

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
