// SPDX-License-Identifier: Apache-2.0
// `creek lapack-run`: runs a program on the drop-in LAPACK, and says so if none of its calls get
// there.
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
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

/// A folder of this user's own that lives as long as this.
class temporary_folder {
 public:
  temporary_folder() : name_((fs::temp_directory_path() / "creek_lapack.XXXXXX").string()) {
    if (mkdtemp(name_.data()) == nullptr) throw error(errno, name_);
  }
  ~temporary_folder() {
    std::error_code failed;
    fs::remove_all(name_, failed);
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  std::string file(const char* name) const { return name_ + "/" + name; }

 private:
  std::string name_;
};

std::string content_of(const std::string& file) {
  std::ifstream opened(file);
  return {std::istreambuf_iterator<char>(opened), {}};
}

std::atomic<pid_t> running{0};

void pass_on(int signal) {
  if (const pid_t child = running.load()) kill(child, signal);
}

/// Leaves signals to the command while it runs: those of the terminal, which gives them to both,
/// and others, which it passes on.
class signals_left {
 public:
  signals_left() {
    for (std::size_t i = 0; i < std::size(numbers); ++i) {
      struct sigaction action = {};
      action.sa_handler = i < of_terminal ? SIG_IGN : &pass_on;
      sigaction(numbers[i], &action, &before_[i]);
    }
  }
  ~signals_left() {
    for (std::size_t i = 0; i < std::size(numbers); ++i) {
      sigaction(numbers[i], &before_[i], nullptr);
    }
  }
  signals_left(const signals_left&) = delete;
  signals_left& operator=(const signals_left&) = delete;

  static sigset_t passed_on() {
    sigset_t some;
    sigemptyset(&some);
    for (std::size_t i = of_terminal; i < std::size(numbers); ++i) sigaddset(&some, numbers[i]);
    return some;
  }
  /// Returns those that this process ignores only meanwhile.
  sigset_t for_command() const {
    sigset_t some;
    sigemptyset(&some);
    for (std::size_t i = 0; i < of_terminal; ++i) {
      if (before_[i].sa_handler != SIG_IGN) sigaddset(&some, numbers[i]);
    }
    return some;
  }

 private:
  static constexpr int numbers[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
  static constexpr std::size_t of_terminal = 2;
  struct sigaction before_[std::size(numbers)];
};

/// Runs the command with the environment of this process; returns its exit code, or 128 and the
/// signal that ended it. Throws error if it cannot be started.
int run(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& each : words) arguments.push_back(each.data());
  arguments.push_back(nullptr);
  const signals_left meanwhile;
  const sigset_t defaults = meanwhile.for_command();
  posix_spawnattr_t how;
  posix_spawnattr_init(&how);
  posix_spawnattr_setsigdefault(&how, &defaults);
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  pid_t child = 0;
  // A signal for the command waits until there is one to pass it on to.
  sigset_t before;
  const sigset_t passed_on = signals_left::passed_on();
  pthread_sigmask(SIG_BLOCK, &passed_on, &before);
  posix_spawnattr_setsigmask(&how, &before);
  const int fault = posix_spawnp(&child, arguments[0], nullptr, &how, arguments.data(), environ);
  if (fault == 0) running = child;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  posix_spawnattr_destroy(&how);
  if (fault != 0) throw error(fault, "lapack-run: " + words[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw error(errno, "lapack-run: " + words[0]);
  }
  running = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Says which calls arrived, by the reports of the command's processes; says why if none did.
void explain(const lapack_run_arguments& given, const std::string& reports) {
  bool arrived = false, other_libraries = false;
  std::set<std::string> silent;  // processes that have the library and have not reported
  std::istringstream lines(reports);
  for (std::string line; std::getline(lines, line);) {
    const std::string process = line.substr(0, line.find(')'));
    if (line.ends_with(": loaded")) {
      silent.insert(process);
      continue;
    }
    silent.erase(process);
    if (line.find(": no calls, and") != line.npos) continue;
    if (given.report) command_line::print_error(line);
    arrived = arrived || line.find(" calls of ") != line.npos;
    other_libraries = other_libraries || line.find(": no calls, but ") != line.npos;
  }
  if (arrived) return;
  const std::string& program = given.command[0];
  if (!silent.empty() && !other_libraries) {
    return command_line::print_error(
        fmt::format("creek: lapack-run: {} loaded creek, and ended without telling of its calls "
                    "(by a signal, by _exit(), or by exec)",
                    program));
  }
  const char* const why =
      reports.empty() ? "it is linked statically, has special rights, or clears LD_PRELOAD"
      : other_libraries
          ? "it calls routines that creek does not have, or its library calls its own (--report "
            "names it; docs/lapack.md)"
          : "it has no library of LAPACK or the BLAS, or has it linked statically";
  command_line::print_error(
      fmt::format("creek: lapack-run: no call of {} reached creek: {}", program, why));
}

void lapack_run(const lapack_run_arguments& given, int& exit_code) {
  std::string preloaded = library_file(given.ilp64).string();
  if (preloaded.find_first_of(" :") != preloaded.npos) {
    throw usage_error("lapack-run: LD_PRELOAD cannot name " + preloaded +
                      ", which has a space or a colon in it");
  }
  if (const char* const others = std::getenv("LD_PRELOAD"); others != nullptr && *others != '\0') {
    preloaded = preloaded + ":" + others;
  }
  const temporary_folder folder;
  const std::string reports = folder.file("reports");
  setenv("LD_PRELOAD", preloaded.c_str(), 1);
  setenv("CREEK_LAPACK_VERBOSE", reports.c_str(), 1);
  exit_code = run(given.command);
  explain(given, content_of(reports));
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
