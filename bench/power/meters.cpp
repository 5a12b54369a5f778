// SPDX-License-Identifier: Apache-2.0
// Cost of reading a meter. Goal: under 2 us where the source allows. Powercap is read from a copy
// of a two-package server's files, so that it can be measured anywhere: system call and arithmetic
// are the same, but the kernel's work for reading a real register (and for asking the processors of
// another package) is not included.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <creek/power/meter.hpp>
#include <creek/power/phase.hpp>

namespace {

namespace power = creek::power;

/// Files of two packages, each with a zone and a memory zone.
class server_files {
 public:
  server_files() {
    std::string pattern = std::filesystem::temp_directory_path() / "creek-bench-XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) std::abort();
    root_ = pattern;
    for (const char* zone : {"intel-rapl:0", "intel-rapl:0:0", "intel-rapl:1", "intel-rapl:1:0"}) {
      const std::filesystem::path folder = root_ / "class/powercap" / zone;
      std::filesystem::create_directories(folder);
      const bool part = folder.string().ends_with(":0:0") || folder.string().ends_with(":1:0");
      std::ofstream(folder / "name")
          << (part ? "dram" : std::string("package-") + std::string(zone).back()) << "\n";
      std::ofstream(folder / "max_energy_range_uj") << "262143328850\n";
      std::ofstream(folder / "energy_uj") << "123456789012\n";
    }
  }
  ~server_files() { std::filesystem::remove_all(root_); }
  server_files(const server_files&) = delete;
  server_files& operator=(const server_files&) = delete;

  [[nodiscard]] power::meter_options options() const {
    power::meter_options made;
    made.source = power::meter_source::rapl;
    made.sysfs = root_.string();
    return made;
  }
  void use_a_joule() const {
    std::ofstream(root_ / "class/powercap/intel-rapl:0/energy_uj") << "123457789012\n";
    std::ofstream(root_ / "class/powercap/intel-rapl:0:0/energy_uj") << "123457789012\n";
    std::ofstream(root_ / "class/powercap/intel-rapl:1/energy_uj") << "123457789012\n";
    std::ofstream(root_ / "class/powercap/intel-rapl:1:0/energy_uj") << "123457789012\n";
  }

 private:
  std::filesystem::path root_;
};

void require_figure(benchmark::State& state, const power::energy_figure& figure) {
  if (!figure.available()) state.SkipWithError(figure.reason.c_str());
}

/// Reads two packages and two memories.
void read_rapl(benchmark::State& state) {
  const server_files files;
  power::meter meter(files.options());
  files.use_a_joule();
  for (auto _ : state) benchmark::DoNotOptimize(meter.read());
  require_figure(state, meter.read_energy());
}
BENCHMARK(read_rapl);

void read_rapl_energy(benchmark::State& state) {
  const server_files files;
  power::meter meter(files.options());
  files.use_a_joule();
  for (auto _ : state) benchmark::DoNotOptimize(meter.read_energy());
  require_figure(state, meter.read_energy());
}
BENCHMARK(read_rapl_energy);

void read_model(benchmark::State& state) {
  power::meter meter(power::meter_options{.source = power::meter_source::model, .model = {}});
  for (auto _ : state) benchmark::DoNotOptimize(meter.read());
  require_figure(state, meter.read_energy());
}
BENCHMARK(read_model);

/// Reads the meter of this machine; reports an error if it has none.
void read_this_machine(benchmark::State& state) {
  power::meter meter;
  for (auto _ : state) benchmark::DoNotOptimize(meter.read());
  require_figure(state, meter.read_energy());
}
BENCHMARK(read_this_machine)->MinTime(0.1);

/// Reads wall and CPU time only, as on a virtual machine.
void read_nothing(benchmark::State& state) {
  power::meter meter(power::meter_options{.source = power::meter_source::none, .model = {}});
  for (auto _ : state) benchmark::DoNotOptimize(meter.read());
}
BENCHMARK(read_nothing);

void phase_scope(benchmark::State& state) {
  for (auto _ : state) const power::phase here("factor");
}
BENCHMARK(phase_scope);

}  // namespace
