// SPDX-License-Identifier: Apache-2.0
// hwloc's object tree turned into creek::topology. Everything goes by sets of processing units, not
// by parents and children: where hwloc puts NUMA nodes and groups in its tree differs by machine.
#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <map>
#include <memory>
#include <optional>

#include <creek/core/error.hpp>
#include <creek/host/affinity.hpp>
#include <creek/host/topology.hpp>

#include "hwloc_library.hpp"

namespace creek::host_backend {
namespace {

struct destroy_topology {
  const hwloc_library* hwloc;
  void operator()(hwloc_topology_t tree) const noexcept { hwloc->topology_destroy(tree); }
};
using tree_handle = std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, destroy_topology>;

tree_handle new_tree(const hwloc_library& hwloc) {
  hwloc_topology_t tree = nullptr;
  if (hwloc.topology_init(&tree) != 0) throw error(errno, "hwloc");
  return tree_handle(tree, {&hwloc});
}

const hwloc_library& require_hwloc(const std::string& topology) {
  const hwloc_library* const hwloc = find_hwloc();
  if (hwloc == nullptr) {
    throw usage_error("topology " + topology +
                      ": reading it needs hwloc, which is not installed; install libhwloc15");
  }
  return *hwloc;
}

class reader {
 public:
  reader(const hwloc_library& hwloc, hwloc_topology_t tree) : hwloc_(hwloc), tree_(tree) {}

  topology_description read(std::string source) {
    result_.source = std::move(source);
    read_units();
    read_numa_nodes();
    read_caches();
    read_latencies();
    return std::move(result_);
  }

 private:
  template <typename Visit>
  void each(hwloc_obj_type_t type, Visit visit) {
    const int depth = hwloc_.get_type_depth(tree_, type);
    if (depth == HWLOC_TYPE_DEPTH_UNKNOWN || depth == HWLOC_TYPE_DEPTH_MULTIPLE) return;
    for (auto* o = hwloc_.get_obj_by_depth(tree_, depth, 0); o != nullptr; o = o->next_cousin) {
      visit(o);
    }
  }

  static hwloc_obj_t ancestor(hwloc_obj_t object, hwloc_obj_type_t type) {
    do {
      object = object->parent;
    } while (object != nullptr && object->type != type);
    return object;
  }

  void read_units() {
    each(HWLOC_OBJ_PU, [&](hwloc_obj_t pu) {
      index_[static_cast<int>(pu->os_index)] = static_cast<int>(result_.units.size());
      processing_unit unit;
      unit.os_index = static_cast<int>(pu->os_index);
      // Machines without core or package objects: every PU is a core, the machine a package.
      const auto core = ancestor(pu, HWLOC_OBJ_CORE);
      unit.core = static_cast<int>(core != nullptr ? core->logical_index : pu->logical_index);
      const auto package = ancestor(pu, HWLOC_OBJ_PACKAGE);
      unit.package = package != nullptr ? static_cast<int>(package->logical_index) : 0;
      result_.units.push_back(unit);
    });
  }

  std::vector<int> units_of(hwloc_const_cpuset_t set) const {
    std::vector<int> units;
    for (int os = hwloc_.bitmap_next(set, -1); os >= 0; os = hwloc_.bitmap_next(set, os)) {
      if (const auto found = index_.find(os); found != index_.end()) units.push_back(found->second);
    }
    return units;
  }

  void read_numa_nodes() {
    // A unit may be near several nodes (HBM beside DRAM); the first, which hwloc orders before the
    // special kinds, is its own.
    std::vector<bool> assigned(result_.units.size(), false);
    each(HWLOC_OBJ_NUMANODE, [&](hwloc_obj_t node) {
      const int number = static_cast<int>(result_.numa_nodes.size());
      result_.numa_nodes.push_back({.os_index = static_cast<int>(node->os_index),
                                    .bytes = node->attr->numanode.local_memory});
      for (int unit : units_of(node->cpuset)) {
        const auto at = static_cast<std::size_t>(unit);
        if (!assigned[at]) result_.units[at].numa_node = number;
        assigned[at] = true;
      }
    });
    if (result_.numa_nodes.empty()) result_.numa_nodes.push_back({});
  }

  void read_caches() {
    for (int type = HWLOC_OBJ_L1CACHE; type <= HWLOC_OBJ_L3ICACHE; ++type) {
      if (!hwloc_.obj_type_is_cache(static_cast<hwloc_obj_type_t>(type))) continue;
      each(static_cast<hwloc_obj_type_t>(type), [&](hwloc_obj_t object) {
        const auto& attributes = object->attr->cache;
        result_.caches.push_back({.level = static_cast<int>(attributes.depth),
                                  .kind = kind_of(attributes.type),
                                  .bytes = attributes.size,
                                  .line_bytes = attributes.linesize,
                                  .units = units_of(object->cpuset)});
      });
    }
  }

  static cache_kind kind_of(hwloc_obj_cache_type_t type) {
    switch (type) {
      case HWLOC_OBJ_CACHE_DATA:
        return cache_kind::data;
      case HWLOC_OBJ_CACHE_INSTRUCTION:
        return cache_kind::instruction;
      case HWLOC_OBJ_CACHE_UNIFIED:
        break;
    }
    return cache_kind::unified;
  }

  void read_latencies() {
    hwloc_distances_s* found = nullptr;
    unsigned count = 1;
    const int status = hwloc_.distances_get_by_type(tree_, HWLOC_OBJ_NUMANODE, &count, &found,
                                                    HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0);
    if (status != 0 || count == 0) return;
    const std::size_t nodes = result_.numa_nodes.size();
    if (found->nbobjs == nodes) {
      result_.numa_latencies.resize(nodes * nodes);
      for (unsigned i = 0; i < nodes; ++i) {
        for (unsigned j = 0; j < nodes; ++j) {
          const std::size_t at =
              found->objs[i]->logical_index * nodes + found->objs[j]->logical_index;
          result_.numa_latencies[at] = static_cast<unsigned>(found->values[i * nodes + j]);
        }
      }
    }
    hwloc_.distances_release(tree_, found);
  }

  const hwloc_library& hwloc_;
  hwloc_topology_t tree_;
  topology_description result_;
  std::map<int, int> index_;  // from the operating system's number to ours
};

// Loads and reads a topology; returns nothing if hwloc cannot make sense of its input.
std::optional<topology> load(const tree_handle& tree, std::string source) {
  const hwloc_library& hwloc = *tree.get_deleter().hwloc;
  // hwloc leaves instruction caches out unless asked.
  hwloc.topology_set_icache_types_filter(tree.get(), HWLOC_TYPE_FILTER_KEEP_ALL);
  if (hwloc.topology_load(tree.get()) != 0) return std::nullopt;
  return topology(reader(hwloc, tree.get()).read(std::move(source)));
}

topology flat_over_affinity_mask() {
  const auto mask = affinity_mask();
  topology_description description;
  for (int os_index : mask) {
    const int core = static_cast<int>(description.units.size());
    description.units.push_back({.os_index = os_index, .core = core});
  }
  description.numa_nodes.push_back({});
  description.source = "flat";
  return topology(std::move(description));
}

}  // namespace

topology discover_topology() {
  const hwloc_library* const hwloc = find_hwloc();
  if (hwloc == nullptr) return flat_over_affinity_mask();
  auto found = load(new_tree(*hwloc), "hwloc");
  return found ? std::move(*found) : flat_over_affinity_mask();
}

topology topology_from_xml(const std::filesystem::path& file) {
  if (!std::ifstream(file)) throw error(errno, "topology " + file.string());
  const hwloc_library& hwloc = require_hwloc(file.string());
  const tree_handle tree = new_tree(hwloc);
  if (hwloc.topology_set_xml(tree.get(), file.c_str()) == 0) {
    if (auto found = load(tree, "xml")) return std::move(*found);
  }
  throw usage_error("topology " + file.string() +
                    ": no topology that hwloc can read; record one with `lstopo --of xml FILE`");
}

topology topology_from_synthetic(const std::string& description) {
  const hwloc_library& hwloc = require_hwloc('"' + description + '"');
  const tree_handle tree = new_tree(hwloc);
  if (hwloc.topology_set_synthetic(tree.get(), description.c_str()) == 0) {
    if (auto found = load(tree, "synthetic")) return std::move(*found);
  }
  throw usage_error(
      fmt::format("topology \"{}\": not in hwloc's notation, for example "
                  "\"pack:2 numa:1 l3:1 core:4 pu:2\"",
                  description));
}

}  // namespace creek::host_backend
