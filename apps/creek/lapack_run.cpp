// SPDX-License-Identifier: Apache-2.0
// `creek lapack-run`: runs a program on the drop-in LAPACK, and says so if none of its calls get
// there.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <creek/core/error.hpp>

#include "command_line/command.hpp"
#include "command_line/process.hpp"
#include "commands.hpp"

extern char** environ;

namespace creek::tool {
namespace {

namespace fs = std::filesystem;

struct lapack_run_arguments {
  std::vector<std::string> command;
  bool ilp64 = false;
  bool report = false;
};

/// Returns the library, as installed or built with this tool. Throws usage_error without one.
fs::path library_file(bool ilp64) {
  const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
  const fs::path places[] = {folder / CREEK_LIBRARY_FOLDER, folder / "../apps/lapack"};
  const std::string name = ilp64 ? "libcreek_lapack64.so." : "libcreek_lapack.so.";
  for (const fs::path& place : places) {
    const fs::path file = place / (name + CREEK_LIBRARY_VERSION);
    std::error_code failed;
    if (fs::exists(file, failed)) return fs::canonical(file);
  }
  throw usage_error(fmt::format("lapack-run: {}{} is not in {}: install or build it", name,
                                CREEK_LIBRARY_VERSION, places[0].lexically_normal().string()));
}

/// A file without content that lives as long as this.
class temporary_file {
 public:
  temporary_file() : name_((fs::temp_directory_path() / "creek_lapack.XXXXXX").string()) {
    const int file = mkstemp(name_.data());
    if (file < 0) throw error(errno, name_);
    close(file);
  }
  ~temporary_file() { unlink(name_.c_str()); }
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;
  const std::string& name() const noexcept { return name_; }
  std::string content() const {
    std::ifstream file(name_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::string name_;
};

/// Leaves a signal from the terminal to the command, which gets it as well.
class signals_ignored {
 public:
  signals_ignored() : interrupt_(signal(SIGINT, SIG_IGN)), quit_(signal(SIGQUIT, SIG_IGN)) {}
  ~signals_ignored() {
    signal(SIGINT, interrupt_);
    signal(SIGQUIT, quit_);
  }
  signals_ignored(const signals_ignored&) = delete;
  signals_ignored& operator=(const signals_ignored&) = delete;

 private:
  sighandler_t interrupt_, quit_;
};

/// Runs the command with the environment of this process; returns its exit code, or 128 and the
/// signal that ended it. Throws error if it cannot be started.
int run(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& each : words) arguments.push_back(each.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  if (const int fault =
          posix_spawnp(&child, arguments[0], nullptr, nullptr, arguments.data(), environ)) {
    throw error(fault, "lapack-run: " + words[0]);
  }
  const signals_ignored meanwhile;
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw error(errno, "lapack-run: " + words[0]);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Says which calls arrived, by the reports of the command's processes; says why if none did.
void explain(const lapack_run_arguments& given, const std::string& reports) {
  bool arrived = false, other_libraries = false;
  std::istringstream lines(reports);
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with(": loaded") || line.find(": no calls, and") != line.npos) continue;
    if (given.report) command_line::print_error(line);
    arrived = arrived || line.find(" calls of ") != std::string::npos;
    other_libraries = other_libraries || line.find(": no calls, but ") != std::string::npos;
  }
  if (arrived) return;
  const char* const why =
      reports.empty() ? "it is linked statically, has special rights, or clears LD_PRELOAD"
      : other_libraries
          ? "it calls routines that creek does not have, or its library calls its own (--report "
            "names it; docs/lapack.md)"
          : "it has no library of LAPACK or the BLAS, or has it linked statically";
  command_line::print_error(
      fmt::format("creek: lapack-run: no call of {} reached creek: {}", given.command[0], why));
}

void lapack_run(const lapack_run_arguments& given, int& exit_code) {
  std::string preloaded = library_file(given.ilp64).string();
  if (const char* const others = std::getenv("LD_PRELOAD"); others != nullptr && *others != '\0') {
    preloaded = preloaded + ":" + others;
  }
  const temporary_file reports;
  setenv("LD_PRELOAD", preloaded.c_str(), 1);
  setenv("CREEK_LAPACK_VERBOSE", reports.name().c_str(), 1);
  exit_code = run(given.command);
  explain(given, reports.content());
}

}  // namespace

void add_lapack_run(command_line::command& app, int& exit_code) {
  auto given = std::make_shared<lapack_run_arguments>();
  auto* command = app.add_subcommand("lapack-run",
                                     "Run a program with creek's routines of LAPACK and the BLAS");
  command->add_flag("--ilp64", given->ilp64,
                    "For a program that calls the usual names with 64-bit integers");
  command->add_flag("--report", given->report,
                    "Print which routines were called in each process, how often and how fast");
  command->add_command_to_run(given->command, "The program and its arguments");
  command->footer(R"(Examples:
  creek lapack-run python3 simulate.py
  creek lapack-run --report octave --eval 'A = rand(2000); A \ A;'

The exit code is that of the program; if none of its calls reached creek, one line says why.)");
  command->callback([given, &exit_code] { lapack_run(*given, exit_code); });
}

}  // namespace creek::tool
