// SPDX-License-Identifier: Apache-2.0
// Finds the module of the implementation of MPI that this process belongs to.
#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/mpi/calls.hpp>
#include <creek/mpi/process.hpp>
#include "launcher.hpp"
#include "lone_rank.hpp"

namespace creek::mpi_backend {
namespace {

namespace fs = std::filesystem;

struct implementation {
  const char* name;
  const char* package;   ///< of Debian, for errors
  const char* launched;  ///< a variable that its launcher sets
  const char* symbol;    ///< a name that only its library has
};
constexpr std::array<implementation, 2> implementations{
    {{"openmpi", "libopenmpi-dev", "OMPI_COMM_WORLD_SIZE", "ompi_mpi_comm_world"},
     {"mpich", "libmpich-dev", "PMI_SIZE", "MPII_Version_ABI"}}};

/// Returns the folders in which a module may be: that of CREEK_MPI_MODULES, beside the library that
/// contains this code and beside the program, where both are installed, and where creek usually is.
std::vector<fs::path> folders() {
  std::vector<fs::path> all;
  if (const char* const given = std::getenv("CREEK_MPI_MODULES")) all.emplace_back(given);
  std::error_code fault;
  Dl_info here{};
  if (dladdr(reinterpret_cast<void*>(&folders), &here) != 0 && here.dli_fname != nullptr) {
    const fs::path file = fs::canonical(here.dli_fname, fault);
    if (!fault) all.push_back(file.parent_path());
  }
  all.push_back(fs::read_symlink("/proc/self/exe", fault).parent_path());
  for (std::size_t i = 0, end = all.size(); i < end; ++i) {
    for (const char* const below : {"creek", CREEK_MODULE_FOLDER}) all.push_back(all[i] / below);
  }
  all.insert(all.end(), {"/usr/local/lib/creek", "/usr/" CREEK_LIBDIR "/creek"});
  return all;
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

/// Returns the name that CREEK_MPI chooses, or an empty one.
std::string chosen() {
  const char* const wanted = std::getenv("CREEK_MPI");
  if (wanted == nullptr || *wanted == '\0') return {};
  for (const implementation& each : implementations) {
    if (std::string_view(wanted) == each.name) return wanted;
  }
  throw usage_error(fmt::format("CREEK_MPI={}: valid are openmpi and mpich", wanted));
}

/// Returns whether an implementation is in this process already.
bool is_here(const implementation& one) {
  return dlsym(RTLD_DEFAULT, one.symbol) != nullptr;
}

}  // namespace

const calls& load(const std::string& name) {
  std::string wanted = name.empty() ? chosen() : name;
  for (const implementation& each : implementations) {
    if (wanted.empty() && is_here(each)) wanted = each.name;
  }
  if (wanted.empty() && !is_launched()) return lone_rank;
  if (wanted.empty()) wanted = mpi_of_srun();
  std::string why;
  // A launcher that sets such a variable may be of yet another kind, so it is a preference only.
  for (const bool launched : {true, false}) {
    for (const implementation& each : implementations) {
      const bool fits = wanted.empty() ? (std::getenv(each.launched) != nullptr) == launched
                                       : wanted == each.name && launched;
      if (!fits) continue;
      if (const calls* const found = find(each.name, why)) return *found;
    }
  }
  refuse(wanted, why);
}

}  // namespace creek::mpi_backend
