// SPDX-License-Identifier: Apache-2.0
// main() of every C++ benchmark peer. Prints one JSON object per line on standard output:
//   --list                      lists the workloads of this peer, with units and sizes
//   --workload W --runs R ...   prints one line per timed run, after --warmup untimed ones
// bench/peers/rust speaks the same protocol; `creek bench` is the usual caller.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <utility>

#include "../../support/median.hpp"
#include "workload.hpp"

namespace bench {

std::vector<entry>& table() {
  static std::vector<entry> entries;
  return entries;
}

registration::registration(const description& what, run_function run, print_function print_input) {
  auto& entries = table();
  const auto place =
      std::lower_bound(entries.begin(), entries.end(), what.name,
                       [](const entry& e, std::string_view name) { return e.what.name < name; });
  entries.insert(place, entry{what, run, print_input});
}

sample median_sample(std::vector<double> nanoseconds, std::uint64_t answer) {
  if (nanoseconds.empty()) return {.work = 0};
  const auto count = static_cast<double>(nanoseconds.size());
  return {median(std::move(nanoseconds)) * count, count, answer};
}

namespace {

void print(const nlohmann::json& line) {
  std::puts(line.dump().c_str());
  std::fflush(stdout);
}

/// Returns the options that select a peer in a program with several.
std::string options_of(const settings& s) {
  return s.peer.empty() ? "" : "--peer " + s.peer;
}

void list(const settings& s) {
  for (const auto& e : table()) {
    print({{"workload", e.what.name},
           {"about", e.what.about},
           {"unit", e.what.unit},
           {"full", e.what.full.all()},
           {"quick", e.what.quick.all()},
           {"smoke", e.what.smoke.all()},
           {"min_workers", e.what.min_workers},
           {"limit", e.what.limit},
           {"all_workers", e.what.all_workers},
           {"rate", e.what.rate},
           {"warmup", e.what.warmup},
           {"scale", e.what.scale},
           {"groups", e.what.groups},
           {"bounds", e.what.bounds},
           {"share_of", e.what.share_of},
           {"peer", peer_name()},
           {"options", options_of(s)},
           {"version", peer_version()}});
  }
}

const entry* find(const std::string& name) {
  for (const auto& e : table()) {
    if (e.what.name == name) return &e;
  }
  return nullptr;
}

/// Exit status of a good run that measured nothing, such as a round trip on one processor.
constexpr int not_measurable = 3;

bool run(const entry& e, const settings& s, int warmup, int runs) {
  for (int i = 0; i < warmup; ++i) e.run(s);
  for (int i = 0; i < runs; ++i) {
    const sample got = e.run(s);
    if (got.work <= 0) return false;
    print({{"workload", e.what.name},
           {"peer", peer_name()},
           {"version", peer_version()},
           {"workers", s.workers},
           {"n", s.n},
           {"unit", e.what.unit},
           {"work", got.work},
           {"total_ns", got.total_ns},
           {"ns_per_task", got.total_ns / got.work},
           {"answer", std::to_string(got.answer)}});
  }
  return true;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  bench::settings s;
  int runs = 3;
  int warmup = 1;
  bool list = false, print_input = false;
  CLI::App app{"A peer of creek's benchmarks: runs one workload, one JSON line a run"};
  app.add_flag("--list", list, "List the workloads with their units and sizes");
  app.add_flag("--print-input", print_input,
               "Print the input of the workload instead of running it");
  app.add_option("--workload", s.workload, "Which one to run");
  app.add_option("--peer", s.peer, "Which peer to be, of a program that is several");
  app.add_option("--n", s.n, "Size; default: the first of the workload's full sizes");
  app.add_option("--workers", s.workers, "Worker threads")->check(CLI::Range(1, 4096));
  app.add_option("--runs", runs, "Timed runs")->check(CLI::Range(1, 1000000));
  app.add_option("--warmup", warmup, "Untimed runs before them")->check(CLI::Range(0, 1000));
  app.add_option("--grain", s.grain, "Busy-loop steps in a 1 us task");
  app.add_option("--scheduler", s.scheduler, "creek only");
  app.add_option("--deque", s.deque, "creek only");
  app.add_option("--idle", s.idle, "creek only");
  app.footer(
      "Examples, of any peer:\n"
      "  bench_creek --list\n"
      "  bench_creek --workload fib --n 30 --workers 2 --runs 5\n"
      "  creek bench tasking --workload fib        runs all peers in turns");
  CLI11_PARSE(app, argc, argv);
  bench::prepare_environment(s, argv);
  if (list) {
    bench::list(s);
    return 0;
  }
  const bench::entry* e = bench::find(s.workload);
  if (e == nullptr) {
    std::fprintf(stderr, "%s: unknown workload '%s' (see --list)\n", bench::peer_name().c_str(),
                 s.workload.c_str());
    return 2;
  }
  if (s.n <= 0) s.n = e->what.full.first();
  if (print_input) {
    if (e->print_input != nullptr) e->print_input(s, stdout);
    return e->print_input != nullptr && std::fflush(stdout) == 0 ? 0 : 1;
  }
  try {
    if (!bench::run(*e, s, warmup, runs)) {
      std::fprintf(stderr, "%s: %s: nothing could be measured here\n", bench::peer_name().c_str(),
                   s.workload.c_str());
      return bench::not_measurable;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s: %s\n", bench::peer_name().c_str(), s.workload.c_str(),
                 error.what());
    return 1;
  }
  return 0;
}
