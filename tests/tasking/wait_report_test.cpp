// SPDX-License-Identifier: Apache-2.0
// Reports of waits: who would end them, cycles, reports while tasks run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
#include "waiting_tasks.hpp"

namespace creek::support {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// --- Who would end a wait -----------------------------------------------------------------------

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

class cycles_of_waits_with_a_thief : public cycles_of_waits {};
INSTANTIATE_TEST_SUITE_P(workers, cycles_of_waits_with_a_thief, ::testing::Values(2U, 3U));

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

/// The first object's call runs a call of a third one in place, which waits for the first.
TEST_P(cycles_of_waits, of_calls_on_one_stack_are_named) {
  const auto plant = [] {
    runtime rt = make(GetParam());
    remote<partner> first, inner;
    rt.run([&] {
      first = make_on<partner>(core_id{0});
      inner = make_on<partner>(core_id{0}, partner{&first});
    });
    future<int> never = first.async([&inner](partner&) { return inner.call(&partner::ask, 1); });
    print_and_exit(rt);
  };
  EXPECT_EXIT(plant(), ::testing::ExitedWithCode(0),
              "a cycle of waits: object 2: [^\n]* waits for object 2: ");
}

TEST_P(cycles_of_waits_with_a_thief, through_a_stolen_child_are_named) {
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

}  // namespace
}  // namespace creek::support
