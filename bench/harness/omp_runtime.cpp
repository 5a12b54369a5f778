// SPDX-License-Identifier: Apache-2.0
// The OpenMP peers. The code is GCC's; libomp provides its GOMP_* entry points too, so one set of
// objects gives a libgomp and a libomp executable. The dynamic linker tells which one runs, not the
// build.
#include <dlfcn.h>
#include <omp.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "workload.hpp"

namespace bench {
namespace {

std::string library() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&omp_get_max_threads), &info) == 0) return "unknown";
  std::error_code ignored;
  const auto real = std::filesystem::canonical(info.dli_fname, ignored);
  return (ignored ? std::filesystem::path(info.dli_fname) : real).filename().string();
}

bool is_libomp() {
  return dlsym(RTLD_DEFAULT, "__kmpc_fork_call") != nullptr;
}

}  // namespace

std::string peer_name() {
  return is_libomp() ? "libomp" : "libgomp";
}

std::string peer_version() {
  return library() + " under code of GCC " __VERSION__;
}

/// Disables spinning: wake-up latency needs sleeping threads, but libomp spins for 200 ms by
/// default and libgomp for some time, and both read their settings when they are loaded.
void prepare_environment(const settings& s, char** argv) {
  if (s.workload != "wakeup" || std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  setenv("OMP_WAIT_POLICY", "passive", 1);
  setenv("KMP_BLOCKTIME", "0", 1);
  execv("/proc/self/exe", argv);
}

}  // namespace bench
