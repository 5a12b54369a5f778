// SPDX-License-Identifier: Apache-2.0
// Finds the module of the implementation of MPI that this process belongs to.
#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <creek/core/error.hpp>
#include <creek/mpi/calls.hpp>
#include <creek/mpi/process.hpp>

namespace creek::mpi_backend {
namespace {

namespace fs = std::filesystem;

struct implementation {
  const char* name;
  const char* package;   ///< of Debian, for errors
  const char* launched;  ///< a variable that its launcher sets
};
constexpr std::array<implementation, 2> implementations{
    {{"openmpi", "libopenmpi-dev", "OMPI_COMM_WORLD_SIZE"}, {"mpich", "libmpich-dev", "PMI_SIZE"}}};

/// Returns the folders in which a module may be: that of CREEK_MPI_MODULES, beside what contains
/// this code, a program or a library, where both are installed, and where creek usually is.
std::array<fs::path, 6> folders() {
  const char* const given = std::getenv("CREEK_MPI_MODULES");
  Dl_info here{};
  fs::path folder;
  std::error_code fault;
  if (dladdr(reinterpret_cast<void*>(&folders), &here) != 0 && here.dli_fname != nullptr) {
    const fs::path file = fs::canonical(here.dli_fname, fault);
    folder = (fault ? fs::read_symlink("/proc/self/exe", fault) : file).parent_path();
  }
  return {given == nullptr ? folder : fs::path(given),
          folder,
          folder / "creek",
          folder / CREEK_MODULE_FOLDER,
          "/usr/local/lib/creek",
          "/usr/lib/creek"};
}

/// Returns the table of a module, or null; then `why` says what the loader said, if there is one.
const calls* find(const std::string& name, std::string& why) {
  const std::string file = "creek_mpi_" + name + ".so";
  for (const fs::path& folder : folders()) {
    std::error_code fault;
    if (!fs::exists(folder / file, fault)) continue;
    // Open MPI's own modules take MPI's names from the program.
    void* const module = dlopen((folder / file).c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (module == nullptr) {
      why = fmt::format(": {}", dlerror());
      return nullptr;
    }
    using get = const calls*();
    auto* const get_calls = reinterpret_cast<get*>(dlsym(module, calls_name));
    const calls* const found = get_calls == nullptr ? nullptr : get_calls();
    if (found != nullptr && found->layout == calls::current) return found;
    why = fmt::format(": {} is of another version of creek", (folder / file).string());
    return nullptr;
  }
  return nullptr;
}

[[noreturn]] void refuse(const std::string& name, const std::string& why) {
  std::string packages;
  for (const implementation& each : implementations) {
    if (!name.empty() && name != each.name) continue;
    packages += fmt::format("{}{}", packages.empty() ? "" : " or ", each.package);
  }
  const std::string remedy = fmt::format(
      " beside the program, in lib/creek or in CREEK_MPI_MODULES; build creek with the package {}",
      packages);
  throw usage_error(fmt::format("mpi: no module for {}{}",
                                name.empty() ? "Open MPI or MPICH" : name,
                                why.empty() ? remedy : why));
}

/// Returns the name of the implementation that started this process, or an empty one.
std::string launcher() {
  if (const char* const wanted = std::getenv("CREEK_MPI"); wanted != nullptr && *wanted != '\0') {
    for (const implementation& each : implementations) {
      if (wanted == std::string(each.name)) return wanted;
    }
    throw usage_error(fmt::format("CREEK_MPI={}: valid are openmpi and mpich", wanted));
  }
  for (const implementation& each : implementations) {
    if (std::getenv(each.launched) != nullptr) return each.name;
  }
  return {};
}

}  // namespace

const calls& load(const std::string& name) {
  const std::string wanted = name.empty() ? launcher() : name;
  std::string why;
  for (const implementation& each : implementations) {
    if (!wanted.empty() && wanted != each.name) continue;
    if (const calls* const found = find(each.name, why)) return *found;
  }
  refuse(wanted, why);
}

}  // namespace creek::mpi_backend
