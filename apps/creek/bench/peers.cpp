// SPDX-License-Identifier: Apache-2.0
#include "peers.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <creek/core/error.hpp>
#include <iterator>
#include <sstream>

#include "json/json_value.hpp"
#include "process.hpp"

namespace creek::tool::bench {
namespace {

struct known_peer {
  const char* program;
  const char* name;
  const char* how;
  const char* groups = "tasking";  ///< groups that it takes part in
};

constexpr int not_measurable = 3;  // exit status of a peer, see bench/harness/peer_main.cpp

constexpr const char* from_build = "build the target of that name (CREEK_BUILD_BENCH=ON)";

/// The known peers, in the order of the table.
constexpr std::array<known_peer, 29> known_peers{{
    {"bench_creek", "creek", from_build, "tasking invoke sections linalg mapreduce stream"},
    {"bench_built_in", "built_in", from_build, "mapreduce"},
    {"bench_serial", "serial", from_build, "tasking mapreduce stream"},
    {"bench_tbb", "tbb", "install oneTBB (Debian: libtbb-dev) and configure again",
     "tasking invoke mapreduce stream"},
    {"bench_libgomp", "libgomp", "build with GCC and its OpenMP", "tasking invoke mapreduce"},
    {"bench_libomp", "libomp",
     "install LLVM's OpenMP runtime (Debian: libomp-dev) and configure again",
     "tasking invoke mapreduce"},
    {"bench_rayon", "rayon", "install cargo and build the target bench_peers_rust",
     "tasking mapreduce"},
    {"bench_chili", "chili", "install cargo and build the target bench_peers_rust"},
    {"bench_lace", "lace",
     "install Lace 1.4 (github.com/trolando/lace), then ./bootstrap bench tasking --peer lace=DIR"},
    {"bench_libfork", "libfork",
     "get github.com/ConorWilliams/libfork, then ./bootstrap bench tasking --peer libfork=DIR"},
    {"bench_citor", "citor",
     "get github.com/Lallapallooza/citor, then ./bootstrap bench tasking --peer citor=DIR"},
    {"bench_toomanycooks", "toomanycooks",
     "get github.com/tzcnt/TooManyCooks, then ./bootstrap bench tasking --peer toomanycooks=DIR"},
    {"bench_ips4o", "ips4o",
     "get github.com/ips4o/ips4o, then ./bootstrap bench tasking --peer ips4o=DIR"},
    {"bench_fastflow", "fastflow",
     "get github.com/fastflow/fastflow, then ./bootstrap bench stream --peer fastflow=DIR",
     "stream"},
    {"bench_ff_blocking", "ff_blocking",
     "get github.com/fastflow/fastflow, then ./bootstrap bench stream --peer fastflow=DIR",
     "stream"},
    {"bench_asio", "asio", "install Boost.Asio (Debian: libboost-dev) and configure again",
     "invoke"},
    {"bench_boost", "boost", "install Boost.Lockfree (Debian: libboost-dev) and configure again",
     "invoke"},
    {"bench_moodycamel", "moodycamel",
     "install moodycamel's queues (Debian: libreaderwriterqueue-dev libconcurrentqueue-dev) and "
     "configure again",
     "invoke"},
    {"bench_mpi", "mpi",
     "install Open MPI (Debian: libopenmpi-dev openmpi-bin) and configure again", "invoke"},
    {"bench_std_async", "std_async", from_build, "invoke"},
    {"bench_std_barrier", "std_barrier", from_build, "invoke"},
    {"bench_std_map", "std_map", from_build, "mapreduce"},
    {"bench_databases", "databases",
     "build the target bench_databases (DuckDB, ClickHouse and Polars, from Python)", "mapreduce"},
    {"bench_mutex", "mutex", from_build, "invoke sections"},
    {"bench_spin", "spin", from_build, "invoke sections"},
    {"bench_atomic", "atomic", from_build, "invoke"},
    {"bench_blas", "blas", from_build, "linalg"},
    {"bench_faer", "faer", "install a current cargo and build the target bench_peers_faer",
     "linalg"},
    {"bench_lapack", "lapack", "build the target bench_lapack (CREEK_BUILD_BENCH=ON)", "lapack"},
}};

using json = json_value;

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

/// Returns whether `words` contains `word`.
bool lists(const std::string& words, const std::string& word) {
  const auto all = words_of(words);
  return std::find(all.begin(), all.end(), word) != all.end();
}

std::vector<json> lines_of(const std::string& text) {
  std::vector<json> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    std::optional<json> parsed = json::parse(line);
    if (parsed && parsed->is_object()) lines.push_back(std::move(*parsed));
  }
  return lines;
}

/// Returns the sizes in a description: one, or a list.
std::vector<std::int64_t> sizes_in(const json& line, const char* key) {
  const json& given = line.at(key);
  if (!given.is_array()) return {given.as_integer()};
  std::vector<std::int64_t> sizes;
  for (const json& size : given.items()) sizes.push_back(size.as_integer());
  return sizes;
}

/// Returns an optional member, false if it is absent.
bool flag_in(const json& line, const char* key) {
  const json* const given = line.find(key);
  return given != nullptr && given->as_bool();
}

/// Returns an optional member, 0 if it is absent.
double number_in(const json& line, const char* key) {
  const json* const given = line.find(key);
  return given != nullptr ? given->as_number() : 0;
}

/// Returns the text of an optional member.
std::string text_in(const json& line, const char* key, const std::string& otherwise = {}) {
  const json* const given = line.find(key);
  return given != nullptr ? given->as_string() : otherwise;
}

workload describe(const json& line) {
  return {.name = line.at("workload").as_string(),
          .about = line.at("about").as_string(),
          .unit = line.at("unit").as_string(),
          .full = sizes_in(line, "full"),
          .quick = sizes_in(line, "quick"),
          .smoke = sizes_in(line, "smoke"),
          .min_workers = static_cast<unsigned>(line.at("min_workers").as_integer()),
          .limit = line.at("limit").as_bool(),
          .all_workers = flag_in(line, "all_workers"),
          .rate = line.at("rate").as_bool(),
          .warmup = line.at("warmup").as_bool(),
          .calls = flag_in(line, "calls"),
          .scale = line.at("scale").as_number(),
          .groups = text_in(line, "groups", "tasking"),
          .bounds = words_of(text_in(line, "bounds")),
          .share_of = text_in(line, "share_of")};
}

/// Returns the peer that a line of a list describes: the program's only one, or, in a program with
/// several that an option selects, the one that the line names.
peer& peer_of(const json& line, const peer& only, std::vector<peer>& peers) {
  const auto options = words_of(text_in(line, "options"));
  const std::string name = options.empty() ? only.name : text_in(line, "peer", only.name);
  for (auto& p : peers) {
    if (p.name == name) return p;
  }
  peers.push_back(only);
  peers.back().name = name;
  peers.back().options = options;
  return peers.back();
}

/// Asks an executable for its workloads and adds them. Returns whether that succeeded.
bool ask(const std::filesystem::path& program, const std::string& name, catalogue& found,
         std::vector<peer>& peers, std::chrono::seconds limit) {
  const process_result listed = run_process(program, {"--list"}, limit);
  if (listed.exit_code != 0) return false;
  const peer only{.name = name, .version = {}, .program = program, .workloads = {}};
  for (const json& line : lines_of(listed.output)) {
    if (const json* const why = line.find("missing")) {
      found.missing.push_back({line.at("peer").as_string(), why->as_string()});
      continue;
    }
    peer& p = peer_of(line, only, peers);
    p.version = text_in(line, "version");
    p.workloads.push_back(line.at("workload").as_string());
    if (line.find("unit") != nullptr) found.workloads.emplace(p.workloads.back(), describe(line));
  }
  return true;
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

std::vector<std::string> arguments_of(const peer& p, const request& r) {
  std::vector<std::string> arguments{"--workload", r.workload,
                                     "--n",        std::to_string(r.n),
                                     "--workers",  std::to_string(r.workers),
                                     "--runs",     "1",
                                     "--warmup",   r.warmup ? "1" : "0"};
  arguments.insert(arguments.end(), p.options.begin(), p.options.end());
  if (r.grain > 0) arguments.insert(arguments.end(), {"--grain", std::to_string(r.grain)});
  arguments.insert(arguments.end(), r.extra.begin(), r.extra.end());
  return arguments;
}

}  // namespace

const std::vector<std::int64_t>& workload::sizes(size_class c) const {
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
    if (!lists(known.groups, group)) continue;
    const auto program = program_in(folder, known.program);
    if (program.empty() || !ask(program, known.name, found, found.peers, limit)) {
      found.missing.push_back({known.name, known.how});
    }
  }
  if (const auto program = program_in(folder, "bench_limits"); !program.empty()) {
    std::vector<peer> machine;
    ask(program, "machine", found, machine, limit);
    if (!machine.empty()) found.machine = std::move(machine.front());
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
  const process_result ran = run_process(p.program, arguments_of(p, r), limit);
  if (ran.timed_out) return {.failure = "took longer than " + std::to_string(limit.count()) + " s"};
  if (ran.exit_code != 0) {
    const std::string said = last_line(ran.errors);
    return {.failure = said.empty() ? "exit status " + std::to_string(ran.exit_code) : said,
            .unmeasurable = ran.exit_code == not_measurable};
  }
  const auto lines = lines_of(ran.output);
  if (lines.empty()) return {.failure = "printed no result"};
  const json& line = lines.back();
  return {.total_ns = line.at("total_ns").as_number(),
          .work = line.at("work").as_number(),
          .best_ns = number_in(line, "best_ns"),
          .first_ns = number_in(line, "first_ns"),
          .answer = line.at("answer").as_string(),
          .failure = {}};
}

}  // namespace creek::tool::bench
