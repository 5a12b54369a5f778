// SPDX-License-Identifier: Apache-2.0
// Words counted in compressed files, beside the text itself and the tools that decompress them. The
// installed tools make the files; all contenders take turns. Prints wall and CPU time; fails if
// counts differ.
#include <fmt/format.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <creek/core/error.hpp>
#include <creek/mapreduce.hpp>
#include <creek/tasking/runtime.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "../../support/median.hpp"
#include "../../support/zipf_text.hpp"

namespace creek_bench {
namespace {

namespace fs = std::filesystem;
using namespace creek::mapreduce;

struct setup {
  std::size_t megabytes = 128;
  unsigned workers = std::max(1u, std::thread::hardware_concurrency());
  int rounds = 5;
  std::string folder = "/tmp";
};

struct packing {
  std::string name;
  std::string pack;    // makes the file OUT of the files p.*, which are the text in parts
  std::string unpack;  // writes the text of the file to standard output
};

/// Returns the CPU time of this process or of its children that have ended.
double cpu_seconds(int whose) {
  struct rusage used {};
  getrusage(whose, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

struct contender {
  std::string name;
  std::function<void()> go;
  int whose = RUSAGE_SELF;
  std::vector<double> wall{}, cpu{};
};

void run_shell(const std::string& command) {
  if (std::system(command.c_str()) != 0) throw creek::error(EIO, command);
}

bool has(const std::string& tool) {
  return std::system(("command -v " + tool + " > /dev/null").c_str()) == 0;
}

void run_all(const setup& chosen) {
  const fs::path folder = fs::path(chosen.folder) / fmt::format("creek-bench-{}", getpid());
  fs::create_directories(folder);
  const std::string text = zipf_text(chosen.megabytes * 1'000'000, 100'000);
  const auto part = [&](std::size_t i) { return folder / fmt::format("p.{:06}", i); };
  constexpr std::size_t part_bytes = 1 << 20;
  for (std::size_t at = 0; at < text.size(); at += part_bytes) {
    std::ofstream(part(at / part_bytes), std::ios::binary)
        << std::string_view(text).substr(at, part_bytes);
  }
  const std::string each = "for p in p.*; do cat $p | ", end = " >> OUT; done";
  const packing packings[] = {
      {"text", "cat p.* > OUT", "cat"},
      {"gzip", "cat p.* | gzip -6 > OUT", "gzip -dc"},
      {"gzip, members of 1 MiB", each + "gzip -6" + end, "gzip -dc"},
      {"zstd", "cat p.* | zstd -q > OUT", "zstd -qdc"},
      {"zstd, frames of 1 MiB", each + "zstd -q" + end, "zstd -qdc"},
      {"lz4", "cat p.* | lz4 -q > OUT", "lz4 -qdc"},
      {"xz", "cat p.* | xz -2 > OUT", "xz -dc -T0"},
      {"xz, blocks of 4 MiB", "cat p.* | xz -2 -T2 --block-size=4MiB > OUT", "xz -dc -T0"},
      {"xz, streams of 1 MiB", each + "xz -2" + end, "xz -dc -T0"},
      {"bzip2", "cat p.* | bzip2 > OUT", "bzip2 -dc"},
      {"bzip2, by lbzip2", "cat p.* | bzip2 > OUT", "lbzip2 -dc"},
      {"bzip2, streams of 1 MiB", each + "bzip2" + end, "bzip2 -dc"},
  };
  std::vector<contender> all;
  std::uint64_t expected = 0;
  std::vector<unsigned> numbers{1};
  if (chosen.workers > 1) numbers.push_back(chosen.workers);
  for (const packing& one : packings) {
    const std::string tool = one.unpack.substr(0, one.unpack.find(' '));
    if (!has(tool)) {
      fmt::print("{}: {} is missing\n", one.name, tool);
      continue;
    }
    const std::string file = folder / ("packed-" + std::to_string(all.size()));
    std::string pack = one.pack;
    pack.replace(pack.find("OUT"), 3, file);
    run_shell("cd " + folder.string() + " && " + pack);
    for (const unsigned workers : numbers) {
      all.push_back(
          {fmt::format("{}: creek, {} worker{}", one.name, workers, workers == 1 ? "" : "s"),
           [=, &expected] {
             text_files files({file});
             creek::runtime rt(creek::scheduler_options{.workers = workers});
             const auto counts = rt.run([&] { return run(word_count{}, files, {.sort = false}); });
             if (expected == 0) expected = counts.emitted;
             if (counts.emitted != expected) throw creek::error(EILSEQ, one.name);
           }});
    }
    all.push_back({fmt::format("{}: {}", one.name, one.unpack),
                   [=] { run_shell(one.unpack + " < " + file + " > /dev/null"); },
                   RUSAGE_CHILDREN});
  }
  for (int round = -1; round < chosen.rounds; ++round) {
    for (contender& one : all) {
      const double cpu = cpu_seconds(one.whose);
      const auto start = std::chrono::steady_clock::now();
      one.go();
      const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
      if (round < 0) continue;
      one.wall.push_back(wall.count());
      one.cpu.push_back(cpu_seconds(one.whose) - cpu);
    }
  }
  fmt::print("{:<44} {:>9} {:>9} {:>9}\n", "words of Zipf text", "wall ms", "least ms", "CPU ms");
  for (contender& one : all) {
    fmt::print("{:<44} {:>9.0f} {:>9.0f} {:>9.0f}\n", one.name, 1e3 * bench::median(one.wall),
               1e3 * std::ranges::min(one.wall), 1e3 * bench::median(one.cpu));
  }
  fs::remove_all(folder);
}

}  // namespace
}  // namespace creek_bench

int main(int argc, char** argv) {
  creek_bench::setup chosen;
  CLI::App app("Word count of compressed files beside the tools that decompress them");
  app.add_option("--megabytes", chosen.megabytes, "Size of the text")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--workers", chosen.workers, "Workers")
      ->capture_default_str()
      ->check(CLI::Range(1, 4096));
  app.add_option("--rounds", chosen.rounds, "Repetitions")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app.add_option("--folder", chosen.folder, "Folder for the files")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    creek_bench::run_all(chosen);
  } catch (const std::exception& problem) {
    std::fputs(fmt::format("bench_compressed: {}\n", problem.what()).c_str(), stderr);
    return 1;
  }
  return 0;
}
