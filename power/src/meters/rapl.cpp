// SPDX-License-Identifier: Apache-2.0
// Running average power limit (RAPL) through the kernel's powercap interface, on Intel and AMD: a
// zone per package, one for the whole platform (psys), and within packages for cores, uncore and
// memory. Sources: [Linux powercap];
// drivers/powercap/intel_rapl_common.c of [Linux].
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <creek/power/meter.hpp>

#include "energy_counters.hpp"
#include "sysfs.hpp"
#include "wrapping_counter.hpp"

namespace creek::power::detail {

namespace {

/// Limits above the draw of any processor package, and of any machine with one board.
constexpr double most_watts_of_package = 1000, most_watts_of_platform = 5000;

/// Zone that was found but not opened. A package's zones appear once per interface to them:
/// processor registers (intel-rapl) and, on laptops, memory (intel-rapl-mmio).
struct zone_place {
  std::string folder;
  std::string name;
  bool counted = false;
};

struct zone {
  std::string path;
  sysfs::file file;
  wrapping_counter counter;
  bool lost = false;  ///< a zone that is not counted has failed
  wrapping_counter::clock::time_point
      seen_there{};  ///< when its file was last known to have a name
};

/// Whether a zone is part of a package: intel-rapl:0 is a package, intel-rapl:0:1 a part.
bool is_part(const std::string& entry) {
  return std::count(entry.begin(), entry.end(), ':') > 1;
}

/// Whether a zone is in the total. A package does not include its memory's zone; cores and uncore
/// are within packages, and psys is around them.
bool counts(const std::string& own_name, bool part) {
  return part ? own_name.starts_with("dram") : own_name.starts_with("package");
}

/// Returns the name of a zone; empty if it has none.
std::string zone_name(const std::string& powercap, const std::string& entry) {
  const std::string own = sysfs::read_line(powercap + "/" + entry + "/name").text;
  if (own.empty() || !is_part(entry)) return own;
  const std::string parent = entry.substr(0, entry.rfind(':'));
  return sysfs::read_line(powercap + "/" + parent + "/name").text + "/" + own;
}

bool by_memory(const std::string& entry) {
  return entry.find("mmio") != entry.npos;
}

bool known(const std::vector<zone_place>& places, const std::string& name) {
  return std::any_of(places.begin(), places.end(),
                     [&](const zone_place& each) { return each.name == name; });
}

/// Returns every zone once; zones that do not tell their kind have no name.
std::vector<zone_place> find_zones(const std::string& powercap) {
  std::vector<std::string> entries;
  for (const std::string& each : sysfs::entries(powercap, "")) {
    // "intel-rapl" alone is the interface; "dtpm:0" and others are not RAPL.
    if (each.find("rapl") != each.npos && each.find(':') != each.npos) entries.push_back(each);
  }
  std::stable_partition(entries.begin(), entries.end(),
                        [](const std::string& each) { return !by_memory(each); });
  std::vector<zone_place> places;
  for (const std::string& entry : entries) {
    const std::string name = zone_name(powercap, entry);
    if (by_memory(entry) && known(places, name)) continue;
    const std::string own = name.substr(name.rfind('/') + 1);
    places.push_back({powercap + "/" + entry, name, counts(own, is_part(entry))});
  }
  return places;
}

std::string access_problem(const std::string& path, int error) {
  std::string text = sysfs::why("read", path, error);
  if (error == EACCES || error == EPERM) {
    text += "; run as root, or once: sudo chmod a+r " + path.substr(0, path.rfind("/class/")) +
            "/class/powercap/*rapl*/energy_uj";
  }
  return text;
}

class rapl_counters final : public energy_counters {
 public:
  std::span<const energy_domain> domains() const noexcept override { return domains_; }

  /// Opens a zone; returns why it cannot be read.
  std::string add(const zone_place& place) {
    const std::string path = place.folder + "/energy_uj";
    sysfs::file file(path, O_RDONLY);
    if (!file) return access_problem(path, file.error());
    const sysfs::number first = file.read_number();
    if (!first) return access_problem(path, first.error);
    const sysfs::number largest = sysfs::read_number(place.folder + "/max_energy_range_uj");
    const bool platform = place.name.find("psys") != place.name.npos;
    zones_.push_back({path,
                      std::move(file),
                      wrapping_counter(first.value, largest ? largest.value : 0,
                                       platform ? most_watts_of_platform : most_watts_of_package,
                                       wrapping_counter::clock::now()),
                      false,
                      {}});
    domains_.push_back({place.name, place.counted});
    return {};
  }

  std::string sample(sampled_domains which, std::span<units::joules> joules) override {
    const auto now = wrapping_counter::clock::now();
    for (std::size_t i = 0; i < zones_.size(); ++i) {
      if (which == sampled_domains::counted && !domains_[i].counted) continue;
      zone& each = zones_[i];
      std::string problem = each.lost ? std::string() : advance(each, now);
      if (!problem.empty() && domains_[i].counted) return problem;
      each.lost = each.lost || !problem.empty();
      joules[i] =
          each.lost ? no_joules : units::joules{1e-6 * static_cast<double>(each.counter.total())};
    }
    return {};
  }

 private:
  static std::string advance(zone& each, wrapping_counter::clock::time_point now) {
    const sysfs::number value = each.file.read_number();
    if (!value) return access_problem(each.path, value.error);
    const std::uint64_t before = each.counter.total();
    std::string problem = each.counter.advance(value.value, now);
    if (!problem.empty()) return "the counter " + each.path + " " + problem;
    if (each.counter.total() != before) {
      each.seen_there = {};
      return {};
    }
    if (vanished(each, now)) return each.path + " has vanished";
    return {};
  }

  /// Returns whether a counter's file has disappeared. A kernel file that disappears cannot be read
  /// any more; in a copy of the tree on an ordinary file system it lives on without a name. Checked
  /// when a counter first stands still, then once per update interval of counters.
  static bool vanished(zone& each, wrapping_counter::clock::time_point now) {
    if (now - each.seen_there < std::chrono::milliseconds(1)) return false;
    each.seen_there = now;
    struct stat found {};
    return fstat(each.file.descriptor(), &found) == 0 && found.st_nlink == 0;
  }

  std::vector<energy_domain> domains_;
  std::vector<zone> zones_;
};

}  // namespace

opened_counters open_rapl(const std::string& sysfs) {
  const std::string powercap = sysfs + "/class/powercap";
  const std::vector<zone_place> places = find_zones(powercap);
  if (places.empty()) {
    return {nullptr, powercap +
                         " has no RAPL zones: a virtual machine, a processor without such "
                         "counters, or no driver (sudo modprobe intel_rapl_msr)"};
  }
  auto counters = std::make_unique<rapl_counters>();
  bool any = false;
  for (const zone_place& place : places) {
    // It may be a package, or the whole platform.
    if (place.name.empty()) return {nullptr, sysfs::why("read", place.folder + "/name", ENODATA)};
    const std::string problem = counters->add(place);
    any = any || (place.counted && problem.empty());
    // A total without one of the packages would look like a complete one.
    if (place.counted && !problem.empty()) return {nullptr, problem};
  }
  if (!any) return {nullptr, powercap + " has RAPL zones, but none of a package"};
  return {std::move(counters), {}};
}

}  // namespace creek::power::detail
