// SPDX-License-Identifier: Apache-2.0
// Word count: creek without and with sorted output, the peer over std::unordered_map and the bare
// splitting into words, alternating in one run, at 1 and all workers. Prints a table, writes JSON;
// fails if answers differ.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <creek/core/error.hpp>
#include <creek/core/version.hpp>
#include <creek/mapreduce.hpp>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "../../support/median.hpp"
#include "../../support/zipf_text.hpp"
#include "memory.hpp"
#include "unordered_peer.hpp"

namespace creek_bench {
namespace {

using namespace creek::mapreduce;
using bench::median;

struct setup {
  std::size_t megabytes = 256;
  std::size_t vocabulary = 1'000'000;
  unsigned workers = std::max(1u, std::thread::hardware_concurrency());
  int rounds = 5;
  std::string file;
  std::string json;
};

struct contender {
  std::string name;
  unsigned workers;
  std::function<std::function<count_map()>()>
      go;  // timed; the function it returns gives the answer, not timed
  std::vector<double> seconds{};
};

contender creek_with(std::string_view text, creek::runtime& rt, bool sort) {
  return {sort ? "creek, sorted by word" : "creek", rt.worker_count(), [text, &rt, sort] {
            auto counted = std::make_shared<result<word_count>>(
                rt.run([&] { return run(word_count{word_order::by_word}, text, {.sort = sort}); }));
            return [counted] {
              count_map answer;
              for (const auto& [word, count] : *counted) answer[word] = count;
              return answer;
            };
          }};
}

contender unordered_with(std::string_view text, unsigned threads) {
  return {"unordered_map", threads, [text, threads] {
            auto parts = std::make_shared<std::vector<count_map>>(count_unordered(text, threads));
            return [parts] {
              count_map answer;
              for (const count_map& part : *parts) answer.insert(part.begin(), part.end());
              return answer;
            };
          }};
}

contender tokenise(std::string_view text) {
  return {"cut words only", 1, [text] {
            std::size_t bytes = 0;
            for_each_word(text, [&](std::string_view word) { bytes += word.size(); });
            return [bytes] { return bytes == 0 ? count_map{{"", 0}} : count_map{}; };
          }};
}

/// Alternates rounds, so that a disturbance of the machine affects all. Compares answers once.
void measure(std::vector<contender>& all, int rounds) {
  count_map reference;
  for (int round = 0; round < rounds; ++round) {
    for (contender& one : all) {
      const auto start = std::chrono::steady_clock::now();
      const auto answer = one.go();
      one.seconds.push_back(
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
      if (round != 0 || one.name == "cut words only") continue;
      count_map counted = answer();
      if (reference.empty())
        reference = std::move(counted);
      else if (counted != reference)
        throw creek::error(EILSEQ, one.name + ": a different answer");
    }
  }
}

void report(const setup& chosen, const std::vector<contender>& all, std::size_t bytes,
            const memory_use& memory) {
  using json = nlohmann::ordered_json;
  json rows = json::array();
  std::map<unsigned, double> peer;
  for (const contender& one : all) {
    if (one.name == "unordered_map") peer[one.workers] = median(one.seconds);
  }
  fmt::print("{:<22} {:>7} {:>10} {:>8}  {}\n", "", "workers", "MB/s", "spread", "times the peer");
  for (const contender& one : all) {
    const double middle = median(one.seconds);
    const auto [least, most] = std::ranges::minmax(one.seconds);
    const double ratio = peer.contains(one.workers) ? peer[one.workers] / middle : 0;
    const double speed = static_cast<double>(bytes) / middle / 1e6;
    fmt::print("{:<22} {:>7} {:>10.0f} {:>7.0f}%  {:.2f}\n", one.name, one.workers, speed,
               100 * (most - least) / middle, ratio);
    rows.push_back({{"name", one.name},
                    {"workers", one.workers},
                    {"megabytes_per_second", speed},
                    {"seconds_median", middle},
                    {"seconds", one.seconds},
                    {"times_peer", ratio}});
  }
  const double share = static_cast<double>(memory.peak) / static_cast<double>(memory.answer);
  fmt::print(
      "memory beside the input: {:.1f} MB, {:.2f} times the distinct words with their counts\n",
      static_cast<double>(memory.peak) / 1e6, share);
  if (chosen.json.empty()) return;
  const json out = {
      {"schema_version", 2},
      {"command", "bench_wordcount"},
      {"version", creek::version()},
      {"bytes", bytes},
      {"vocabulary", chosen.file.empty() ? chosen.vocabulary : 0},
      {"file", chosen.file},
      {"hardware_threads", std::thread::hardware_concurrency()},
      {"memory", {{"peak_bytes", memory.peak}, {"answer_bytes", memory.answer}, {"ratio", share}}},
      {"results", rows}};
  std::ofstream(chosen.json) << out.dump(2) << '\n';
}

void run_all(const setup& chosen) {
  std::string name = chosen.file;
  if (name.empty()) {
    name = std::filesystem::temp_directory_path() / fmt::format("creek-zipf-{}.txt", getpid());
    std::ofstream(name, std::ios::binary) << zipf_text(chosen.megabytes << 20, chosen.vocabulary);
  }
  const memory_use memory = measure_memory(name, chosen.workers);
  const open_file opened(name);
  const mapped_file mapped(opened, std::filesystem::file_size(name));
  if (chosen.file.empty()) std::filesystem::remove(name);
  const std::string_view text = mapped.text();
  mapped.populate(text);

  creek::runtime one(creek::scheduler_options{.workers = 1});
  creek::runtime many(creek::scheduler_options{.workers = chosen.workers});
  std::vector<contender> all;
  all.push_back(tokenise(text));
  all.push_back(unordered_with(text, 1));
  all.push_back(creek_with(text, one, false));
  all.push_back(creek_with(text, one, true));
  all.push_back(unordered_with(text, chosen.workers));
  all.push_back(creek_with(text, many, false));
  all.push_back(creek_with(text, many, true));
  measure(all, chosen.rounds);
  report(chosen, all, text.size(), memory);
}

}  // namespace
}  // namespace creek_bench

int main(int argc, char** argv) {
  creek_bench::setup chosen;
  CLI::App app("Word count against std::unordered_map");
  app.add_option("--megabytes", chosen.megabytes, "Size of the generated text")
      ->capture_default_str();
  app.add_option("--vocabulary", chosen.vocabulary, "Its different words")->capture_default_str();
  app.add_option("--workers", chosen.workers, "Workers")
      ->capture_default_str()
      ->check(CLI::Range(1, 4096));
  app.add_option("--rounds", chosen.rounds, "Repetitions")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app.add_option("--file", chosen.file, "Count this file instead")->check(CLI::ExistingFile);
  app.add_option("--json", chosen.json, "Write the results here");
  app.footer(
      "Examples:\n"
      "  bench_wordcount --megabytes 64 --rounds 3\n"
      "  bench_wordcount --file book.txt --workers 2 --json figures.json");
  CLI11_PARSE(app, argc, argv);
  try {
    creek_bench::run_all(chosen);
  } catch (const std::exception& problem) {
    std::fputs(fmt::format("bench_wordcount: {}\n", problem.what()).c_str(), stderr);
    return 1;
  }
  return 0;
}
