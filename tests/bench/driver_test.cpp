// SPDX-License-Identifier: Apache-2.0
// The parts of the benchmark driver: running peers (here shell scripts), checking their answers,
// statistics, ratios and charts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <creek/core/error.hpp>
#include <filesystem>
#include <fstream>

#include "comparison.hpp"
#include "output/drawing.hpp"
#include "process.hpp"
#include "report.hpp"
#include "support/temporary_folder.hpp"

namespace creek::tool::bench {
namespace {

using std::chrono::seconds;

std::string printed(void (*print)(const report&, std::FILE*), const report& r) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* to = open_memstream(&text, &size);
  print(r, to);
  std::fclose(to);
  std::string copy(text, size);
  std::free(text);
  return copy;
}

using testing::HasSubstr;

TEST(RunProcess, CollectsBothStreamsAndTheExitStatus) {
  const auto got = run_process("/bin/sh", {"-c", "echo out; echo err >&2; exit 3"}, seconds(60));
  EXPECT_EQ(got.output, "out\n");
  EXPECT_EQ(got.errors, "err\n");
  EXPECT_EQ(got.exit_code, 3);
  EXPECT_FALSE(got.timed_out);
}

TEST(RunProcess, ReadsMoreThanAPipeHolds) {
  const auto got = run_process("/bin/sh", {"-c", "head -c 300000 /dev/zero"}, seconds(60));
  EXPECT_EQ(got.output.size(), 300000u);
}

TEST(RunProcess, KillsWhatTakesTooLong) {
  const auto got = run_process("/bin/sh", {"-c", "exec sleep 1000"}, seconds(1));
  EXPECT_TRUE(got.timed_out);
  EXPECT_EQ(got.exit_code, 128 + 9);
}

TEST(RunProcess, SaysWhichProgramIsMissing) {
  try {
    run_process("/no/such/program", {}, seconds(1));
    FAIL();
  } catch (const creek::error& problem) {
    EXPECT_THAT(problem.what(), HasSubstr("/no/such/program"));
  }
}

/// A folder of scripts that act as peers.
class Scripts : public testing::Test {
 protected:
  /// A peer that runs `fib` and whose run prints `result` (a JSON line) or does what it says.
  void peer(const std::string& program, const std::string& run) {
    const auto path = folder_ / program;
    std::ofstream(path) << "#!/bin/sh\n"
                        << "if [ \"$1\" = --list ]; then echo '" << description << "'; exit; fi\n"
                        << run << "\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }
  static std::string answering(int answer) {
    return R"(echo '{"total_ns":200,"work":100,"answer":")" + std::to_string(answer) + R"("}')";
  }
  std::vector<series> compare_fib(std::vector<unsigned> workers = {1, 2}) {
    const catalogue found = find_peers(folder_, seconds(60));
    std::vector<contestant> contestants;
    for (const auto& p : found.peers) contestants.push_back({p.name, p});
    plan how{.workers = std::move(workers), .rounds = 2, .progress = [](const std::string&) {}};
    return compare(found.workloads.at("fib"), 30, contestants, how);
  }

  static constexpr const char* description =
      R"({"workload":"fib","about":"a","unit":"ns/fork","full":30,"quick":20,"smoke":10,)"
      R"("min_workers":1,"limit":false,"rate":false,"warmup":true,"scale":1,"version":"v1"})";
  creek::support::temporary_folder folder_;
};

TEST_F(Scripts, AreFoundAndTheOthersAreNamedWithAWayToGetThem) {
  peer("bench_serial", answering(1));
  peer("bench_tbb", answering(1));
  const catalogue found = find_peers(folder_, seconds(60));
  ASSERT_EQ(found.peers.size(), 2u);
  EXPECT_EQ(found.peers[0].name, "serial");
  EXPECT_EQ(found.peers[0].version, "v1");
  EXPECT_EQ(found.workloads.at("fib").sizes(size_class::quick), std::vector<std::int64_t>{20});
  EXPECT_EQ(found.missing.size(), 10u);
  for (const auto& m : found.missing) EXPECT_FALSE(m.how.empty()) << m.name;
}

TEST_F(Scripts, CanBeSeveralPeersAndNameThoseThatAreMissing) {
  const auto path = folder_ / "bench_blas";
  std::ofstream(path) << R"(#!/bin/sh
about='"workload":"lu","about":"a","unit":"GFLOP/s","full":[10,20],"quick":[5],"smoke":1'
about="$about"',"min_workers":1,"limit":false,"rate":true,"scale":1,"warmup":false,"groups":"linalg"'
about="$about"',"share_of":"dgemm"'
[ "$*" != --list ] || {
  echo "{\"peer\":\"one\",\"options\":\"--peer one\",\"version\":\"v1\",$about}"
  echo "{\"peer\":\"two\",\"options\":\"--peer two\",\"version\":\"v2\",$about}"
  echo '{"peer":"three","missing":"fetch it"}'
  exit
}
case "$*" in
  *"--n 20"*"--peer one"*) ns=10 ;;
  *"--n 20"*"--peer two"*) ns=5 ;;
  *) exit 1 ;;
esac
echo "{\"total_ns\":$ns,\"work\":100,\"answer\":\"1\"}"
)";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  const catalogue found = find_peers(folder_, seconds(60), "linalg");
  ASSERT_EQ(found.peers.size(), 2u);
  EXPECT_EQ(found.peers[1].name, "two");
  EXPECT_EQ(found.peers[1].version, "v2");
  EXPECT_TRUE(std::any_of(found.missing.begin(), found.missing.end(),
                          [](const auto& m) { return m.name == "three" && m.how == "fetch it"; }));
  const workload& lu = found.workloads.at("lu");
  EXPECT_EQ(lu.sizes(size_class::full), (std::vector<std::int64_t>{10, 20}));
  EXPECT_EQ(lu.share_of, "dgemm");
  plan how{.workers = {1}, .rounds = 1, .progress = [](const std::string&) {}};
  const auto results = compare(lu, 20, {{"one", found.peers[0]}, {"two", found.peers[1]}}, how);
  EXPECT_EQ(find_series(results, "one", 1)->figures, std::vector<double>{10});
  EXPECT_EQ(find_series(results, "two", 1)->figures, std::vector<double>{20});
}

TEST_F(Scripts, ThatCallALibraryGiveTheBestAndTheFirstCallToo) {
  const auto path = folder_ / "bench_lapack";
  std::ofstream(path) << R"(#!/bin/sh
about='"about":"a","full":[10],"quick":[5],"smoke":1,"min_workers":1,"limit":false,"warmup":false'
about="$about"',"groups":"lapack","calls":true,"version":"1"'
rate='"workload":"dgetrf","unit":"GFLOP/s","rate":true,"scale":1'
time='"workload":"dgesv_small","unit":"us/call","rate":false,"scale":1e-3'
[ "$*" != --list ] || {
  for peer in creek mkl; do
    echo "{\"peer\":\"$peer\",\"options\":\"--peer $peer\",$rate,$about}"
    echo "{\"peer\":\"$peer\",\"options\":\"--peer $peer\",$time,$about}"
  done
  exit
}
case "$*" in
  *"--peer creek"*) echo '{"total_ns":100,"best_ns":50,"first_ns":1000,"work":800,"answer":"1"}' ;;
  *) echo '{"total_ns":200,"best_ns":160,"first_ns":400,"work":800,"answer":"1"}' ;;
esac
)";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  const catalogue found = find_peers(folder_, seconds(60), "lapack");
  ASSERT_EQ(found.peers.size(), 2u);
  std::vector<contestant> contestants;
  for (const auto& p : found.peers) contestants.push_back({p.name, p});
  plan how{.workers = {2}, .rounds = 3, .progress = [](const std::string&) {}};
  report r;
  for (const auto& [name, w] : found.workloads) {
    r.comparisons.push_back({w, 10, compare(w, 10, contestants, how)});
  }
  const comparison& small = r.comparisons[0];
  const comparison& lu = r.comparisons[1];
  EXPECT_EQ(lu.results[0].first_calls, (std::vector<double>{0.8, 0.8, 0.8}));
  EXPECT_EQ(best_call(lu.what, lu.results[0]), 16);
  EXPECT_DOUBLE_EQ(first_call(small.results[0]), 1000e-3 / 800);
  EXPECT_EQ(printed(print_calls, r), R"(
median of the calls after the first, 2 workers
                   n  unit        creek      mkl   creek / best other
dgesv_small       10  us/call     0.000    0.000   2.00x mkl
dgetrf            10  GFLOP/s      8.00     4.00   2.00x mkl

best call, 2 workers
                   n  unit        creek      mkl   creek / best other
dgesv_small       10  us/call     0.000    0.000   3.20x mkl
dgetrf            10  GFLOP/s      16.0     5.00   3.20x mkl

first call of a process, 2 workers
                   n  unit        creek      mkl   creek / best other
dgesv_small       10  us/call     0.001    0.001   0.40x mkl
dgetrf            10  GFLOP/s      0.80     2.00   0.40x mkl

2x mkl: creek is twice as fast as mkl, the fastest other.
dgesv_small: a
dgetrf: a
)");
  EXPECT_EQ(printed(print_rates, r), "");
}

TEST_F(Scripts, AreNotAskedForAnotherGroup) {
  peer("bench_serial", answering(1));
  EXPECT_THROW(find_peers(folder_, seconds(60), "linalg"), creek::error);
}

TEST_F(Scripts, AreMissedAltogetherWithAnError) {
  EXPECT_THROW(find_peers(folder_, seconds(60)), creek::error);
}

TEST_F(Scripts, GiveFiguresSerialCodeWithOneWorkerOnly) {
  peer("bench_serial", answering(1));
  peer("bench_tbb", answering(1));
  const auto results = compare_fib();
  ASSERT_EQ(results.size(), 3u);
  for (const auto& s : results) {
    EXPECT_TRUE(s.ok()) << s.failure;
    EXPECT_EQ(s.figures, (std::vector<double>{2, 2})) << s.label;
  }
  EXPECT_EQ(find_series(results, "serial", 2), find_series(results, "serial", 1));
  EXPECT_NE(find_series(results, "tbb", 2), find_series(results, "tbb", 1));
}

TEST_F(Scripts, WithAWrongAnswerFail) {
  peer("bench_serial", answering(1));
  peer("bench_tbb", answering(2));
  const auto results = compare_fib({1});
  EXPECT_TRUE(find_series(results, "serial", 1)->ok());
  EXPECT_THAT(find_series(results, "tbb", 1)->failure, HasSubstr("wrong answer 2 instead of 1"));
}

TEST_F(Scripts, ThatFailSayWhy) {
  peer("bench_serial", answering(1));
  peer("bench_tbb", "echo first >&2; echo 'tbb: no luck' >&2; exit 1");
  peer("bench_libomp", "echo 'nothing to measure' >&2; exit 3");
  peer("bench_rayon", "echo not json");
  const auto results = compare_fib({1});
  EXPECT_EQ(find_series(results, "tbb", 1)->failure, "tbb: no luck");
  EXPECT_FALSE(find_series(results, "tbb", 1)->unmeasurable);
  EXPECT_TRUE(find_series(results, "libomp", 1)->unmeasurable);
  EXPECT_EQ(find_series(results, "rayon", 1)->failure, "printed no result");
}

series with(const std::string& label, unsigned workers, std::vector<double> figures) {
  series s;
  s.label = label;
  s.workers = workers;
  s.figures = std::move(figures);
  return s;
}

TEST(Series, SummarisesItsRuns) {
  const series s = with("creek", 1, {5, 1, 3, 2, 4});
  EXPECT_EQ(s.median(), 3);
  EXPECT_EQ(s.min(), 1);
  EXPECT_EQ(s.max(), 5);
  EXPECT_DOUBLE_EQ(s.spread(), 1.0 / 3);
  EXPECT_EQ(with("creek", 1, {1, 2}).median(), 1.5);
}

TEST(Ratios, AreTakenToCreekAndTheBestOtherIsNamed) {
  const comparison c{{},
                     1,
                     {with("serial", 1, {1}), with("creek", 2, {2}), with("tbb", 2, {90}),
                      with("rayon", 2, {12})}};
  const auto& results = c.results;
  const series* base = base_of(results, 2);
  ASSERT_NE(base, nullptr);
  EXPECT_EQ(base->label, "creek");
  EXPECT_EQ(best_peer(c, 2)->label, "rayon");
  EXPECT_EQ(advantage(c.what, *base, results[3]), 6);
  EXPECT_EQ(ratio(results[2], *base), 45);
  EXPECT_EQ(workers_of(results), std::vector<unsigned>{2});
}

workload rate_of(const std::string& name, const std::string& share_of) {
  workload w;
  w.name = name;
  w.rate = true;
  w.unit = "GFLOP/s";
  w.share_of = share_of;
  return w;
}

/// dgemm at two sizes and lu at one, two workers.
report some_rates() {
  report r;
  r.comparisons.push_back(
      {rate_of("dgemm", ""), 10, {with("blas", 2, {50}), with("faer", 2, {60})}});
  r.comparisons.push_back(
      {rate_of("dgemm", ""), 20, {with("blas", 2, {80}), with("faer", 2, {70})}});
  r.comparisons.push_back({rate_of("lu", "dgemm"),
                           10,
                           {with("creek", 2, {40}), with("blas", 2, {20}), with("faer", 2, {32})}});
  return r;
}

TEST(Rates, AreComparedTheOtherWayRound) {
  const report r = some_rates();
  const comparison& lu = r.comparisons.back();
  const series* best = best_peer(lu, 2);
  ASSERT_NE(best, nullptr);
  EXPECT_EQ(best->label, "faer");
  EXPECT_EQ(advantage(lu.what, *base_of(lu.results, 2), *best), 1.25);
}

TEST(Rates, AreSharesOfTheBestOfAllSizesAndPeers) {
  const report r = some_rates();
  const comparison& lu = r.comparisons.back();
  EXPECT_EQ(best_rate(r, "dgemm", 2)->median(), 80);
  EXPECT_EQ(best_rate(r, "dgemm", 1), nullptr);
  EXPECT_EQ(share(r, lu, lu.results[0]), 0.5);
  EXPECT_EQ(share(r, r.comparisons[0], r.comparisons[0].results[0]), 0);
}

TEST(Rates, StandInATableAWorkload) {
  creek::support::temporary_folder folder;
  const auto path = folder / "table";
  std::FILE* to = std::fopen(path.c_str(), "w");
  ASSERT_NE(to, nullptr);
  print_rates(some_rates(), to);
  std::fclose(to);
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(text, testing::ContainsRegex("creek +40.0 \\(50 %\\)"));
  EXPECT_THAT(text, testing::ContainsRegex("creek / best other +1.25x faer"));
  EXPECT_THAT(text, testing::ContainsRegex("blas +50.0 +80.0"));
}

TEST(Workload, TurnsTimeAndWorkIntoItsUnit) {
  workload w;
  EXPECT_EQ(w.figure(200, 100), 2);
  w.rate = true;
  EXPECT_EQ(w.figure(100, 800), 8);
  w.rate = false;
  w.scale = 100;
  EXPECT_EQ(w.figure(1, 1000), 0.1);
}

TEST(ShortNumber, KeepsThreeDigitsAndNoExponent) {
  EXPECT_EQ(short_number(0), "0");
  EXPECT_EQ(short_number(0.0123), "0.012");
  EXPECT_EQ(short_number(1.234), "1.23");
  EXPECT_EQ(short_number(45.67), "45.7");
  EXPECT_EQ(short_number(1234567), "1234567");
}

TEST(BarChart, IsLogarithmicOnlyWhereValuesSpanDecades) {
  bar_chart chart{.title = "a < b", .subtitle = "", .axis = "ns", .groups = {{"one", {}}}};
  chart.groups[0].bars = {{"creek", 2, "2 ns", true}, {"tbb", 10, "10 ns", false}};
  const std::string narrow = draw(chart);
  EXPECT_THAT(narrow, testing::Not(HasSubstr("logarithmic")));
  EXPECT_THAT(narrow, HasSubstr("a &lt; b"));
  chart.groups[0].bars.push_back({"slow", 500, "500 ns", false});
  const std::string wide = draw(chart);
  EXPECT_THAT(wide, HasSubstr("(logarithmic)"));
  EXPECT_TRUE(wide.starts_with("<svg ") && wide.ends_with("</svg>\n"));
}

TEST(BarChart, DrawsNothingAndZeroWithoutInfinities) {
  const bar_chart empty{.title = "t", .subtitle = "", .axis = "", .groups = {}};
  const bar_chart zero{
      .title = "t", .subtitle = "", .axis = "", .groups = {{"g", {{"creek", 0, "0", true}}}}};
  for (const auto& text : {draw(empty), draw(zero)}) {
    EXPECT_THAT(text, testing::Not(HasSubstr("inf")));
    EXPECT_THAT(text, testing::Not(HasSubstr("nan")));
  }
}

}  // namespace
}  // namespace creek::tool::bench
