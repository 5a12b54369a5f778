// SPDX-License-Identifier: Apache-2.0
// Records the machine and the state of the source, so that figures stay meaningful later.
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include <creek/core/error.hpp>

#include "process.hpp"
#include "report.hpp"

namespace creek::tool::bench {
namespace {

std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) {
      const auto value = line.find(": ");
      if (value != std::string::npos) return line.substr(value + 2);
    }
  }
  return "unknown";
}

unsigned allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<unsigned>(CPU_COUNT(&set));
}

std::string kernel() {
  utsname name{};
  if (uname(&name) != 0) return "unknown";
  return std::string(name.sysname) + " " + name.release;
}

/// Returns git's output in the folder of this program; empty without git or a work tree.
std::string git(const std::vector<std::string>& command) {
  std::vector<std::string> arguments{"-C", own_folder().string()};
  arguments.insert(arguments.end(), command.begin(), command.end());
  try {
    const auto said = run_process("git", arguments, std::chrono::seconds(10));
    if (said.exit_code != 0) return {};
    return said.output.substr(0, said.output.find_last_not_of('\n') + 1);
  } catch (const creek::error&) {
    return {};
  }
}

}  // namespace

surroundings look_around() {
  surroundings s;
  s.cpu = cpu_model();
  s.cpus = allowed_cpus();
  s.kernel = kernel();
  if (getloadavg(&s.load, 1) != 1) s.load = 0;
  s.commit = git({"rev-parse", "HEAD"});
  s.modified = !s.commit.empty() && !git({"status", "--porcelain", "-uno"}).empty();
  return s;
}

}  // namespace creek::tool::bench
