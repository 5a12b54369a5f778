// SPDX-License-Identifier: Apache-2.0
// The trace of a runtime on host threads: names of tasks, arrows of steals and waits.
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include <creek/tasking.hpp>

#include "support/temporary_folder.hpp"

namespace creek::support {
namespace {

using nlohmann::json;

struct maker_of_a_fork {
  std::atomic<bool>* stolen;
  void operator()() const {
    while (!stolen->load()) std::this_thread::yield();
  }
};
struct stolen_branch {
  std::atomic<bool>* stolen;
  void operator()() const { stolen->store(true); }
};
struct stolen_child {
  std::atomic<bool>* stolen;
  void operator()() const { stolen->store(true); }
};
struct task_of_a_future {
  std::atomic<bool>* stolen;
  int operator()() const {
    stolen->store(true);
    return 1;
  }
};
template <class F>
struct task_of_run {
  F function;
  void operator()() { function(); }
};
struct task_that_waits {
  future<int> wanted;
  int operator()() { return wanted.get(); }
};

/// A slice of a track, from its begin to its end.
struct slice {
  std::string name;
  int track;
  double begin, end;
};

class runtime_trace : public ::testing::Test {
 protected:
  /// Runs `program(runtime)` on two workers and reads what its trace says.
  template <class Program>
  void record(Program program) {
    const std::string file = (folder_ / "trace.json").string();
    {
      runtime rt({.workers = 2});
      rt.trace_to(file);
      program(rt);
      rt.shut_down();
    }
    std::ifstream in(file);
    std::map<int, std::vector<slice>> open;
    const json trace = json::parse(in);
    for (const json& e : trace["traceEvents"]) {
      const int track = e["tid"];
      if (e["ph"] == "B") open[track].push_back({e["name"], track, e["ts"], 0});
      if (e["ph"] == "s" || e["ph"] == "f") arrows_.push_back(e);
      if (e["ph"] != "E") continue;
      ASSERT_FALSE(open[track].empty());
      slices_.push_back(open[track].back());
      slices_.back().end = e["ts"];
      open[track].pop_back();
    }
  }
  std::vector<slice> named(const std::string& part) const {
    std::vector<slice> found;
    for (const slice& each : slices_) {
      if (each.name.find(part) != std::string::npos) found.push_back(each);
    }
    return found;
  }
  /// Returns the arrow's end ("s" or "f") of that name within the slice, or null.
  json arrow_in(const slice& inside, const char* end, const char* name) const {
    for (const json& e : arrows_) {
      const double at = e["ts"];
      if (e["ph"] == end && e["name"] == name && e["tid"] == inside.track && at >= inside.begin &&
          at <= inside.end) {
        return e;
      }
    }
    return nullptr;
  }
  /// Checks that an arrow leads from some slice on another track to `stolen`.
  void expect_stolen(const slice& stolen) const {
    const json finish = arrow_in(stolen, "f", "steal");
    ASSERT_FALSE(finish.is_null()) << stolen.name;
    int starts = 0;
    for (const json& e : arrows_) {
      if (e["ph"] != "s" || e["name"] != "steal" || e["id"] != finish["id"]) continue;
      ++starts;
      EXPECT_NE(e["tid"], stolen.track);
      EXPECT_LE(e["ts"], finish["ts"]);
    }
    EXPECT_EQ(starts, 1);
  }

  temporary_folder folder_;
  std::vector<slice> slices_;
  std::vector<json> arrows_;
};

TEST_F(runtime_trace, names_what_was_submitted_and_stolen_and_where_it_was_stolen_from) {
  std::atomic<bool> forked{false}, spawned{false}, begun{false};
  record([&](runtime& rt) {
    const auto wait_for = [](const std::atomic<bool>& flag) {
      while (!flag.load()) std::this_thread::yield();
    };
    const auto root = [&] {
      fork_join(maker_of_a_fork{&forked}, stolen_branch{&forked});
      spawn(stolen_child{&spawned});
      wait_for(spawned);
      future<int> one = async(task_of_a_future{&begun});
      wait_for(begun);
      EXPECT_EQ(one.get(), 1);
    };
    rt.run(task_of_run<decltype(root)>{root});
    EXPECT_EQ(rt.async(task_of_a_future{&begun}).get(), 1);
  });
  for (const char* stolen : {"stolen_branch", "stolen_child"}) {
    const std::vector<slice> found = named(stolen);
    ASSERT_EQ(found.size(), 1U) << stolen;
    EXPECT_EQ(found[0].name.find("task_name"), std::string::npos) << found[0].name;
    expect_stolen(found[0]);
  }
  const std::vector<slice> futures = named("task_of_a_future");
  ASSERT_EQ(futures.size(), 2U);
  EXPECT_EQ(
      arrow_in(futures[0], "f", "steal").is_null() + arrow_in(futures[1], "f", "steal").is_null(),
      1)
      << "one was stolen, one was submitted";
  EXPECT_FALSE(named("task_of_run").empty());
}

TEST_F(runtime_trace, has_an_arrow_from_a_wait_to_where_it_goes_on) {
  record([&](runtime& rt) {
    promise<int> last;
    future<int> done = rt.async(task_that_waits{last.get_future()});
    while (rt.waiting().empty()) std::this_thread::yield();
    last.set_value(3);
    EXPECT_EQ(done.get(), 3);
  });
  const std::vector<slice> parts = named("task_that_waits");
  ASSERT_EQ(parts.size(), 2U);
  const bool in_order = parts[0].begin <= parts[1].begin;
  const slice &before = parts[in_order ? 0 : 1], &after = parts[in_order ? 1 : 0];
  EXPECT_EQ(before.name.find(", resumed"), std::string::npos) << before.name;
  EXPECT_NE(after.name.find(", resumed"), std::string::npos) << after.name;
  const json from = arrow_in(before, "s", "wait"), to = arrow_in(after, "f", "wait");
  ASSERT_FALSE(from.is_null());
  ASSERT_FALSE(to.is_null());
  EXPECT_EQ(from["id"], to["id"]);
}

}  // namespace
}  // namespace creek::support
