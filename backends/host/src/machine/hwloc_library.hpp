// SPDX-License-Identifier: Apache-2.0
// hwloc, loaded when a topology is first asked for: a program of creek starts without it.
#pragma once

#include <hwloc.h>

#include <creek/core/shared_library.hpp>

namespace creek::host_backend {

/// The functions used. hwloc's inline functions are left out, as they call others that would have
/// to be linked.
struct hwloc_library {
  shared_library file{"libhwloc.so.15"};
  decltype(&hwloc_topology_init) topology_init = file["hwloc_topology_init"];
  decltype(&hwloc_topology_destroy) topology_destroy = file["hwloc_topology_destroy"];
  decltype(&hwloc_topology_load) topology_load = file["hwloc_topology_load"];
  decltype(&hwloc_topology_set_xml) topology_set_xml = file["hwloc_topology_set_xml"];
  decltype(&hwloc_topology_set_synthetic) topology_set_synthetic =
      file["hwloc_topology_set_synthetic"];
  decltype(&hwloc_topology_set_icache_types_filter) topology_set_icache_types_filter =
      file["hwloc_topology_set_icache_types_filter"];
  decltype(&hwloc_get_type_depth) get_type_depth = file["hwloc_get_type_depth"];
  decltype(&hwloc_get_obj_by_depth) get_obj_by_depth = file["hwloc_get_obj_by_depth"];
  decltype(&hwloc_bitmap_next) bitmap_next = file["hwloc_bitmap_next"];
  decltype(&hwloc_obj_type_is_cache) obj_type_is_cache = file["hwloc_obj_type_is_cache"];
  decltype(&hwloc_distances_get_by_type) distances_get_by_type =
      file["hwloc_distances_get_by_type"];
  decltype(&hwloc_distances_release) distances_release = file["hwloc_distances_release"];
};

/// Returns hwloc, or nullptr if this machine does not have it. Any thread; it stays loaded.
const hwloc_library* find_hwloc() noexcept;

}  // namespace creek::host_backend
