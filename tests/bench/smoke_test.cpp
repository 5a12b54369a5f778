// SPDX-License-Identifier: Apache-2.0
// `creek bench` as users run it, at sizes where only the answers are meaningful: every workload on
// every peer that was built, the JSON against its schema, the charts, bad usage.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sched.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "process.hpp"
#include "support/temporary_folder.hpp"

namespace {

using creek::tool::bench::process_result;
using creek::tool::bench::run_process;
using nlohmann::json;
using testing::HasSubstr;

process_result run_bench(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "bench");
  arguments.insert(arguments.end(), {"--peer-dir", PEER_FOLDER});
  return run_process(CREEK_TOOL, arguments, std::chrono::seconds(280));
}

class BenchSmoke : public testing::Test {
 protected:
  creek::support::temporary_folder folder_;
};

void expect_result(const json& r) {
  for (const char* key : {"peer", "version"}) EXPECT_TRUE(r.at(key).is_string()) << r;
  for (const char* key : {"workers", "n"}) EXPECT_TRUE(r.at(key).is_number_integer()) << r;
  if (r.contains("failure")) return;
  for (const char* key : {"work", "median", "min", "max", "spread"}) {
    EXPECT_TRUE(r.at(key).is_number()) << r;
  }
  EXPECT_EQ(r.at("runs").get<std::size_t>(), r.at("figures").size());
  EXPECT_LE(r.at("min"), r.at("median"));
  EXPECT_LE(r.at("median"), r.at("max"));
  EXPECT_TRUE(r.at("answer").is_string());
}

void expect_schema(const json& whole) {
  EXPECT_TRUE(whole.at("command").get<std::string>().starts_with("bench "));
  EXPECT_EQ(whole.at("schema_version"), 3);
  EXPECT_EQ(whole.at("size"), "smoke");
  EXPECT_TRUE(whole.at("machine").at("cpu").is_string());
  EXPECT_GE(whole.at("machine").at("cpus"), 1);
  EXPECT_TRUE(whole.at("machine").contains("git"));
  for (const auto& limit : whole.at("limits")) expect_result(limit);
  for (const char* list : {"workloads", "schedulers"}) {
    for (const auto& w : whole.at(list)) {
      EXPECT_TRUE(w.at("workload").is_string() && w.at("unit").is_string());
      EXPECT_TRUE(w.at("n").is_number_integer() && w.at("best_other").is_array());
      for (const auto& r : w.at("results")) expect_result(r);
    }
  }
  for (const auto& m : whole.at("missing")) EXPECT_TRUE(m.at("how").is_string());
}

TEST_F(BenchSmoke, RunsEverythingWithEqualAnswersAndWritesItsResults) {
  const auto file = folder_ / "result.json";
  const auto got = run_bench({"tasking", "--size", "smoke", "--workers", "1,2", "--runs", "1",
                              "--json", file.string(), "--svg", (folder_ / "charts").string()});
  ASSERT_EQ(got.exit_code, 0) << got.output << got.errors;
  const json whole = json::parse(std::ifstream(file));
  expect_schema(whole);
  std::set<std::string> seen;
  for (const auto& w : whole.at("workloads")) {
    seen.insert(w.at("workload"));
    bool creek = false;
    for (const auto& r : w.at("results")) creek = creek || r.at("peer") == "creek";
    EXPECT_TRUE(creek) << w.at("workload");
    EXPECT_TRUE(std::filesystem::exists(folder_ / "charts" /
                                        (w.at("workload").get<std::string>() + ".svg")));
  }
  for (const char* name :
       {"fib",           "nqueens",      "uts",           "matmul",     "mergesort", "spc",
        "spc_1us",       "bpc",          "bpc_1us",       "axpy",       "sum",       "loop_20us",
        "parallel_sort", "wakeup",       "idle",          "round_trip", "deque",     "deque_mpb",
        "skynet",        "skynet_group", "skynet_halves", "fib_pauses"}) {
    EXPECT_TRUE(seen.contains(name)) << name;
  }
  EXPECT_EQ(whole.at("schedulers").at(0).at("results").size(), 16u);
  EXPECT_GE(whole.at("limits").size(), 6u);
  EXPECT_THAT(got.output, HasSubstr("Limits of this machine"));
  EXPECT_THAT(got.output, HasSubstr("Scheduler comparison"));
}

TEST_F(BenchSmoke, RunsStreamsWithEqualAnswers) {
  const auto file = folder_ / "result.json";
  const auto got = run_bench(
      {"stream", "--size", "smoke", "--workers", "1,2", "--runs", "1", "--json", file.string()});
  ASSERT_EQ(got.exit_code, 0) << got.output << got.errors;
  const json whole = json::parse(std::ifstream(file));
  expect_schema(whole);
  std::set<std::string> seen;
  for (const auto& w : whole.at("workloads")) {
    for (const auto& r : w.at("results")) {
      if (r.at("peer") == "creek") seen.insert(w.at("workload"));
    }
  }
  EXPECT_EQ(seen,
            (std::set<std::string>{"stream_2", "stream_4", "stream_latency", "stream_uneven"}));
}

TEST_F(BenchSmoke, RunsTheInvocationsWithEqualAnswers) {
  const auto file = folder_ / "result.json";
  const auto got = run_bench(
      {"invoke", "--size", "smoke", "--workers", "2", "--runs", "1", "--json", file.string()});
  ASSERT_EQ(got.exit_code, 0) << got.output << got.errors;
  const json whole = json::parse(std::ifstream(file));
  expect_schema(whole);
  std::map<std::string, std::set<std::string>> seen;
  for (const auto& w : whole.at("workloads")) {
    for (const auto& r : w.at("results")) seen[w.at("workload")].insert(r.at("peer"));
  }
  EXPECT_TRUE(seen["invoke_round_trip"].contains("std_async"));
  EXPECT_TRUE(seen["invoke_post"].contains("creek"));
  EXPECT_TRUE(seen["invoke_wake"].contains("creek"));
  EXPECT_THAT(seen["delegated_counter"], testing::ElementsAre("atomic", "creek", "mutex", "spin"));
  EXPECT_THAT(seen["delegated_queue"], testing::ElementsAre("atomic", "creek", "mutex", "spin"));
  EXPECT_TRUE(seen["delegated_queue_8"].contains("creek"));
  EXPECT_THAT(seen["work_queue"], testing::ElementsAre("creek", "mutex", "spin"));
  EXPECT_TRUE(seen["work_queue_1us"].contains("creek"));
  EXPECT_TRUE(seen["hash_update"].contains("creek"));
  EXPECT_TRUE(seen["hash_update_256"].contains("mutex"));
  for (const char* name : {"channel", "channel_8", "channel_shared"}) {
    EXPECT_TRUE(seen[name].contains("creek")) << name;
    EXPECT_TRUE(seen[name].contains("mutex")) << name;
  }
  EXPECT_TRUE(seen["group_step"].contains("creek"));
  EXPECT_TRUE(seen["group_step"].contains("std_barrier"));
  EXPECT_EQ(seen.size(), 14u);
  EXPECT_EQ(whole.at("limits").size(), 8u);
  const auto is_missing = [&](const std::string& peer) {
    return std::any_of(whole.at("missing").begin(), whole.at("missing").end(),
                       [&](const json& m) { return m.at("peer") == peer; });
  };
  for (const char* name : {"invoke_round_trip", "invoke_post", "group_step"}) {
    EXPECT_NE(seen[name].contains("mpi"), is_missing("mpi")) << name;
  }
  cpu_set_t usable;
  ASSERT_EQ(sched_getaffinity(0, sizeof usable, &usable), 0);
  if (CPU_COUNT(&usable) >= 2) {
    EXPECT_THAT(got.output, HasSubstr(" times ping_pong"));
    EXPECT_THAT(got.output, HasSubstr(" times barrier_tree"));
  }
}

TEST_F(BenchSmoke, RunsTheSectionsWithEqualAnswers) {
  const auto file = folder_ / "result.json";
  const auto got = run_bench({"invoke", "--sections", "--size", "smoke", "--workers", "2", "--runs",
                              "1", "--json", file.string()});
  ASSERT_EQ(got.exit_code, 0) << got.output << got.errors;
  const json whole = json::parse(std::ifstream(file));
  expect_schema(whole);
  EXPECT_EQ(whole.at("workloads").size(), 14u);
  for (const auto& w : whole.at("workloads")) {
    EXPECT_EQ(w.at("results").size(), 3u) << w.at("workload");
  }
}

/// The machine decides which libraries exist; each is measured or reported as missing.
TEST_F(BenchSmoke, RunsTheLinearAlgebraOfTheLibrariesThatAreThere) {
  const auto file = folder_ / "result.json";
  const auto got = run_bench({"linalg", "--size", "smoke", "--workers", "1,2", "--runs", "1",
                              "--json", file.string(), "--svg", (folder_ / "charts").string()});
  ASSERT_EQ(got.exit_code, 0) << got.output << got.errors;
  const json whole = json::parse(std::ifstream(file));
  expect_schema(whole);
  ASSERT_EQ(whole.at("limits").size(), 2u);
  for (const auto& limit : whole.at("limits")) EXPECT_EQ(limit.at("workload"), "fma_peak");
  std::set<std::string> known;
  for (const auto& m : whole.at("missing")) known.insert(m.at("peer"));
  const auto& workloads = whole.at("workloads");
  const bool dgemm = std::any_of(workloads.begin(), workloads.end(),
                                 [](const json& w) { return w.at("workload") == "dgemm"; });
  for (const auto& w : workloads) {
    EXPECT_EQ(w.at("n"), 200);
    for (const auto& r : w.at("results")) {
      known.insert(r.at("peer"));
      EXPECT_EQ(r.at("answer"), "200") << r;
      EXPECT_EQ(r.contains("share"), dgemm && w.contains("share_of")) << r;
    }
  }
  for (const char* name : {"openblas", "openblas-skylakex", "mkl", "debian-blis", "faer"}) {
    EXPECT_TRUE(known.contains(name)) << name;
  }
}

/// The library of this build is measured; the others are, too, or reported as missing.
TEST_F(BenchSmoke, CallsLapackInTheLibrariesThatAreThere) {
  const auto file = folder_ / "result.json";
  const auto got = run_bench({"lapack", "--size", "smoke", "--workers", "1,2", "--runs", "1",
                              "--json", file.string(), "--svg", (folder_ / "charts").string()});
  ASSERT_EQ(got.exit_code, 0) << got.output << got.errors;
  const json whole = json::parse(std::ifstream(file));
  expect_schema(whole);
  std::set<std::string> known, measured;
  for (const auto& m : whole.at("missing")) known.insert(m.at("peer"));
  for (const auto& w : whole.at("workloads")) {
    for (const auto& r : w.at("results")) {
      known.insert(r.at("peer"));
      if (r.at("peer") == "creek") measured.insert(w.at("workload"));
      EXPECT_GT(r.at("first_call"), 0) << r;
      EXPECT_GT(r.at("best_call"), 0) << r;
    }
  }
  EXPECT_EQ(measured.size(), 13u);
  for (const char* name :
       {"creek", "openblas", "numpy-openblas", "scipy-openblas", "mkl", "blis"}) {
    EXPECT_TRUE(known.contains(name)) << name;
  }
  EXPECT_THAT(got.output, HasSubstr("first call of a process, 2 workers"));
}

TEST_F(BenchSmoke, ComparesSchedulersAlone) {
  const auto got = run_bench({"schedulers", "--size", "smoke", "--workers", "2", "--runs", "1"});
  EXPECT_EQ(got.exit_code, 0) << got.errors;
  EXPECT_THAT(got.output, HasSubstr("sharing, mpb deque"));
}

TEST_F(BenchSmoke, TakesEveryIdlePolicy) {
  for (const char* idle : {"poll", "backoff", "block"}) {
    const auto got = run_bench({"tasking", "--size", "smoke", "--workers", "2", "--runs", "1",
                                "--workload", "fib,wakeup", "--peers", "creek", "--idle", idle});
    EXPECT_EQ(got.exit_code, 0) << idle << got.errors;
  }
}

TEST_F(BenchSmoke, RefusesWhatItDoesNotKnow) {
  const std::vector<std::vector<std::string>> bad{{"tasking", "--workload", "fibb"},
                                                  {"tasking", "--peers", "tbbb"},
                                                  {"tasking", "--scheduler", "best"},
                                                  {"tasking", "--workers", "0"},
                                                  {"tasking", "--size", "huge"},
                                                  {"invoke", "--workload", "fib"},
                                                  {"linalg", "--workload", "fib"},
                                                  {"linalg", "-n", "0"},
                                                  {"invoke", "--workload", "section_1"},
                                                  {"lapack", "--workload", "lu"},
                                                  {"lapack", "--library", "lib.so"},
                                                  {"lapack", "--library-dir", "/no/such/folder"},
                                                  {"lapack", "--library", "a b=lib.so"},
                                                  {"lapack", "--library", "a=/x:y"},
                                                  {}};
  for (const auto& arguments : bad) {
    const auto got = run_bench(arguments);
    EXPECT_EQ(got.exit_code, 2) << got.output << got.errors;
    EXPECT_TRUE(got.errors.starts_with("creek: ")) << got.errors;
    EXPECT_EQ(std::count(got.errors.begin(), got.errors.end(), '\n'), 1) << got.errors;
    EXPECT_TRUE(got.output.empty());
  }
}

TEST_F(BenchSmoke, FailsWithoutAnyPeer) {
  const auto got =
      run_process(CREEK_TOOL, {"bench", "tasking", "--peer-dir", folder_.path().string()},
                  std::chrono::seconds(60));
  EXPECT_EQ(got.exit_code, 1);
  EXPECT_THAT(got.errors, HasSubstr("benchmark programs"));
}

}  // namespace
