// SPDX-License-Identifier: Apache-2.0
// CREEK_PROFILE on host threads: every nanosecond of every worker belongs to a task or to one kind
// of idleness, and a suspended task runs nowhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <creek/core/measuring/clock.hpp>
#include <creek/tasking.hpp>

#include "support/process_facts.hpp"
#include "support/temporary_folder.hpp"

namespace creek::support {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

struct short_task {
  void operator()() const { spin_for(100us); }
};
struct long_task {
  void operator()() const { spin_for(2ms); }
};
struct inlined_branch {
  void operator()() const { spin_for(10us); }
};
struct waiting_task_of_test {
  future<int> wanted;
  int operator()() { return wanted.get(); }
};
/// Waits for some others of its kind, which workers steal.
struct tree_of_waits {
  int depth;
  void operator()() const {
    spin_for(5us);
    if (depth == 0) return;
    std::vector<future<void>> children;
    for (int i = 0; i < 3; ++i) children.push_back(async(tree_of_waits{depth - 1}));
    for (future<void>& each : children) each.get();
    spin_for(5us);
  }
};

class runtime_profile : public ::testing::Test {
 protected:
  ~runtime_profile() override { unsetenv("CREEK_PROFILE"); }

  /// Runs `program(runtime)` and reads its profile.
  template <class Program>
  json profile_of(const scheduler_options& options, Program program) {
    const auto file = folder_ / "profile.json";
    setenv("CREEK_PROFILE", file.c_str(), 1);
    {
      runtime rt(options);
      program(rt);
    }
    std::ifstream in(file);
    json found = json::parse(in);
    expect_whole(found, options.workers);
    return found;
  }

  /// Checks that the times add up.
  static void expect_whole(const json& found, std::size_t workers) {
    ASSERT_EQ(found["workers"].size(), workers);
    std::int64_t running = 0, in_tasks = 0, names = 0;
    for (const json& each : found["workers"]) {
      std::int64_t sum = 0;
      for (const auto& [name, time] : each.items()) {
        EXPECT_GE(time, 0) << name;
        sum += time.get<std::int64_t>();
      }
      EXPECT_NEAR(static_cast<double>(sum), found["duration_ns"], 4) << "rounded";
      running += each["running_ns"].get<std::int64_t>();
    }
    for (const json& each : found["tasks"]) {
      ++names;
      in_tasks += each["total_ns"].get<std::int64_t>();
      EXPECT_GE(each["total_ns"], each["longest_ns"]);
      EXPECT_GT(each["count"], 0);
    }
    const auto roundings = static_cast<double>(workers) * static_cast<double>(names + 1);
    EXPECT_NEAR(static_cast<double>(running), static_cast<double>(in_tasks), roundings);
  }
  /// Returns the only row whose name has that part.
  static json row(const json& found, const std::string& part) {
    json one;
    for (const json& each : found["tasks"]) {
      if (each["name"].get<std::string>().find(part) == std::string::npos) continue;
      EXPECT_TRUE(one.is_null()) << "two rows: " << part;
      one = each;
    }
    return one;
  }

  temporary_folder folder_;
};

TEST_F(runtime_profile, counts_the_tasks_of_each_name_and_their_time) {
  const json found = profile_of({.workers = 2}, [](runtime& rt) {
    std::vector<future<void>> all;
    for (int i = 0; i < 8; ++i) all.push_back(rt.async(short_task{}));
    for (int i = 0; i < 4; ++i) all.push_back(rt.async(long_task{}));
    for (future<void>& each : all) each.get();
  });
  const json small = row(found, "short_task"), large = row(found, "long_task");
  ASSERT_FALSE(small.is_null());
  ASSERT_FALSE(large.is_null());
  EXPECT_EQ(small["count"], 8);
  EXPECT_EQ(large["count"], 4);
  EXPECT_GE(small["total_ns"], 799'000);
  EXPECT_GE(large["total_ns"], 7'990'000);
  EXPECT_GE(large["longest_ns"], 1'999'000);
  EXPECT_EQ(large["waited_ns"], 0);
}

TEST_F(runtime_profile, agrees_with_a_trace_of_the_same_run) {
  const auto file = folder_ / "trace.json";
  const json found = profile_of({.workers = 2}, [&](runtime& rt) {
    rt.trace_to(file.string());
    rt.async(tree_of_waits{3}).get();
  });
  std::ifstream in(file);
  const json trace = json::parse(in);
  int begun = 0;
  for (const json& e : trace["traceEvents"]) {
    if (e["ph"] != "B") continue;
    const std::string name = e["name"];
    if (name.ends_with("tree_of_waits")) ++begun;
  }
  EXPECT_GT(begun, 0);
  EXPECT_GE(row(found, "tree_of_waits")["count"], begun) << "tasks left behind are not traced";
}

TEST_F(runtime_profile, counts_a_branch_in_its_maker_as_part_of_it) {
  const json found = profile_of({.workers = 1}, [](runtime& rt) {
    rt.async([] {
        for (int i = 0; i < 10; ++i) fork_join(short_task{}, inlined_branch{});
      }).get();
  });
  EXPECT_TRUE(row(found, "inlined_branch").is_null());
  ASSERT_EQ(found["tasks"].size(), 1U);
  EXPECT_EQ(found["tasks"][0]["count"], 1);
  EXPECT_GE(found["tasks"][0]["total_ns"], 1'099'000);
}

TEST_F(runtime_profile, counts_suspended_time_as_waited_and_not_as_running) {
  constexpr auto pause = 20ms;
  const json found = profile_of({.workers = 1}, [&](runtime& rt) {
    promise<int> last;
    future<int> done = rt.async(waiting_task_of_test{last.get_future()});
    while (rt.waiting().empty()) std::this_thread::yield();
    rt.async([] {}).get();  // the only worker has left the waiting task
    spin_for(pause);
    last.set_value(3);
    EXPECT_EQ(done.get(), 3);
  });
  const json task = row(found, "waiting_task_of_test");
  ASSERT_FALSE(task.is_null());
  constexpr std::int64_t least = std::chrono::nanoseconds{pause}.count() * 999 / 1000;
  EXPECT_GE(task["waited_ns"], least);
  const std::int64_t duration = found["duration_ns"];
  EXPECT_LE(task["waited_ns"].get<std::int64_t>() + task["total_ns"].get<std::int64_t>(), duration);
  EXPECT_LE(task["total_ns"], duration - least);
}

TEST_F(runtime_profile, follows_tasks_from_worker_to_worker) {
  for (const unsigned workers : {1U, 2U, 4U}) {
    const json found = profile_of({.workers = workers}, [](runtime& rt) {
      rt.async(tree_of_waits{5}).get();
      rt.run([] { tree_of_waits{4}(); });
    });
    EXPECT_FALSE(row(found, "tree_of_waits").is_null());
  }
}

TEST_F(runtime_profile, is_whole_however_workers_schedule_and_wait) {
  const std::vector<scheduler_options> ways{
      {.workers = 3, .pin = true},
      {.workers = 3, .idle = idle_policy::poll},
      {.workers = 3, .idle = idle_policy::backoff},
      {.workers = 3, .serve_only = {core_id{1}}},
      {.workers = 3, .deque = deque_kind::mpb},
      {.workers = 3, .scheduler = scheduler_kind::sharing},
  };
  for (const scheduler_options& each : ways) {
    const json found = profile_of(each, [&](runtime& rt) {
      rt.async(tree_of_waits{3}).get();
      rt.run([] { call_on(core_id{1}, [] { spin_for(10us); }); });
    });
    EXPECT_FALSE(row(found, "tree_of_waits").is_null());
    EXPECT_FALSE(row(found, "messages").is_null());
  }
}

TEST_F(runtime_profile, follows_tasks_of_full_deques_and_those_left_behind) {
  const json found = profile_of({.workers = 2, .deque_capacity = 16}, [](runtime& rt) {
    std::atomic<int> ran{0};
    rt.run([&] {
      for (int i = 0; i < 2000; ++i) {
        spawn([&ran] { ran.fetch_add(1); });
        if (i % 100 == 0) spawn([] { async(short_task{}).get(); });
      }
    });
    EXPECT_EQ(ran, 2000);
  });
  EXPECT_FALSE(row(found, "short_task").is_null());
}

/// Waits of 20 tasks, for which there are no stacks to leave for; ends the process.
void wait_without_stacks() {
  {
    runtime rt({.workers = 2, .stack_size = std::size_t{1} << 30});
    rlimit limit{};
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = address_space() + (std::size_t{400} << 20);
    setrlimit(RLIMIT_AS, &limit);
    std::vector<promise<int>> values(20);
    rt.run([&] {
      std::vector<future<int>> results;
      for (auto& each : values) results.push_back(async(waiting_task_of_test{each.get_future()}));
      spawn([&] {
        for (auto& each : values) {
          spin_for(200us);
          each.set_value(1);
        }
      });
      for (auto& each : results) each.get();
    });
  }
  std::_Exit(0);  // oneTBB, if it was used before the fork, fails at a proper exit
}

TEST_F(runtime_profile, is_whole_if_there_is_no_memory_for_stacks) {
  if (under_sanitizer) GTEST_SKIP() << "a sanitizer needs the address space";
  const auto file = folder_ / "profile.json";
  setenv("CREEK_PROFILE", file.c_str(), 1);
  EXPECT_EXIT(wait_without_stacks(), ::testing::ExitedWithCode(0), "no memory");
  std::ifstream in(file);
  const json found = json::parse(in);
  expect_whole(found, 2);
}

TEST_F(runtime_profile, has_a_row_for_calls_of_workers) {
  const json found = profile_of({.workers = 2}, [](runtime& rt) {
    rt.run([] {
      for (int i = 0; i < 20; ++i) {
        for (const int worker : {0, 1}) call_on(core_id{worker}, [] { spin_for(10us); });
      }
    });
  });
  const json calls = row(found, "messages");
  ASSERT_FALSE(calls.is_null());
  EXPECT_GE(calls["total_ns"], 199'000);
}

TEST_F(runtime_profile, is_a_table_on_standard_error) {
  setenv("CREEK_PROFILE", "1", 1);
  ::testing::internal::CaptureStderr();
  {
    runtime rt({.workers = 2});
    rt.async(long_task{}).get();
    rt.shut_down();
  }
  const std::string table = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(table, HasSubstr("creek: profile of 2 workers on host, "));
  EXPECT_THAT(table, HasSubstr("long_task\n"));
  EXPECT_THAT(table, HasSubstr("\n       all "));
  setenv("CREEK_PROFILE", "0", 1);
  ::testing::internal::CaptureStderr();
  {
    runtime{scheduler_options{.workers = 2}}.run([] {});
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST_F(runtime_profile, fails_as_a_trace_does) {
  setenv("CREEK_PROFILE", "always", 1);
  EXPECT_THROW(runtime rt({.workers = 2}), usage_error);
  setenv("CREEK_PROFILE", "/no/such/folder/profile.json", 1);
  EXPECT_THROW(runtime rt({.workers = 2}), error);
  const auto full = folder_ / "full.json";
  std::filesystem::create_symlink("/dev/full", full);
  setenv("CREEK_PROFILE", full.c_str(), 1);
  runtime rt({.workers = 2});
  EXPECT_THROW(rt.shut_down(), error);
}

TEST_F(runtime_profile, is_refused_by_other_backends_with_a_line) {
  setenv("CREEK_PROFILE", "1", 1);
  for (const std::string& name : backends()) {
    if (name == "host") continue;
    ::testing::internal::CaptureStderr();
    runtime({.workers = 2}, name).run([] {});
    EXPECT_EQ(::testing::internal::GetCapturedStderr(),
              "creek: CREEK_PROFILE: only the host backend has a profile; this runtime is on " +
                  name + "\n");
  }
}

}  // namespace
}  // namespace creek::support
