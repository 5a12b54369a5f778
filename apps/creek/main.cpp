// SPDX-License-Identifier: Apache-2.0
// The tool's entry: parses the command line and turns every failure into one line on standard error
// and an exit code, 2 for bad usage and 1 for a failed run.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <new>
#include <string>

#include <creek/core/error.hpp>
#include <creek/core/version.hpp>

#include "chip_options.hpp"
#include "commands.hpp"
#include "energy.hpp"

namespace creek::tool {
namespace {

constexpr int failed = 1, bad_usage = 2;

constexpr void (*commands[])(CLI::App&, int&) = {
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
  fmt::print(stderr, "creek: {}\n", message.substr(0, message.find('\n')));
  return code;
}

// CLI11's messages in the form `what: why`.
std::string describe(const CLI::App& app, const CLI::ParseError& problem) {
  const std::string text = problem.what();
  if (app.get_subcommands().empty() && !app.remaining().empty()) {
    return app.remaining().front() + ": no such command or option (see creek --help)";
  }
  if (dynamic_cast<const CLI::RequiredError*>(&problem) != nullptr) {
    return "command line: " + text + " (see --help)";
  }
  if (dynamic_cast<const CLI::ExtrasError*>(&problem) != nullptr) {
    const auto colon = text.rfind(": ");
    const auto what = colon == std::string::npos ? text : text.substr(colon + 2);
    return what + ": not an option or argument of this command (see --help)";
  }
  return text.find(": ") == std::string::npos ? "command line: " + text : text;
}

// A full disk or a closed pipe under standard output is a failed run, not a success.
int check_output(int code) {
  errno = 0;
  std::cout.flush();
  const bool lost = std::fflush(stdout) != 0 || std::ferror(stdout) != 0 || !std::cout;
  if (!lost || code != 0) return code;
  return complain(failed,
                  fmt::format("standard output: {}", std::strerror(errno != 0 ? errno : EIO)));
}

int run(int argc, char** argv) {
  CLI::App app("creek: tasks, MapReduce and messages on many cores", "creek");
  int exit_code = 0;
  app.set_version_flag("--version", std::string("creek ") + version());
  app.require_subcommand(1);
  app.footer(examples);
  for (const auto add : commands) add(app, exit_code);
  add_energy_option(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help_or_version) {
    return app.exit(help_or_version);
  } catch (const CLI::ParseError& problem) {
    return complain(bad_usage, describe(app, problem));
  }
  print_energy();
  return exit_code == 0 && coherence_faults_found() ? failed : exit_code;
}

}  // namespace
}  // namespace creek::tool

int main(int argc, char** argv) {
  using namespace creek::tool;
  try {
    return check_output(run(argc, argv));
  } catch (const creek::usage_error& problem) {
    return complain(bad_usage, problem.what());
  } catch (const std::bad_alloc&) {
    return complain(failed, "memory: not enough");
  } catch (const std::exception& problem) {
    return complain(failed, problem.what());
  }
}
