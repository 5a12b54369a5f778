// SPDX-License-Identifier: Apache-2.0
// Finds backends by name: the only place that knows all names. The host backend is in this library.
// The others are linked into the program, which this file sees by weak names, or are shared
// libraries, loaded when first asked for.
#include <creek/core/shared_library.hpp>

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

struct known_backend {
  const char* name;
  bool runs_repeat = false;  ///< as the backend's executor_traits say
};
constexpr std::array<known_backend, 3> known_backends{
    {{.name = "host"}, {.name = "scc", .runs_repeat = true}, {.name = "tbb"}}};

/// Returns the backend of this name, or nullptr.
const known_backend* find_known(std::string_view name) noexcept {
  const auto* const found = std::ranges::find(known_backends, name, &known_backend::name);
  return found == known_backends.end() ? nullptr : found;
}

#ifdef CREEK_LIBRARY_VERSION
/// Returns the entry of the shared library of a backend, which stays loaded, or nullptr without it.
const backend_entry* find_entry(const std::string& name) noexcept {
  if (name == "host") return &host_entry;
  const std::string file = "libcreek_" + name + ".so." CREEK_LIBRARY_VERSION;
  const std::string entry = "creek_backend_" + name;
  return static_cast<const backend_entry*>(shared_library(file.c_str()).find(entry.c_str()));
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
  if (find_known(name) != nullptr) {
    throw usage_error("backend '" + name + "' is not in this program: " + remedy + name +
                      " (CMake: find_package(creek COMPONENTS " + name + "), pkg-config: creek-" +
                      name + ")");
  }
  std::string known;
  for (const std::string& each : backends()) known += (known.empty() ? "" : ", ") + each;
  throw usage_error("unknown backend '" + name + "'; this program has: " + known);
}

}  // namespace

bool runs_repeat_on(std::string_view backend_name) noexcept {
  const known_backend* const found = find_known(backend_name);
  return found != nullptr && found->runs_repeat;
}

std::unique_ptr<backend> make_backend(std::string_view name, const scheduler_options& options) {
  const std::string wanted(name);
  const backend_entry* const entry = find_known(name) != nullptr ? find_entry(wanted) : nullptr;
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
  for (const ext::known_backend& each : ext::known_backends) {
    if (ext::find_entry(each.name) != nullptr) found.emplace_back(each.name);
  }
  return found;
}

}  // namespace creek
