// SPDX-License-Identifier: Apache-2.0
// Finds backends by name: the only place that knows all names. The host backend is in this library.
// The others are linked into the program, which this file sees by weak names, or are shared
// libraries, loaded when first asked for.
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <string>

#include <creek/core/error.hpp>
#include <creek/host.hpp>
#include <creek/host/cpu_limit.hpp>
#include <creek/tasking/ext/backend_registry.hpp>

#ifndef CREEK_LIBRARY_VERSION
#pragma weak creek_backend_scc
#pragma weak creek_backend_tbb
#endif

namespace creek {

namespace ext {

namespace {

std::unique_ptr<backend> make_host(const scheduler_options& options) {
  return host(options).make();
}

constexpr backend_entry host_entry{.make = &make_host, .max_cpus = 0};
constexpr std::array<const char*, 3> names{"host", "scc", "tbb"};

#ifdef CREEK_LIBRARY_VERSION
/// Returns the entry of the shared library of a backend, which stays loaded, or nullptr without it.
const backend_entry* find_entry(const std::string& name) noexcept {
  if (name == "host") return &host_entry;
  const std::string file = "libcreek_" + name + ".so." CREEK_LIBRARY_VERSION;
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  return static_cast<const backend_entry*>(dlsym(library, ("creek_backend_" + name).c_str()));
}
constexpr const char* remedy = "install its library libcreek_";
#else
/// Returns the entry of a backend that is linked into this program, or nullptr.
const backend_entry* find_entry(const std::string& name) noexcept {
  if (name == "host") return &host_entry;
  if (name == "scc") return &creek_backend_scc;
  return &creek_backend_tbb;
}
constexpr const char* remedy = "link the component creek::";
#endif

[[noreturn]] void refuse(const std::string& name) {
  std::string known;
  for (const char* each : names) {
    if (name == each) {
      throw usage_error("backend '" + name + "' is not in this program: " + remedy + name +
                        " (CMake: find_package(creek COMPONENTS " + name + "), pkg-config: creek-" +
                        name + ")");
    }
    if (find_entry(each) != nullptr) known += (known.empty() ? "" : ", ") + std::string(each);
  }
  throw usage_error("unknown backend '" + name + "'; this program has: " + known);
}

}  // namespace

std::unique_ptr<backend> make_backend(std::string_view name, const scheduler_options& options) {
  const std::string wanted(name);
  const bool known = std::ranges::find(names, name) != names.end();
  const backend_entry* const entry = known ? find_entry(wanted) : nullptr;
  if (entry == nullptr) refuse(wanted);
  scheduler_options chosen = options;
  if (chosen.workers == 0 && entry->max_cpus != 0) {
    chosen.workers = std::min(host_backend::read_cpu_limit().workers, entry->max_cpus);
  }
  return entry->make(chosen);
}

}  // namespace ext

std::vector<std::string> backends() {
  std::vector<std::string> found;
  for (const char* name : ext::names) {
    if (ext::find_entry(name) != nullptr) found.emplace_back(name);
  }
  return found;
}

}  // namespace creek
