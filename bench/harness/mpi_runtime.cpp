// SPDX-License-Identifier: Apache-2.0
// The MPI peer: a run executes itself again under mpiexec, one rank per worker, each pinned to its
// own core. Runs only on this machine: no network, no remote shell, shared memory between ranks.
#include "mpi_runtime.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <thread>

namespace bench {
namespace {

/// Initializes MPI at the first rank() and ends it with the process.
class job {
 public:
  job() {
    MPI_Init(nullptr, nullptr);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  }
  ~job() { MPI_Finalize(); }
  job(const job&) = delete;
  job& operator=(const job&) = delete;
  int rank() const { return rank_; }

 private:
  int rank_ = 0;
};

/// Returns the ranks of a run: posts and round trips need two, whatever the number of workers.
unsigned ranks_of(const settings& s) {
  return s.workload == "group_step" ? s.workers : 2;
}

bool has(const std::string& workload) {
  for (const entry& each : table()) {
    if (each.what.name == workload) return true;
  }
  return false;
}

/// Returns options of Open MPI 4 and 5, for which the peer is built. Ranks with a processor each
/// must poll, even where mpiexec counts cores instead of processors.
std::vector<std::string> launcher(unsigned ranks) {
  std::vector<std::string> words{BENCH_MPIEXEC,
                                 "-n",
                                 std::to_string(ranks),
                                 "--quiet",
                                 "--allow-run-as-root",
                                 "--map-by",
                                 "core:OVERSUBSCRIBE",
                                 "--bind-to",
                                 "core:overload-allowed",
                                 "--mca",
                                 "pml",
                                 "ob1",
                                 "--mca",
                                 "btl",
                                 "self," BENCH_MPI_SHARED_MEMORY};
#if OMPI_MAJOR_VERSION < 5
  words.insert(words.end(), {"--mca", "plm", "isolated"});  // does not look for ssh
#endif
  if (ranks <= std::thread::hardware_concurrency()) {
    words.insert(words.end(), {"--mca", "mpi_yield_when_idle", "0"});
  }
  words.push_back(std::filesystem::read_symlink("/proc/self/exe").string());
  return words;
}

}  // namespace

int rank() {
  static const job joined;
  return joined.rank();
}

std::string peer_name() {
  return "mpi";
}

std::string peer_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string whole(text, static_cast<std::size_t>(length));
  return whole.substr(0, whole.find(','));  // the rest says who built it
}

void prepare_environment(const settings& s, char** argv) {
  if (!has(s.workload)) return;
  if (const char* mine = std::getenv("OMPI_COMM_WORLD_RANK")) {
    if (std::strcmp(mine, "0") != 0 && std::freopen("/dev/null", "w", stdout) == nullptr) {
      throw std::runtime_error("/dev/null cannot be opened");
    }
    return;
  }
  std::vector<std::string> words = launcher(ranks_of(s));
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  while (*++argv != nullptr) all.push_back(*argv);
  all.push_back(nullptr);
  execv(all.front(), all.data());
  std::fprintf(stderr, "mpi: %s: %s\n", all.front(), std::strerror(errno));
  std::exit(1);
}

}  // namespace bench
