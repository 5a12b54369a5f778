// SPDX-License-Identifier: Apache-2.0
// bench_lapack with stand-ins for libraries: how it finds them, in which environment it calls them,
// that it takes both widths of integers and refuses wrong results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "process.hpp"
#include "support/temporary_folder.hpp"

namespace {

using creek::tool::bench::process_result;
using nlohmann::json;
using testing::HasSubstr;

class BenchLapack : public testing::Test {
 protected:
  BenchLapack() {
    setenv("CREEK_BENCH_LIBRARIES", "right=" STAND_IN ":wrong=" WRONG_STAND_IN, 1);
    unsetenv("CREEK_BENCH_LIBRARY_PATH");
  }
  static process_result run(const std::vector<std::string>& arguments) {
    return creek::tool::bench::run_process(BENCH_LAPACK, arguments, std::chrono::seconds(120));
  }
  static process_result call(const std::string& peer, const std::string& workload, int n) {
    return run({"--peer", peer, "--workload", workload, "--n", std::to_string(n), "--workers", "2",
                "--runs", "1", "--warmup", "0"});
  }
  /// The lines of the list that are about a peer.
  static std::vector<json> listed(const std::string& peer) {
    const process_result got = run({"--list"});
    EXPECT_EQ(got.exit_code, 0) << got.errors;
    std::vector<json> lines;
    std::istringstream all(got.output);
    for (std::string line; std::getline(all, line);) {
      lines.push_back(json::parse(line));
      if (lines.back().at("peer") != peer) lines.pop_back();
    }
    return lines;
  }
  creek::support::temporary_folder folder_;
};

TEST_F(BenchLapack, ListsTheWorkloadsOfRoutinesThatALibraryHas) {
  std::set<std::string> names;
  for (const json& line : listed("right")) {
    names.insert(line.at("workload"));
    EXPECT_EQ(line.at("options"), "--peer right");
    EXPECT_THAT(line.at("version").get<std::string>(), HasSubstr(STAND_IN));
  }
  EXPECT_THAT(names,
              testing::ElementsAre("dgemm", "dgemm_small", "dgetrf", "dgetrf_small", "dgetrf_tall",
                                   "dpotrf_lower", "dpotrf_small", "dpotrf_upper"));
}

TEST_F(BenchLapack, NamesWhatIsMissingWithAWayToGetIt) {
  setenv("CREEK_BENCH_LIBRARIES", "mine=/no/such/library.so", 1);
  const auto mine = listed("mine"), numpy = listed("numpy-openblas");
  ASSERT_EQ(mine.size(), 1u);
  EXPECT_THAT(mine[0].at("missing").get<std::string>(), HasSubstr("/no/such/library.so"));
  ASSERT_EQ(numpy.size(), 1u);
  EXPECT_THAT(numpy[0].at("missing").get<std::string>(), HasSubstr("pip install numpy"));
}

TEST_F(BenchLapack, FindsWheelsInAVirtualEnvironment) {
  const auto packages = folder_ / "lib/python3.11/site-packages/numpy.libs";
  std::filesystem::create_directories(packages);
  std::filesystem::copy(WIDE_STAND_IN, packages / "libscipy_openblas64_-0123.so");
  const std::string path = "/nowhere:" + folder_.path().string();
  setenv("CREEK_BENCH_LIBRARY_PATH", path.c_str(), 1);
  EXPECT_GT(listed("numpy-openblas").size(), 1u);
  const process_result got = call("numpy-openblas", "dgetrf", 50);
  EXPECT_EQ(got.exit_code, 0) << got.errors;
}

TEST_F(BenchLapack, MeasuresFirstAndLaterCalls) {
  for (const char* workload : {"dgemm", "dgetrf", "dgetrf_small"}) {
    const process_result got = call("right", workload, 16);
    ASSERT_EQ(got.exit_code, 0) << got.errors;
    const json line = json::parse(got.output);
    EXPECT_EQ(line.at("answer"), "16");
    EXPECT_GT(line.at("first_ns"), 0);
    EXPECT_GT(line.at("best_ns"), 0);
    EXPECT_LE(line.at("best_ns"), line.at("total_ns"));
  }
}

TEST_F(BenchLapack, RefusesAWrongResult) {
  for (const char* workload : {"dgemm", "dgemm_small"}) {
    const process_result got = call("wrong", workload, 16);
    EXPECT_EQ(got.exit_code, 1);
    EXPECT_THAT(got.errors, HasSubstr("the scaled residual is"));
    EXPECT_EQ(got.output, "");
  }
}

TEST_F(BenchLapack, GivesEachLibraryTheSameThreadsAndNoOtherSettings) {
  setenv("OPENBLAS_NUM_THREADS", "7", 1);
  setenv("OPENBLAS_CORETYPE", "Haswell", 1);
  setenv("CREEK_IDLE", "poll", 1);
  const process_result got = call("right", "dpotrf_lower", 16);
  EXPECT_EQ(got.exit_code, 1);
  EXPECT_THAT(got.errors, HasSubstr("info is 100"));
}

TEST_F(BenchLapack, CallsTheDropInLibrary) {
  for (const char* workload :
       {"dgels_tall", "dgemm", "dgeqrf", "dgesv_small", "dgetrf_tall", "dpotrf_upper", "dsyrk"}) {
    const process_result got = call("creek", workload, 10);
    EXPECT_EQ(got.exit_code, 0) << got.errors;
  }
}

TEST_F(BenchLapack, RefusesWhatItDoesNotKnow) {
  const std::vector<std::vector<std::string>> bad{
      {},
      {"--workload", "lu", "--peer", "right"},
      {"--workload", "dgemm", "--peer", "nobody"},
      {"--workload", "dgemm", "--peer", "right", "--n", "0"},
      {"--workload", "dgetrf_tall", "--peer", "right", "--n", "50001"},
      {"--workload", "dgemm", "--peer", "right", "--fast", "1"}};
  for (const auto& arguments : bad) {
    const process_result got = run(arguments);
    EXPECT_EQ(got.exit_code, 2) << got.output;
    EXPECT_TRUE(got.errors.starts_with("lapack: ")) << got.errors;
  }
}

}  // namespace
