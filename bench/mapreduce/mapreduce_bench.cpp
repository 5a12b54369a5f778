// SPDX-License-Identifier: Apache-2.0
// Histogram, line of best fit and rounds of k-means: creek, the same kernels in a loop on
// threads, and plain loops; also pairs added up by key by either strategy. They alternate in one
// run, at 1 and all workers. Prints a table, writes JSON; fails if answers differ.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <creek/core/error.hpp>
#include <creek/core/version.hpp>
#include <creek/mapreduce.hpp>
#include <creek/tasking/runtime.hpp>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "../../support/median.hpp"
#include "../sum_by_key/sums.hpp"
#include "inputs.hpp"
#include "loops.hpp"

namespace creek_bench {
namespace {

using namespace creek::mapreduce;
using bench::median;

struct setup {
  std::size_t megabytes = 256;
  std::size_t points = 1'000'000;
  std::size_t clusters = 100;
  std::size_t pairs = 16'000'000;
  std::vector<std::size_t> keys{100, 100'000, 10'000'000};
  unsigned workers = std::max(1u, std::thread::hardware_concurrency());
  int rounds = 9;
  std::string json;
};

struct contender {
  std::string name;
  unsigned workers;
  std::function<answer()> go;
  std::vector<double> seconds{};
};

/// Contenders for one answer. `work` is in millions of `unit` per second, or 0: milliseconds.
struct contest {
  std::string name;
  std::string unit;
  double work;
  double tolerance;  // relative; 0: answers are whole numbers
  std::vector<contender> all{};
};

constexpr const char* vectorised = "vectorised loop";
constexpr const char* automatic = "creek, automatic";

void compare_answers(const contest& held, const contender& one, const answer& made,
                     const answer& reference) {
  bool same = made.size() == reference.size();
  for (std::size_t k = 0; same && k < made.size(); ++k) {
    same = std::abs(made[k] - reference[k]) <= held.tolerance * std::abs(reference[k]);
  }
  if (!same) throw creek::error(EILSEQ, held.name + ", " + one.name + ": a different answer");
}

/// Alternates rounds, so that a disturbance of the machine affects all, after a warm-up round.
/// Compares answers outside the timed part.
void measure(contest& held, int rounds) {
  answer reference;
  for (int round = -1; round < rounds; ++round) {
    for (contender& one : held.all) {
      const auto start = std::chrono::steady_clock::now();
      const answer made = one.go();
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
      if (reference.empty()) reference = made;
      compare_answers(held, one, made, reference);
      if (round >= 0) one.seconds.push_back(spent.count());
    }
  }
}

/// Returns the median over the rounds of the time of the loop, or of the automatic strategy,
/// divided by this contender's.
double share_of_reference(const contest& held, const contender& one) {
  for (const contender& loop : held.all) {
    if (loop.name != vectorised && loop.name != automatic) continue;
    if (loop.workers != one.workers) continue;
    std::vector<double> ratios;
    for (std::size_t i = 0; i < one.seconds.size(); ++i) {
      ratios.push_back(loop.seconds[i] / one.seconds[i]);
    }
    return median(ratios);
  }
  return 0;
}

nlohmann::ordered_json report(const contest& held) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  fmt::print("{:<34} {:>7} {:>10} {:>8} {:>12}\n", held.name, "workers", held.unit, "spread",
             "of reference");
  for (const contender& one : held.all) {
    const double middle = median(one.seconds);
    const auto [least, most] = std::ranges::minmax(one.seconds);
    const double figure = held.work == 0 ? 1e3 * middle : held.work / middle;
    const double share = share_of_reference(held, one);
    fmt::print("  {:<32} {:>7} {:>10.{}f} {:>7.0f}% {:>12}\n", one.name, one.workers, figure,
               held.work == 0 ? 2 : 0, 100 * (most - least) / middle,
               share == 0 ? "-" : fmt::format("{:.1f}%", 100 * share));
    rows.push_back({{"name", one.name},
                    {"workers", one.workers},
                    {held.unit, figure},
                    {"seconds", one.seconds},
                    {"share_of_reference", share}});
  }
  return {{"name", held.name}, {"results", rows}};
}

template <class Values>
answer as_answer(const Values& values) {
  answer made;
  for (const auto& value : values) {
    if constexpr (requires { value.key; }) {
      made.push_back(static_cast<double>(value.value));
    } else {
      made.push_back(static_cast<double>(value));
    }
  }
  return made;
}

using runtimes = std::vector<creek::runtime*>;

template <class Job, class T, class Loop>
contest stream(std::string name, std::span<const T> data, const runtimes& at, Loop loop) {
  contest held{std::move(name), "MB/s", static_cast<double>(data.size_bytes()) / 1e6, 0};
  for (creek::runtime* rt : at) {
    const unsigned workers = rt->worker_count();
    held.all.push_back(
        {"plain loop", workers, [=] { return loop(data, workers, loop_kind::plain); }});
    held.all.push_back(
        {vectorised, workers, [=] { return loop(data, workers, loop_kind::vectorised); }});
    held.all.push_back(
        {"creek", workers, [=] { return as_answer(rt->run([&] { return run(Job{}, data); })); }});
  }
  return held;
}

contest clustering(std::span<const float> points, std::span<const float> centres,
                   const runtimes& at) {
  constexpr std::size_t d = 3;
  contest held{
      fmt::format("k-means round, {} x 3, {} clusters", points.size() / d, centres.size() / d),
      "ms", 0, 1e-3};
  for (creek::runtime* rt : at) {
    const unsigned workers = rt->worker_count();
    for (const auto& [name, kind] : {std::pair{"plain loop", loop_kind::plain},
                                     {"loop for this machine", loop_kind::native},
                                     {vectorised, loop_kind::vectorised}}) {
      held.all.push_back({name, workers, [=, kind = kind] {
                            return k_means_by_loop(points, centres, d, workers, kind);
                          }});
    }
    const auto from = std::make_shared<span_input<float>>(points, 8192 * d);
    using iterative = rounds<k_means_round, span_input<float>>;
    held.all.push_back(
        {"creek", workers, [=, kept = std::make_shared<iterative>(*from)] {
           (void)from;  // lives as long as the function
           return as_answer(rt->run([&] { return kept->run(k_means_round{centres, d}); }));
         }});
  }
  return held;
}

contest strategies(std::span<const bench::sum_by_key::key_value> pairs, std::size_t keys,
                   const runtimes& at) {
  contest held{fmt::format("{} pairs, {} keys", pairs.size(), keys), "M pairs/s",
               static_cast<double>(pairs.size()) / 1e6, 0};
  for (creek::runtime* rt : at) {
    for (const auto& [name, how] : {std::pair{automatic, strategy::automatic},
                                    {"creek, combine_on_emit", strategy::combine_on_emit},
                                    {"creek, emit_and_group", strategy::emit_and_group}}) {
      held.all.push_back(
          {name, rt->worker_count(), [=, how = how] {
             const auto made = rt->run([&] {
               return run(bench::sum_by_key::sums{}, pairs, {.sort = false, .how = how});
             });
             std::uint64_t digest = 0;
             for (const auto& [key, sum] : made) digest += (key >> 20) * sum;
             return answer{static_cast<double>(made.size()), static_cast<double>(digest >> 12)};
           }});
    }
  }
  return held;
}

void run_all(const setup& chosen) {
  creek::runtime one(creek::scheduler_options{.workers = 1});
  creek::runtime many(creek::scheduler_options{.workers = chosen.workers});
  runtimes at{&one};
  if (chosen.workers > 1) at.push_back(&many);
  nlohmann::ordered_json contests = nlohmann::ordered_json::array();
  const auto hold = [&](contest held) {
    measure(held, chosen.rounds);
    contests.push_back(report(held));
  };
  const std::size_t bytes = chosen.megabytes * 1'000'000;
  {
    const auto pixels = walking_colours(bytes / sizeof(pixel));
    hold(stream<colour_histogram>("histogram", std::span<const pixel>(pixels), at,
                                  histogram_by_loop));
  }
  {
    const auto points = noisy_line(bytes / sizeof(byte_point));
    hold(stream<line_fit<byte_point>>("line fit", std::span<const byte_point>(points), at,
                                      line_sums_by_loop));
  }
  const auto points = uniform_points(chosen.points, 3);
  const auto centres = std::span(points).first(3 * chosen.clusters);
  hold(clustering(points, centres, at));
  for (const std::size_t keys : chosen.keys) {
    const auto pairs = bench::sum_by_key::pairs_of(chosen.pairs, keys);
    hold(strategies(pairs, keys, at));
  }
  if (chosen.json.empty()) return;
  const nlohmann::ordered_json out = {{"schema_version", 4},
                                      {"command", "bench_mapreduce"},
                                      {"version", creek::version()},
                                      {"hardware_threads", std::thread::hardware_concurrency()},
                                      {"contests", contests}};
  std::ofstream file(chosen.json);
  file << out.dump(2) << '\n';
  if (!file.flush()) throw creek::error(errno, chosen.json);
}

}  // namespace
}  // namespace creek_bench

int main(int argc, char** argv) {
  creek_bench::setup chosen;
  CLI::App app("MapReduce jobs of creek against loops, and one strategy against the other");
  app.add_option("--megabytes", chosen.megabytes,
                 "Size of the pixels and of the points of two bytes")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--points", chosen.points, "Points of k-means")->capture_default_str();
  app.add_option("--clusters", chosen.clusters, "Clusters of k-means")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--pairs", chosen.pairs, "Pairs of 16 bytes to add up by key")
      ->capture_default_str();
  app.add_option("--keys", chosen.keys, "Different keys of the pairs, a list")
      ->delimiter(',')
      ->capture_default_str()
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 40));
  app.add_option("--workers", chosen.workers, "Workers")
      ->capture_default_str()
      ->check(CLI::Range(1, 4096));
  app.add_option("--rounds", chosen.rounds, "Repetitions")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app.add_option("--json", chosen.json, "Write the results here");
  app.footer(
      "Examples:\n"
      "  bench_mapreduce --megabytes 64 --rounds 3\n"
      "  bench_mapreduce --pairs 1000000 --keys 1000 --json figures.json");
  CLI11_PARSE(app, argc, argv);
  try {
    if (chosen.clusters > chosen.points) {
      throw creek::usage_error("--clusters: more than --points");
    }
    creek_bench::run_all(chosen);
  } catch (const std::exception& problem) {
    std::fputs(fmt::format("bench_mapreduce: {}\n", problem.what()).c_str(), stderr);
    return 1;
  }
  return 0;
}
