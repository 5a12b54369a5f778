// SPDX-License-Identifier: Apache-2.0
// Energy events of the kernel's perf: the same counters as RAPL's, extended to 64 bits by the
// kernel, which reads them often enough itself. An event of a package is read on one of its
// processors, which the file `cpumask` lists. Sources: perf_event_open(2); arch/x86/events/rapl.c
// of [Linux].
#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "energy_counters.hpp"
#include "sysfs.hpp"

namespace creek::power::detail {

namespace {

constexpr std::string_view prefix = "energy-";

struct energy_event {
  std::string name;  ///< pkg, ram, cores, gpu, psys
  std::uint64_t config = 0;
  double joules_a_count = 0;
};

class perf_descriptor {
 public:
  explicit perf_descriptor(int fd) noexcept : fd_(fd) {}
  perf_descriptor(perf_descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  perf_descriptor& operator=(perf_descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~perf_descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  [[nodiscard]] int get() const noexcept { return fd_; }

 private:
  int fd_;
};

/// Parses "event=0x02". Energy events have no other fields.
bool parse_config(std::string_view text, std::uint64_t& config) {
  constexpr std::string_view field = "event=0x";
  if (!text.starts_with(field)) return false;
  text.remove_prefix(field.size());
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), config, 16);
  return problem == std::errc{} && end == text.data() + text.size();
}

bool parse_scale(std::string_view text, double& scale) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), scale);
  return problem == std::errc{} && end == text.data() + text.size() && scale > 0 && scale < 1e3;
}

/// Returns the events with a complete description; others are ignored.
std::vector<energy_event> find_events(const std::string& pmu) {
  std::vector<energy_event> found;
  for (const std::string& entry : sysfs::entries(pmu + "/events", prefix)) {
    if (entry.find('.') != entry.npos) continue;
    const std::string path = pmu + "/events/" + entry;
    energy_event event{.name = entry.substr(prefix.size())};
    if (sysfs::read_line(path + ".unit").text == "Joules" &&
        parse_scale(sysfs::read_line(path + ".scale").text, event.joules_a_count) &&
        parse_config(sysfs::read_line(path).text, event.config)) {
      found.push_back(std::move(event));
    }
  }
  return found;
}

std::string open_problem(int error) {
  std::string text = "perf_event_open of energy events: " + std::generic_category().message(error);
  if (error == EACCES || error == EPERM) {
    text +=
        "; run as root, or give the program CAP_PERFMON, or once: sudo sysctl "
        "kernel.perf_event_paranoid=0";
  }
  return text;
}

class perf_counters final : public energy_counters {
 public:
  std::span<const energy_domain> domains() const noexcept override { return domains_; }

  /// Returns an errno, or 0.
  int add(std::uint32_t type, const energy_event& event, int cpu, std::size_t package) {
    perf_event_attr asked{};
    asked.type = type;
    asked.size = sizeof asked;
    asked.config = event.config;
    const long fd = syscall(SYS_perf_event_open, &asked, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0) return errno;
    descriptors_.emplace_back(static_cast<int>(fd));
    scales_.push_back(event.joules_a_count);
    domains_.push_back(domain(event.name, package));
    return 0;
  }

  std::string sample(sampled_domains which, std::span<units::joules> joules) override {
    for (std::size_t i = 0; i < descriptors_.size(); ++i) {
      if (which == sampled_domains::counted && !domains_[i].counted) continue;
      std::uint64_t count = 0;
      const ssize_t got = read(descriptors_[i].get(), &count, sizeof count);
      if (got != sizeof count) {  // 0: its processor went offline
        return fmt::format(
            "perf's counter of {}: {}", domains_[i].name,
            got < 0 ? std::generic_category().message(errno) : "its processor has gone offline");
      }
      joules[i] = units::joules{scales_[i] * static_cast<double>(count)};
    }
    return {};
  }

 private:
  /// Returns the domain, named like RAPL's zones.
  static energy_domain domain(const std::string& event, std::size_t package) {
    const std::string around = fmt::format("package-{}", package);
    if (event == "pkg") return {around, true};
    if (event == "ram") return {around + "/dram", true};
    if (event == "psys") return {event, false};
    return {around + "/" + event, false};
  }

  std::vector<energy_domain> domains_;
  std::vector<perf_descriptor> descriptors_;
  std::vector<double> scales_;
};

}  // namespace

opened_counters open_perf(const std::string& sysfs) {
  const std::string pmu = sysfs + "/bus/event_source/devices/power";
  const sysfs::number type = sysfs::read_number(pmu + "/type");
  if (type.error == ENOENT) {
    return {nullptr, pmu +
                         " is not there: a virtual machine, a processor without energy counters, "
                         "or no driver (sudo modprobe rapl)"};
  }
  if (!type) return {nullptr, sysfs::why("read", pmu + "/type", type.error)};
  const std::vector<energy_event> events = find_events(pmu);
  const bool packages = std::any_of(events.begin(), events.end(),
                                    [](const energy_event& each) { return each.name == "pkg"; });
  if (!packages) return {nullptr, pmu + "/events has no energy-pkg in Joules with a scale"};
  const std::vector<int> cpus = sysfs::parse_cpus(sysfs::read_line(pmu + "/cpumask").text);
  if (cpus.empty()) return {nullptr, pmu + "/cpumask names no processors"};

  auto counters = std::make_unique<perf_counters>();
  for (std::size_t package = 0; package < cpus.size(); ++package) {
    for (const energy_event& event : events) {
      // The counter of the whole machine is opened on one processor only.
      if (event.name == "psys" && package > 0) continue;
      const int error =
          counters->add(static_cast<std::uint32_t>(type.value), event, cpus[package], package);
      if (error != 0) return {nullptr, open_problem(error)};
    }
  }
  return {std::move(counters), {}};
}

}  // namespace creek::power::detail
