// SPDX-License-Identifier: Apache-2.0
// main() of every C++ benchmark peer. Prints one JSON object per line on standard output:
//   --list                      lists the workloads of this peer, with units and sizes
//   --workload W --runs R ...   prints one line per timed run, after --warmup untimed ones
// bench/peers/rust speaks the same protocol; `creek bench` is the usual caller.
#include <algorithm>
#include <creek/core/error.hpp>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "../../support/median.hpp"
#include "command_line/command.hpp"
#include "json/json_value.hpp"
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

void print(const creek::json_value& line) {
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

/// Exit status of a command line that is wrong.
constexpr int misused = 2;
/// Exit status of a good run that measured nothing, such as a round trip on one processor.
constexpr int not_measurable = 3;

bool run_all(const entry& e, const settings& s, int warmup, int runs) {
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

/// The command line of a peer.
struct request {
  settings s;
  int runs = 3;
  int warmup = 1;
  bool list = false, print_input = false;

  /// Returns false if help was printed instead.
  bool parse(const std::vector<std::string>& words) {
    creek::command_line::command app(
        "A peer of creek's benchmarks: runs one workload, one JSON line a run", peer_name());
    app.add_flag("--list", list, "List the workloads with their units and sizes");
    app.add_flag("--print-input", print_input,
                 "Print the input of the workload instead of running it");
    app.add_option("--workload", s.workload, "Which one to run");
    app.add_option("--peer", s.peer, "Which peer to be, of a program that is several");
    app.add_option("--n", s.n, "Size; default: the first of the workload's full sizes");
    app.add_option("--workers", s.workers, "Worker threads")->range(1, 4096);
    app.add_option("--runs", runs, "Timed runs")->range(1, 1000000);
    app.add_option("--warmup", warmup, "Untimed runs before them")->range(0, 1000);
    app.add_option("--grain", s.grain, "Busy-loop steps in a 1 us task");
    app.add_option("--scheduler", s.scheduler, "creek only");
    app.add_option("--deque", s.deque, "creek only");
    app.add_option("--idle", s.idle, "creek only");
    app.footer(
        "Examples, of any peer:\n"
        "  bench_creek --list\n"
        "  bench_creek --workload fib --n 30 --workers 2 --runs 5\n"
        "  creek bench tasking --workload fib        runs all peers in turns");
    return app.parse(words);
  }
};

int run_workload(request asked) {
  settings& s = asked.s;
  const entry* e = find(s.workload);
  if (e == nullptr) {
    std::fprintf(stderr, "%s: unknown workload '%s' (see --list)\n", peer_name().c_str(),
                 s.workload.c_str());
    return misused;
  }
  if (s.n <= 0) s.n = e->what.full.first();
  if (asked.print_input) {
    if (e->print_input != nullptr) e->print_input(s, stdout);
    return e->print_input != nullptr && std::fflush(stdout) == 0 ? 0 : 1;
  }
  try {
    if (run_all(*e, s, asked.warmup, asked.runs)) return 0;
    std::fprintf(stderr, "%s: %s: nothing could be measured here\n", peer_name().c_str(),
                 s.workload.c_str());
    return not_measurable;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s: %s\n", peer_name().c_str(), s.workload.c_str(), error.what());
    return 1;
  }
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  bench::request asked;
  try {
    if (!asked.parse({argv + 1, argv + argc})) return 0;
  } catch (const creek::usage_error& error) {
    std::fprintf(stderr, "%s: %s\n", bench::peer_name().c_str(), error.what());
    return bench::misused;
  }
  bench::prepare_environment(asked.s, argv);
  if (!asked.list) return bench::run_workload(std::move(asked));
  bench::list(asked.s);
  return 0;
}
