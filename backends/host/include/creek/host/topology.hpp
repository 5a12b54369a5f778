// SPDX-License-Identifier: Apache-2.0
// Discovering the topology of this machine, or of a recorded or made-up one, with hwloc.
#pragma once

#include <filesystem>
#include <string>

#include <creek/core/topology.hpp>

namespace creek::host_backend {

/// Returns the machine as far as this process may use it (hwloc leaves out what the cpuset forbids;
/// cpu_limit looks at the affinity mask). hwloc's own variables apply: HWLOC_XMLFILE and
/// HWLOC_SYNTHETIC put another machine in its place, HWLOC_COMPONENTS chooses how to look. Takes
/// milliseconds, so keep the result. Falls back to topology::flat over the CPUs of the affinity
/// mask where hwloc fails or is not installed. Any thread.
topology discover_topology();

/// Returns the machine recorded in a file of `lstopo --of xml FILE`. Throws creek::error if the
/// file cannot be read, usage_error if it holds no topology.
topology topology_from_xml(const std::filesystem::path& file);

/// Returns a machine from hwloc's notation, outermost first: "pack:2 numa:1 l3:1 core:4 pu:2".
/// Throws usage_error if hwloc does not accept it.
topology topology_from_synthetic(const std::string& description);

}  // namespace creek::host_backend
