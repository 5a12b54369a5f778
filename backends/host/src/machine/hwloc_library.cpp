// SPDX-License-Identifier: Apache-2.0
#include "hwloc_library.hpp"

#include <dlfcn.h>

namespace creek::host_backend {

namespace {

template <class Function>
bool find(void* library, const char* name, Function*& function) noexcept {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

/// Fills the table; returns false without the library, or if it lacks a function.
bool load(hwloc_library& hwloc) noexcept {
  static_assert(HWLOC_API_VERSION >= 0x20000, "the library below has the interface of hwloc 2");
  void* const library = dlopen("libhwloc.so.15", RTLD_NOW | RTLD_LOCAL);
  return library != nullptr && find(library, "hwloc_topology_init", hwloc.topology_init) &&
         find(library, "hwloc_topology_destroy", hwloc.topology_destroy) &&
         find(library, "hwloc_topology_load", hwloc.topology_load) &&
         find(library, "hwloc_topology_set_xml", hwloc.topology_set_xml) &&
         find(library, "hwloc_topology_set_synthetic", hwloc.topology_set_synthetic) &&
         find(library, "hwloc_topology_set_icache_types_filter",
              hwloc.topology_set_icache_types_filter) &&
         find(library, "hwloc_get_type_depth", hwloc.get_type_depth) &&
         find(library, "hwloc_get_obj_by_depth", hwloc.get_obj_by_depth) &&
         find(library, "hwloc_bitmap_next", hwloc.bitmap_next) &&
         find(library, "hwloc_obj_type_is_cache", hwloc.obj_type_is_cache) &&
         find(library, "hwloc_distances_get_by_type", hwloc.distances_get_by_type) &&
         find(library, "hwloc_distances_release", hwloc.distances_release);
}

}  // namespace

const hwloc_library* find_hwloc() noexcept {
  static hwloc_library hwloc{};
  static const bool found = load(hwloc);
  return found ? &hwloc : nullptr;
}

}  // namespace creek::host_backend
