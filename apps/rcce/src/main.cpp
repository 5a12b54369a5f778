// SPDX-License-Identifier: Apache-2.0
// rccerun: starts an RCCE program on a number of UEs. Exit codes: 0 if every UE returned 0, 1 if
// one did not, crashed, or the run failed, 2 for bad usage, before anything was started.
#include <fmt/format.h>

#include <unistd.h>
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <iomanip>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <creek/core/environment.hpp>
#include <creek/core/error.hpp>
#include <creek/core/version.hpp>

#include "chip/chip_options.hpp"
#include "command_line/command.hpp"
#include "command_line/pages.hpp"
#include "command_line/process.hpp"
#include "json/json_value.hpp"
#include "output.hpp"
#include "output/output_file.hpp"
#include "run.hpp"

namespace creek::rcce {
namespace {

constexpr const char* notes =
    R"(The program is a shared object made by creek-rcce-cc. Options come before it.

  creek-rcce-cc -O2 ring.c -o ring.so
  rccerun -nue 48 ring.so 1000
  rccerun -nue 8 --backend host ring.so 1000

Exit codes: 0 all UEs returned 0; 1 one returned something else or crashed, or the run failed
(a deadlock); 2 bad usage, nothing was started.)";

struct arguments {
  int ues = 0;
  std::string host_file;
  std::string backend = "scc";
  std::string json;
  tool::chip_options chip;
  protocols chosen;
};

/// Reads core numbers, one per line, as `5`, `05` or a host name that ends in one, `rck05`.
std::vector<int> read_host_file(const std::string& name, int ues, int cores) {
  std::ifstream file(name);
  if (!file) throw usage_error(fmt::format("rccerun: {}: {}", name, std::strerror(errno)));
  constexpr int longest = 255;  // maximum length of a host name
  std::vector<int> listed;
  std::string host;
  while (static_cast<int>(listed.size()) < ues && file >> std::setw(longest + 1) >> host) {
    if (host.size() > longest || host.find('\0') != std::string::npos) {
      throw usage_error(fmt::format("rccerun: {}: not a list of hosts", name));
    }
    const std::size_t digits = host.find_last_not_of("0123456789") + 1;
    if (digits == host.size() || host.size() - digits > 6) {
      throw usage_error(fmt::format("rccerun: {}: '{}' does not end in a core number", name, host));
    }
    const int core = std::stoi(host.substr(digits));
    if (core >= cores) {
      throw usage_error(
          fmt::format("rccerun: {}: '{}': the chip has cores 0 to {}", name, host, cores - 1));
    }
    if (std::find(listed.begin(), listed.end(), core) != listed.end()) {
      throw usage_error(fmt::format("rccerun: {}: core {} is listed twice", name, core));
    }
    listed.push_back(core);
  }
  if (file.bad()) throw usage_error(fmt::format("rccerun: {}: {}", name, std::strerror(errno)));
  if (static_cast<int>(listed.size()) < ues) {
    throw usage_error(
        fmt::format("rccerun: {}: lists {} cores for {} UEs", name, listed.size(), ues));
  }
  return listed;
}

/// Refuses options that only affect a simulated chip. --chip is not one: its cores bound the UEs.
void refuse_on_host(const command_line::command& app) {
  for (const char* option : {"--clock", "--check", "--trace", "--heatmap", "--seed"}) {
    if (app.count(option) > 0) {
      throw usage_error(fmt::format("rccerun: {} needs --backend scc", option));
    }
  }
}

run_options prepare(const arguments& given, std::vector<std::string> command) {
  run_options made;
  if (command.empty()) throw usage_error("rccerun: no program given (see --help)");
  if (given.chip.cores != 0) throw usage_error("rccerun: --cores: use -nue");
  made.chip = tool::to_machine_options(given.chip);
  const int cores = made.chip.description.cores();
  const int most = std::min(cores, RCCE_MAXNP);
  if (given.ues < 1 || given.ues > most) {
    throw usage_error(fmt::format("rccerun: -nue {}: chip '{}' has room for 1 to {} UEs", given.ues,
                                  made.chip.description.name, most));
  }
  made.ues = given.ues;
  made.command = std::move(command);
  made.chosen = given.chosen;
  made.cores.resize(static_cast<std::size_t>(given.ues));
  std::iota(made.cores.begin(), made.cores.end(), 0);
  if (!given.host_file.empty()) made.cores = read_host_file(given.host_file, given.ues, cores);
  // The loader looks for a name without a slash in its own folders.
  if (made.command.front().find('/') == std::string::npos) made.command.front().insert(0, "./");
  return made;
}

std::string to_json(const arguments& given, const run_options& options, const run_result& result) {
  json_value json{{"schema_version", 1},      {"command", "rccerun"}, {"program", options.command},
                  {"backend", given.backend}, {"ues", options.ues},   {"status", result.status}};
  if (given.backend == "scc") {
    json["chip"] = options.chip.description.name;
    json["seed"] = options.chip.seed;
    json["clock"] = given.chip.clock;
    if (const double factor = options.chip.cycles_a_host_second; factor > 0) {
      json["cycles_a_host_second"] = factor;
    }
    json["virtual_seconds"] = result.report.length().in_seconds().value;
    std::vector<double> ended;
    for (const int core : options.cores) {
      ended.push_back(result.report.ended[static_cast<std::size_t>(core)].in_seconds().value);
    }
    json["virtual_seconds_by_ue"] = ended;
  }
  // Arguments need not be UTF-8.
  return json.dump(2) + "\n";
}

/// Prints an error directly, past the collectors of lines, which belong to UEs.
int complain(int code, const std::string& message) {
  command_line::print_error(message);
  return code;
}

/// Adds the tool's name, which errors of the library do not have.
std::string named(const std::string& why) {
  return why.starts_with("rccerun: ") ? why : "rccerun: " + why;
}
/// Removes the system's text for a deadlock, which would follow the last core's line.
std::string reason(const error& failure) {
  std::string why = failure.what();
  const std::string known = ": " + failure.code().message();
  const bool doubled = failure.code() == std::errc::resource_deadlock_would_occur;
  if (doubled && why.ends_with(known)) why.resize(why.size() - known.size());
  return why;
}

int judge(const run_result& result) {
  for (std::size_t ue = 0; ue < result.status.size(); ++ue) {
    if (result.status[ue] != 0) {
      return complain(1, fmt::format("rccerun: UE {} returned {}", ue, result.status[ue]));
    }
  }
  if (!result.report.faults.empty()) return 1;  // they have been printed
  if (const int lost = output_failure()) {
    return complain(1, fmt::format("rccerun: output: {}", std::strerror(lost)));
  }
  return 0;
}

int start(const arguments& given, const std::vector<std::string>& command) {
  const run_options options = prepare(given, command);
  tool::output_file json(given.json);
  const run_result result = given.backend == "host" ? run_on_host(options) : run_on_chip(options);
  const int code = judge(result);
  json.write(to_json(given, options, result));
  return code;
}

void add_options(command_line::command& app, arguments& given) {
  app.add_option("--nue", given.ues, "Number of UEs to start; also written -nue")->required();
  app.add_option("-f", given.host_file, "File that lists the cores of the UEs, one per line")
      ->type_name("FILE");
  app.add_option("--backend", given.backend,
                 "Where to run: scc (the simulated chip) or host (threads)")
      ->among({"scc", "host"})
      ->show_default();
  app.add_option("--json", given.json, "Write status and times of the run to FILE")
      ->type_name("FILE");
  tool::add_chip_options(app, given.chip, {.clock = true});

  command_line::option_group* group = app.add_option_group("Protocols");
  std::vector<std::pair<std::string, broadcast_kind>> broadcasts;
  for (std::size_t i = 0; i < broadcast_names.size(); ++i) {
    broadcasts.emplace_back(broadcast_names[i], static_cast<broadcast_kind>(i));
  }
  group->add_choice("--broadcast", given.chosen.broadcast, broadcasts,
                    "Broadcast protocol; RCCE's is simple");
  group->add_choice("--barrier", given.chosen.barrier,
                    {{"rcce", barrier_kind::gather_release},
                     {"test-and-set", barrier_kind::test_and_set},
                     {"dissemination", barrier_kind::dissemination}},
                    "Barrier protocol; with test-and-set, barriers of fewer UEs than all use rcce");
  group->add_choice("--lock", given.chosen.retry,
                    {{"spin", lock_retry::spin}, {"backoff", lock_retry::backoff}},
                    "How a lock is retried; RCCE's is spin");
  group->add_flag("--pipelined", given.chosen.pipelined,
                  "Use iRCCE's pipelined protocol for RCCE's sends, receives and collectives");
  group->add_option(
      "--buffer", given.chosen.buffer_bytes,
      "Bytes of each MPB for two-sided messages (default: all that are left; with GORY two lines)");
}

/// Splits the program and its arguments off from the options before it. Replaces `-nue`, RCCE's own
/// spelling, by `--nue`, since the library does not take it.
std::vector<std::string> take_command(const command_line::command& app,
                                      std::vector<std::string>& words) {
  std::size_t at = 0;
  while (at < words.size() && words[at].starts_with('-') && words[at] != "--") {
    std::string& word = words[at++];
    if (word == "-nue" || word.starts_with("-nue=")) word.insert(0, 1, '-');
    const command_line::option* option = app.find(word);
    if (option != nullptr && !option->is_flag()) ++at;  // skips its value
  }
  at = std::min(at, words.size());
  const auto end = words.begin() + static_cast<std::ptrdiff_t>(at);
  const auto program = end != words.end() && *end == "--" ? end + 1 : end;
  std::vector<std::string> command(program, words.end());
  words.erase(end, words.end());
  return command;
}

/// Returns the exit code after help, a version or a manual page.
int after_text() {
  const int lost = command_line::flush_output();
  return lost == 0 ? 0 : complain(1, fmt::format("rccerun: output: {}", std::strerror(lost)));
}

int run(int argc, char** argv) {
  command_line::command app("rccerun: runs a program for RCCE or iRCCE", "rccerun");
  arguments given;
  app.version(std::string("rccerun of creek ") + version());
  app.footer(notes);
  add_options(app, given);
  std::vector<std::string> options(argv + 1, argv + argc);
  // For packages, and therefore hidden from --help, like `creek generate`.
  if (options.size() == 1 && options[0] == "--man-page") {
    const command_line::page page{{"rccerun"}, &app, "PROGRAM [ARGUMENT]..."};
    fmt::print("{}", man_page(page, version()));
    return after_text();
  }
  std::vector<std::string> command = take_command(app, options);
  if (!app.parse(options)) return after_text();
  if (given.backend == "host") refuse_on_host(app);
  return start(given, command);
}

}  // namespace
}  // namespace creek::rcce

int main(int argc, char** argv) {
  using namespace creek::rcce;
  creek::command_line::prepare_process();
  try {
    creek::warn_of_misspelt_variables();
    return run(argc, argv);
  } catch (const creek::usage_error& problem) {
    return complain(2, named(problem.what()));
  } catch (const std::bad_alloc&) {
    return complain(1, "rccerun: memory: not enough");
  } catch (const creek::error& problem) {
    return complain(1, named(reason(problem)));
  } catch (const std::exception& problem) {
    return complain(1, named(problem.what()));
  }
}
