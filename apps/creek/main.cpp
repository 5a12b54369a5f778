// SPDX-License-Identifier: Apache-2.0
// The tool's entry: parses the command line and turns every failure into one line on standard error
// and an exit code, 2 for bad usage and 1 for a failed run.
#include <fmt/format.h>

#include <cstring>
#include <new>
#include <string>

#include <creek/core/environment.hpp>
#include <creek/core/error.hpp>
#include <creek/core/version.hpp>

#include "chip/chip_options.hpp"
#include "command_line/command.hpp"
#include "command_line/process.hpp"
#include "commands.hpp"
#include "output/energy.hpp"

namespace creek::tool {
namespace {

constexpr int failed = 1, bad_usage = 2;

constexpr void (*commands[])(command_line::command&, int&) = {
#include "command_table.inc"
};

constexpr const char* examples = R"(Examples:
  creek info                       this machine, and what creek makes of it
  creek wordcount --top 10 text/   the ten most frequent words of a folder
  creek solve -n 4000              a dense linear system, how fast and how well
  creek compare lu                 what power policies cost and save
  creek bench tasking              tasking against its peers, as ratios
  creek COMMAND --help             options and examples of a command

Exit codes: 0 success, 1 failed run, 2 bad usage.)";

int complain(int code, const std::string& message) {
  command_line::print_error("creek: " + message.substr(0, message.find('\n')));
  return code;
}

// A full disk or a closed pipe under standard output is a failed run, not a success.
int check_output(int code) {
  const int lost = command_line::flush_output();
  if (lost == 0 || code != 0) return code;
  return complain(failed, fmt::format("standard output: {}", std::strerror(lost)));
}

int run(int argc, char** argv) {
  command_line::command app("creek: tasks, MapReduce and messages on many cores", "creek");
  int exit_code = 0;
  app.version(std::string("creek ") + version());
  app.require_subcommand();
  app.footer(examples);
  for (const auto add : commands) add(app, exit_code);
  add_energy_option(app);
  if (!app.parse({argv + 1, argv + argc})) return 0;
  print_energy();
  return exit_code == 0 && coherence_faults_found() ? failed : exit_code;
}

}  // namespace
}  // namespace creek::tool

int main(int argc, char** argv) {
  using namespace creek::tool;
  creek::command_line::prepare_process();
  try {
    creek::warn_of_misspelt_variables();
    return check_output(run(argc, argv));
  } catch (const creek::usage_error& problem) {
    return complain(bad_usage, problem.what());
  } catch (const std::bad_alloc&) {
    return complain(failed, "memory: not enough");
  } catch (const std::exception& problem) {
    return complain(failed, problem.what());
  }
}
