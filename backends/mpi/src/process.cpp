// SPDX-License-Identifier: Apache-2.0
#include <creek/mpi/process.hpp>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>

#include <creek/core/error.hpp>
#include <creek/core/version.hpp>
#include <creek/mpi/processors.hpp>

#include "launcher.hpp"
#include "watch/watch.hpp"

namespace creek::mpi_backend {
namespace {

/// Throws creek::error unless all ranks run the same version of creek.
void require_equal_versions(channel& all) {
  std::array<char, 32> theirs{};
  std::snprintf(theirs.data(), theirs.size(), "%s", version());
  const std::array<char, 32> mine = theirs;
  all.broadcast(theirs.data(), theirs.size(), 0);
  if (mine == theirs) return;
  throw error(EPROTO,
              fmt::format("mpi: creek {} here, but {} at rank 0", mine.data(), theirs.data()));
}

/// Sets the number of workers that runtimes have by default if the rank shares processors.
void share_processors(const channel& all) {
  const double alone = allowed_processors::here().alone();
  const bool is_known = alone > 0;
  if (!is_known || std::max(1, static_cast<int>(alone)) == all.processors()) return;
  setenv("CREEK_WORKERS", std::to_string(all.processors()).c_str(), 0);
}

/// Waits until a launcher has read what was written to its pipe, at most half a second.
void wait_until_read() noexcept {
  struct stat what {};
  if (fstat(STDERR_FILENO, &what) != 0 || !S_ISFIFO(what.st_mode)) return;
  int left = 0;
  for (int i = 0; i < 500 && ioctl(STDERR_FILENO, FIONREAD, &left) == 0 && left > 0; ++i) {
    usleep(1000);
  }
}

std::string machine_name(const calls& by) {
  char name[256];
  by.processor(name, sizeof name);
  return name;
}

/// Ends the process if the launcher is of another MPI than the one in use, or of none: each rank
/// would be alone. Rank 0 says so; the others wait a moment, as some launchers end all ranks as
/// soon as one has ended.
void require_own_launcher(const channel& all) {
  const launched_rank as = launched_as();
  if (all.size() != 1 || as.ranks <= 1) return;
  if (as.rank == 0) {
    write_last_line(
        fmt::format("creek: mpi: started as one of {} ranks, but found no other ({}): start the "
                    "program by the launcher of its MPI, in Slurm by srun --mpi=pmix for Open MPI "
                    "or srun --mpi=pmi2 for MPICH\n",
                    as.ranks, all.implementation()));
  } else {
    sleep(1);
  }
  constexpr int misused = 2;
  std::_Exit(misused);
}

/// How a rank ends after an error: its exit code, and whether it is an error of MPI.
struct failure {
  int code = 1;
  bool by_mpi = false;
};

[[noreturn]] void abort_all(const calls& by, watch* watched, int rank, const char* why,
                            failure how) {
  const std::string line = fmt::format("creek: rank {} on {}: {}\n", rank, machine_name(by), why);
  std::fflush(stdout);
  if (watched == nullptr) {
    write_last_line(line);
  } else if (!watched->report(line, how.by_mpi)) {
    // Another line says why the run ends. The end of this rank could let the launcher kill others
    // first; the watcher ends this one.
    sleep(5);
    std::_Exit(1);
  }
  wait_until_read();
  by.abort(how.code);
  std::_Exit(how.code);
}

}  // namespace

void write_last_line(const std::string& line) noexcept {
  std::fflush(stdout);
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
  wait_until_read();
}

int run_rank(int& argc, char**& argv, function_ref<int(const calls&)> body) {
  const calls* by = nullptr;
  bool ends_here = false;
  int rank = 0, code = 0;
  std::unique_ptr<watch> watched;
  const auto failed = [&](const char* why, failure how = {}) {
    const bool is_up = by != nullptr && by->is_initialised() && !by->is_finalised();
    if (is_up) abort_all(*by, watched.get(), rank, why, how);
    write_last_line(fmt::format("creek: {}\n", why));
    return how.code;
  };
  try {
    by = &load();
    if (by->is_finalised()) throw usage_error("mpi: ranks() can be called once in a process");
    if (!by->is_initialised()) {
      watched = std::make_unique<watch>(watch_from_environment());
      require(*by, by->initialise(&argc, &argv), "initialise");
      ends_here = true;
    }
    // Sleeps of a few microseconds, which the kernel lengthens by 50 otherwise.
    prctl(PR_SET_TIMERSLACK, 1000ul);
    {
      channel all(*by, nullptr);
      rank = all.rank();
      require_own_launcher(all);
      require_equal_versions(all);
      if (ends_here) share_processors(all);
      if (watched) {
        watched->join(rank, all.size(), machine_name(*by),
                      [&](void* data, std::size_t bytes) { all.broadcast(data, bytes, 0); });
      }
      code = body(*by);
      if (ends_here) all.barrier();
    }
    watched.reset();
    if (ends_here) require(*by, by->finalise(), "finalise");
  } catch (const mpi_error& why) {
    return failed(why.what(), {.by_mpi = true});
  } catch (const usage_error& why) {
    return failed(why.what(), {.code = 2});
  } catch (const std::exception& why) {
    return failed(why.what());
  } catch (...) {
    return failed("an exception that is no std::exception");
  }
  return code;
}

}  // namespace creek::mpi_backend
