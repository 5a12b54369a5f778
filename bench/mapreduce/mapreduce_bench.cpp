// SPDX-License-Identifier: Apache-2.0
// Pairs added up by key by either strategy and by the automatic one. They alternate in one run, at
// 1 and all workers. Prints a table, writes JSON; fails if answers differ.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <chrono>
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

namespace creek_bench {
namespace {

using namespace creek::mapreduce;
using bench::median;

struct setup {
  std::size_t pairs = 16'000'000;
  std::vector<std::size_t> keys{100, 100'000, 10'000'000};
  unsigned workers = std::max(1u, std::thread::hardware_concurrency());
  int rounds = 9;
  std::string json;
};

/// Whole numbers.
using answer = std::vector<std::uint64_t>;

struct contender {
  std::string name;
  unsigned workers;
  std::function<answer()> go;
  std::vector<double> seconds{};
};

/// Contenders for one answer; `pairs` in millions.
struct contest {
  std::string name;
  double pairs;
  std::vector<contender> all{};
};

constexpr const char* automatic = "creek, automatic";

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
      if (made != reference) {
        throw creek::error(EILSEQ, held.name + ", " + one.name + ": a different answer");
      }
      if (round >= 0) one.seconds.push_back(spent.count());
    }
  }
}

/// Returns the median over the rounds of the time of the automatic strategy divided by this
/// contender's.
double share_of_automatic(const contest& held, const contender& one) {
  for (const contender& other : held.all) {
    if (other.name != automatic || other.workers != one.workers) continue;
    std::vector<double> ratios;
    for (std::size_t i = 0; i < one.seconds.size(); ++i) {
      ratios.push_back(other.seconds[i] / one.seconds[i]);
    }
    return median(ratios);
  }
  return 0;
}

nlohmann::ordered_json report(const contest& held) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  fmt::print("{:<34} {:>7} {:>10} {:>8} {:>12}\n", held.name, "workers", "M pairs/s", "spread",
             "of automatic");
  for (const contender& one : held.all) {
    const double middle = median(one.seconds);
    const auto [least, most] = std::ranges::minmax(one.seconds);
    const double share = share_of_automatic(held, one);
    fmt::print("  {:<32} {:>7} {:>10.0f} {:>7.0f}% {:>11.1f}%\n", one.name, one.workers,
               held.pairs / middle, 100 * (most - least) / middle, 100 * share);
    rows.push_back({{"name", one.name},
                    {"workers", one.workers},
                    {"M pairs/s", held.pairs / middle},
                    {"seconds", one.seconds},
                    {"share_of_automatic", share}});
  }
  return {{"name", held.name}, {"results", rows}};
}

using runtimes = std::vector<creek::runtime*>;

contest strategies(std::span<const bench::sum_by_key::key_value> pairs, std::size_t keys,
                   const runtimes& at) {
  contest held{fmt::format("{} pairs, {} keys", pairs.size(), keys),
               static_cast<double>(pairs.size()) / 1e6};
  for (creek::runtime* rt : at) {
    for (const auto& [name, how] : {std::pair{automatic, strategy::automatic},
                                    {"creek, combine_on_emit", strategy::combine_on_emit},
                                    {"creek, emit_and_group", strategy::emit_and_group}}) {
      held.all.push_back({name, rt->worker_count(), [=, how = how] {
                            const auto made = rt->run([&] {
                              return run(bench::sum_by_key::sums{}, pairs,
                                         {.sort = false, .how = how});
                            });
                            std::uint64_t digest = 0;
                            for (const auto& [key, sum] : made) digest += (key >> 20) * sum;
                            return answer{made.size(), digest};
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
  for (const std::size_t keys : chosen.keys) {
    const auto pairs = bench::sum_by_key::pairs_of(chosen.pairs, keys);
    hold(strategies(pairs, keys, at));
  }
  if (chosen.json.empty()) return;
  const nlohmann::ordered_json out = {{"schema_version", 5},
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
  CLI::App app("Strategies of MapReduce against each other");
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
      "  bench_mapreduce --rounds 3\n"
      "  bench_mapreduce --pairs 1000000 --keys 1000 --json figures.json");
  CLI11_PARSE(app, argc, argv);
  try {
    creek_bench::run_all(chosen);
  } catch (const std::exception& problem) {
    std::fputs(fmt::format("bench_mapreduce: {}\n", problem.what()).c_str(), stderr);
    return 1;
  }
  return 0;
}
