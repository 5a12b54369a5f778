// SPDX-License-Identifier: Apache-2.0
// The files of sysfs in which a machine reports its energy, in their own folder: recorded layouts
// of real machines, whose counters a test changes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include <creek/power/meter.hpp>

#include "support/temporary_folder.hpp"

namespace creek::testing {

class machine_tree {
 public:
  void write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = root() / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  void remove(const std::string& name) { std::filesystem::remove_all(root() / name); }

  /// Makes a powercap zone whose counter stands at `joules`.
  void zone(const std::string& entry, const std::string& name, double joules,
            const std::string& largest = "262143328850") {
    write("class/powercap/" + entry + "/name", name + "\n");
    write("class/powercap/" + entry + "/max_energy_range_uj", largest + "\n");
    count(entry, joules);
  }
  /// Writes in place and with a fixed length, so that a concurrent reader never finds it empty.
  void count(const std::string& entry, double joules) {
    std::string text = std::to_string(static_cast<std::uint64_t>(1e6 * joules + 0.5));
    text.insert(0, 20 - text.size(), ' ');
    const std::filesystem::path path = root() / "class/powercap" / entry / "energy_uj";
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::app).flush();  // makes sure that it exists
    std::fstream(path, std::ios::in | std::ios::out) << text << '\n';
  }

  [[nodiscard]] std::filesystem::path root() const { return folder_.path(); }
  [[nodiscard]] power::meter_options options(
      power::meter_source source = power::meter_source::automatic) const {
    power::meter_options made;
    made.source = source;
    made.sysfs = root().string();
    return made;
  }

 private:
  support::temporary_folder folder_;
};

/// Two Xeon Gold 6126: one package each, with a zone for memory.
inline void make_intel_server(machine_tree& tree) {
  tree.write("class/powercap/intel-rapl/enabled", "1\n");
  tree.zone("intel-rapl:0", "package-0", 1000);
  tree.zone("intel-rapl:0:0", "dram", 100, "65712999613");
  tree.zone("intel-rapl:1", "package-1", 2000);
  tree.zone("intel-rapl:1:0", "dram", 200, "65712999613");
}

/// A Core i7-8565U: cores, graphics, memory, the platform, and the package a second time through
/// another interface.
inline void make_laptop(machine_tree& tree) {
  tree.zone("intel-rapl:0", "package-0", 1000);
  tree.zone("intel-rapl:0:0", "core", 500);
  tree.zone("intel-rapl:0:1", "uncore", 100);
  tree.zone("intel-rapl:0:2", "dram", 50);
  tree.zone("intel-rapl:1", "psys", 5000);
  tree.zone("intel-rapl-mmio:0", "package-0", 3000);
  tree.write("class/powercap/dtpm/enabled", "0\n");
  tree.write("class/powercap/dtpm:0/energy_uj", "77000000\n");
}

/// A Ryzen 7 3700X, whose zones carry Intel's name.
inline void make_amd_desktop(machine_tree& tree) {
  tree.zone("intel-rapl:0", "package-0", 1000, "65532610987");
  tree.zone("intel-rapl:0:0", "core", 20, "65532610987");
}

/// KVM without counters: only folders of other things.
inline void make_virtual_machine(machine_tree& tree) {
  tree.write("bus/event_source/devices/software/type", "1\n");
  tree.write("bus/event_source/devices/msr/type", "7\n");
}

/// The events of the software unit in place of energy events: one joule per second in which
/// processor 0 is observed.
inline void make_perf_events(machine_tree& tree) {
  const std::string pmu = "bus/event_source/devices/power/";
  tree.write(pmu + "type", "1\n");
  tree.write(pmu + "cpumask", "0\n");
  tree.write(pmu + "events/energy-pkg", "event=0x00\n");
  tree.write(pmu + "events/energy-pkg.scale", "1e-9\n");
  tree.write(pmu + "events/energy-pkg.unit", "Joules\n");
  tree.write(pmu + "events/energy-cores", "event=0x00\n");
  tree.write(pmu + "events/energy-cores.scale", "5e-10\n");
  tree.write(pmu + "events/energy-cores.unit", "Joules\n");
}

}  // namespace creek::testing
