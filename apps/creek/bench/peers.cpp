// SPDX-License-Identifier: Apache-2.0
#include "peers.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <creek/core/error.hpp>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "process.hpp"

namespace creek::tool::bench {
namespace {

struct known_peer {
  const char* program;
  const char* name;
  const char* how;
  const char* groups = "tasking";  ///< in which it is missed
};

constexpr int not_measurable = 3;  // exit status of a peer, see bench/harness/peer_main.cpp

constexpr const char* from_build = "build the target of that name (CREEK_BUILD_BENCH=ON)";

/// In the order of the table.
constexpr std::array<known_peer, 14> known_peers{{
    {"bench_creek", "creek", from_build, "tasking invoke sections"},
    {"bench_serial", "serial", from_build},
    {"bench_tbb", "tbb", "install oneTBB (Debian: libtbb-dev) and configure again",
     "tasking invoke"},
    {"bench_libgomp", "libgomp", "build with GCC and its OpenMP", "tasking invoke"},
    {"bench_libomp", "libomp",
     "install LLVM's OpenMP runtime (Debian: libomp-dev) and configure again", "tasking invoke"},
    {"bench_rayon", "rayon", "install cargo and build the target bench_peers_rust"},
    {"bench_chili", "chili", "install cargo and build the target bench_peers_rust"},
    {"bench_asio", "asio", "install Boost.Asio (Debian: libboost-dev) and configure again",
     "invoke"},
    {"bench_mpi", "mpi",
     "install Open MPI (Debian: libopenmpi-dev openmpi-bin) and configure again", "invoke"},
    {"bench_std_async", "std_async", from_build, "invoke"},
    {"bench_std_barrier", "std_barrier", from_build, "invoke"},
    {"bench_mutex", "mutex", from_build, "invoke sections"},
    {"bench_spin", "spin", from_build, "invoke sections"},
    {"bench_atomic", "atomic", from_build, "invoke"},
}};

using json = nlohmann::ordered_json;

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

/// Whether `words` has `word` in it.
bool lists(const std::string& words, const std::string& word) {
  const auto all = words_of(words);
  return std::find(all.begin(), all.end(), word) != all.end();
}

std::vector<json> lines_of(const std::string& text) {
  std::vector<json> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    json parsed = json::parse(line, nullptr, false);
    if (parsed.is_object()) lines.push_back(std::move(parsed));
  }
  return lines;
}

workload describe(const json& line) {
  return {.name = line.at("workload"),
          .about = line.at("about"),
          .unit = line.at("unit"),
          .full = line.at("full"),
          .quick = line.at("quick"),
          .smoke = line.at("smoke"),
          .min_workers = line.at("min_workers"),
          .limit = line.at("limit"),
          .all_workers = line.value("all_workers", false),
          .rate = line.at("rate"),
          .warmup = line.at("warmup"),
          .scale = line.at("scale"),
          .groups = line.value("groups", "tasking"),
          .bounds = words_of(line.value("bounds", ""))};
}

/// Asks an executable what it can run; adds the workloads that it describes.
std::optional<peer> ask(const std::filesystem::path& program, const std::string& name,
                        std::map<std::string, workload>& workloads, std::chrono::seconds limit) {
  const process_result listed = run_process(program, {"--list"}, limit);
  if (listed.exit_code != 0) return std::nullopt;
  peer found{.name = name, .version = {}, .program = program, .workloads = {}};
  for (const json& line : lines_of(listed.output)) {
    found.version = line.value("version", "");
    found.workloads.push_back(line.at("workload"));
    if (line.contains("unit")) workloads.emplace(line.at("workload"), describe(line));
  }
  return found;
}

std::filesystem::path program_in(const std::filesystem::path& folder, const char* name) {
  const auto candidates = folder.empty()
                              ? std::vector{own_folder(), own_folder() / "../libexec/creek"}
                              : std::vector{folder};
  for (const auto& candidate : candidates) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(candidate / name, ignored)) return candidate / name;
  }
  return {};
}

std::string last_line(const std::string& text) {
  const auto end = text.find_last_not_of("\n ");
  if (end == std::string::npos) return {};
  const auto start = text.find_last_of('\n', end);
  return text.substr(start == std::string::npos ? 0 : start + 1,
                     end - (start == std::string::npos ? 0 : start + 1) + 1);
}

std::vector<std::string> arguments_of(const request& r) {
  std::vector<std::string> arguments{"--workload", r.workload,
                                     "--n",        std::to_string(r.n),
                                     "--workers",  std::to_string(r.workers),
                                     "--runs",     "1",
                                     "--warmup",   r.warmup ? "1" : "0"};
  if (r.grain > 0) arguments.insert(arguments.end(), {"--grain", std::to_string(r.grain)});
  arguments.insert(arguments.end(), r.extra.begin(), r.extra.end());
  return arguments;
}

}  // namespace

std::int64_t workload::size(size_class c) const {
  return c == size_class::full ? full : c == size_class::quick ? quick : smoke;
}

double workload::figure(double total_ns, double work) const {
  return scale * (rate ? work / total_ns : total_ns / work);
}

bool workload::in(const std::string& group) const {
  return lists(groups, group);
}

bool peer::has(const std::string& name_of_workload) const {
  return std::find(workloads.begin(), workloads.end(), name_of_workload) != workloads.end();
}

std::filesystem::path own_folder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

catalogue find_peers(const std::filesystem::path& folder, std::chrono::seconds limit,
                     const std::string& group) {
  catalogue found;
  for (const auto& known : known_peers) {
    const auto program = program_in(folder, known.program);
    auto p = program.empty() ? std::nullopt : ask(program, known.name, found.workloads, limit);
    if (p) {
      found.peers.push_back(std::move(*p));
    } else if (lists(known.groups, group)) {
      found.missing.push_back({known.name, known.how});
    }
  }
  if (const auto program = program_in(folder, "bench_limits"); !program.empty()) {
    found.machine = ask(program, "machine", found.workloads, limit);
  }
  if (found.workloads.empty()) {
    throw creek::error(ENOENT, "benchmark programs (" +
                                   (folder.empty() ? own_folder() : folder).string() +
                                   "/bench_*; build them with CREEK_BUILD_BENCH=ON)");
  }
  std::erase_if(found.workloads, [&](const auto& w) { return !w.second.in(group); });
  return found;
}

measurement measure(const peer& p, const request& r, std::chrono::seconds limit) {
  const process_result ran = run_process(p.program, arguments_of(r), limit);
  if (ran.timed_out) return {.failure = "took longer than " + std::to_string(limit.count()) + " s"};
  if (ran.exit_code != 0) {
    const std::string said = last_line(ran.errors);
    return {.failure = said.empty() ? "exit status " + std::to_string(ran.exit_code) : said,
            .unmeasurable = ran.exit_code == not_measurable};
  }
  const auto lines = lines_of(ran.output);
  if (lines.empty()) return {.failure = "printed no result"};
  const json& line = lines.back();
  return {.total_ns = line.at("total_ns"),
          .work = line.at("work"),
          .answer = line.at("answer"),
          .failure = {}};
}

}  // namespace creek::tool::bench
