// SPDX-License-Identifier: Apache-2.0
// The BLAS peers in one program: with --peer NAME it becomes that variant by executing
// itself again in the environment that the library needs. `--list` without a peer lists all
// of them.
#include "blas_runtime.hpp"

#include <dlfcn.h>
#include <link.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "blas_variants.hpp"

extern char** environ;

namespace bench {
namespace {

using blas::variant;

/// Variable that is set in a process whose environment is that of the variant it names.
constexpr const char* prepared = "CREEK_BENCH_BLAS";

const variant* chosen = nullptr;
std::vector<void*> libraries;  // in the order of loading

struct needed_routine {
  std::string_view workload;
  const char* name;
};
std::vector<needed_routine>& needed_routines() {
  static std::vector<needed_routine> all;
  return all;
}

void* symbol(const std::string& name) {
  for (void* library : libraries) {
    if (void* found = dlsym(library, (chosen->prefix + name).c_str())) return found;
  }
  return nullptr;
}

template <class Function, class... Arguments>
auto call(const char* name, Arguments... arguments) {
  return reinterpret_cast<Function*>(symbol(name))(arguments...);
}

std::string openblas_version() {
  std::string config = call<const char*()>("openblas_get_config");
  config = config.substr(0, config.find(' ', sizeof "OpenBLAS"));
  return config + ", kernel " + call<const char*()>("openblas_get_corename");
}

/// Returns the kernels of MKL. MKL does not report them, but loads them at the first call, from
/// libmkl_avx2.so or a similar file.
std::string mkl_kernel() {
  double x = 1;
  const int one = 1;
  call<void(const int*, const double*, double*, const int*)>("dscal_", &one, &x, &x, &one);
  std::string kernel = "unknown";
  const auto look = [](dl_phdr_info* info, std::size_t, void* to) {
    const std::string file = std::filesystem::path(info->dlpi_name).filename();
    for (const char* name : {"avx10", "avx512", "avx2", "mc3", "def"}) {
      if (file.starts_with(std::string("libmkl_") + name + ".so")) {
        *static_cast<std::string*>(to) = name;
      }
    }
    return 0;
  };
  dl_iterate_phdr(look, &kernel);
  return kernel;
}

std::string mkl_version() {
  struct version {  // MKLVersion of mkl_types.h
    int major, minor, update;
    const char *status, *build, *processor, *platform;
  } v{};
  call<void(version*)>("MKL_Get_Version", &v);
  return "MKL " + std::to_string(v.major) + "." + std::to_string(v.minor) + "." +
         std::to_string(v.update) + ", kernel " + mkl_kernel();
}

std::string lapack_version() {
  int major = 0, minor = 0, patch = 0;
  call<void(int*, int*, int*)>("ilaver_", &major, &minor, &patch);
  return "LAPACK " + std::to_string(major) + "." + std::to_string(minor) + "." +
         std::to_string(patch);
}

/// Returns the kernel that BLIS uses, by its number for this processor and environment.
std::string blis_kernel() {
  call<void()>("bli_init");  // needed for the number that BLIS_ARCH_TYPE stands for
  return call<const char*(int)>("bli_arch_string", call<int()>("bli_arch_query_id"));
}

std::string blis_version() {
  return std::string("BLIS ") + call<const char*()>("bli_info_get_version_str") + ", kernel " +
         blis_kernel();
}

/// Returns the library's own version text, with the kernel that it chose.
std::string version() {
  if (symbol("openblas_get_corename") != nullptr) return openblas_version();
  if (symbol("MKL_Get_Version") != nullptr) return mkl_version();
  if (symbol("bli_arch_query_id") != nullptr) return blis_version();
  return symbol("ilaver_") != nullptr ? lapack_version() : "unknown";
}

/// Tells the caller of --list how to get a variant.
void print_missing(const variant& v, const std::string& how) {
  std::puts(nlohmann::json{{"peer", v.name}, {"missing", how}}.dump().c_str());
  std::fflush(stdout);
}

/// Gives up on a variant; in a listing a missing variant is no failure.
[[noreturn]] void give_up(const settings& s, const std::string& why) {
  if (s.workload.empty()) {
    print_missing(*chosen, why);
    std::exit(0);
  }
  std::fprintf(stderr, "%s: %s\n", chosen->name, why.c_str());
  std::exit(1);
}

/// Returns why a variant cannot run here, or an empty text.
std::string obstacle(const variant& v) {
  if (blas::files_of(v).empty()) return v.how;
  if (v.runs_here != nullptr && !v.runs_here()) return "this processor cannot run its kernel";
  return {};
}

/// Lists all variants with one process each, one after the other.
[[noreturn]] void list_all(char** argv) {
  for (const variant& v : blas::variants()) {
    if (const std::string why = obstacle(v); !why.empty()) {
      print_missing(v, why);
      continue;
    }
    std::string arguments[] = {argv[0], "--peer", v.name, "--list"};
    char* list[] = {arguments[0].data(), arguments[1].data(), arguments[2].data(),
                    arguments[3].data(), nullptr};
    pid_t child = 0;
    int status = 1;
    if (posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, list, environ) == 0) {
      waitpid(child, &status, 0);
    }
    if (status != 0) print_missing(v, "its library was found and does not load");
  }
  std::exit(0);
}

/// Removes all variables that these libraries read, whatever the caller set for them: "as it
/// starts" means without any.
void clear_environment() {
  std::vector<std::string> names;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    for (const char* prefix :
         {"OPENBLAS_", "GOTO_", "OMP_", "GOMP_", "KMP_", "MKL_", "BLIS_", "BLAS_"}) {
      if (text.starts_with(prefix)) names.emplace_back(text.substr(0, text.find('=')));
    }
  }
  for (const auto& name : names) unsetenv(name.c_str());
}

/// Executes this program again in the environment of the chosen variant.
void begin_again(const settings& s, char** argv) {
  clear_environment();
  const std::string workers = std::to_string(s.workers);
  for (const char* name :
       {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"}) {
    setenv(name, workers.c_str(), 1);
  }
  setenv("MKL_DYNAMIC", "FALSE", 1);  // else one thread where two processors share a core
  for (const auto& [name, value] : chosen->environment) setenv(name, value, 1);
  setenv(prepared, chosen->name, 1);
  execv("/proc/self/exe", argv);
  give_up(s, std::string("cannot execute itself again: ") + std::strerror(errno));
}

void load(const settings& s) {
  if (const std::string why = obstacle(*chosen); !why.empty()) give_up(s, why);
  for (const auto& file : blas::files_of(*chosen)) {
    // Global, so that LAPACK's calls of the BLAS go to the one loaded before it.
    void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (library == nullptr) give_up(s, dlerror());
    libraries.push_back(library);
  }
  const std::string wanted = std::string("kernel ") + chosen->kernel;
  if (*chosen->kernel != '\0' && version().find(wanted) == std::string::npos) {
    give_up(s, "the library did not take that kernel: " + version());
  }
}

}  // namespace

void* blas::find_routine(const std::string& name) {
  return symbol(name + "_");
}

blas::registration::registration(const description& what, run_function run, const char* routine) {
  needed_routines().push_back({what.name, routine});
  const bench::registration registered(what, run);
}

std::string peer_name() {
  return chosen == nullptr ? "blas" : chosen->name;
}
std::string peer_version() {
  return version();
}

void prepare_environment(const settings& s, char** argv) {
  if (s.peer.empty() && s.workload.empty()) list_all(argv);
  for (const variant& v : blas::variants()) {
    if (s.peer == v.name) chosen = &v;
  }
  if (chosen == nullptr) {
    std::fprintf(stderr, "blas: --peer has to be one of those that --list names\n");
    std::exit(2);
  }
  const char* done = std::getenv(prepared);
  if (done == nullptr || s.peer != done) begin_again(s, argv);
  if (s.n > chosen->largest) {
    std::fprintf(stderr, "%s: takes too long beyond n = %lld\n", chosen->name,
                 static_cast<long long>(chosen->largest));
    std::exit(3);
  }
  load(s);
  for (const auto& needed : needed_routines()) {
    if (blas::find_routine(needed.name) == nullptr) {
      std::erase_if(table(), [&](const entry& e) { return e.what.name == needed.workload; });
    }
  }
}

}  // namespace bench
