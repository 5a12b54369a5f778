// SPDX-License-Identifier: Apache-2.0
// `creek bench scc-simulator`: the cost of the simulation itself on the host. The only command that
// shows host time beside a simulated chip; its columns say so.
#include <malloc.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

#include <creek/core/measuring/thread_cpu_time.hpp>
#include <creek/scc/spmd.hpp>

#include "command_line/command.hpp"
#include "json/json_value.hpp"
#include "output/energy.hpp"
#include "studies/studies.hpp"

namespace creek::tool {
namespace {

using namespace scc_backend;
using json = json_value;

constexpr std::size_t stack_bytes = std::size_t{64} << 10;

struct figures {
  int cores;
  double accesses;      ///< simulated remote accesses
  double host_seconds;  ///< CPU time of the thread
  double stack_switches;
  double host_bytes;  ///< resident per simulated core, while all are active
};

double resident_bytes() {
  long pages = 0, resident = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%ld %ld", &pages, &resident) != 2) resident = 0;
    std::fclose(file);
  }
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

/// Makes every core read and write words of all others in turn, as fast as possible. Each core has
/// read a block too, so that its L1 exists.
figures measure(int cores, int accesses_each) {
  const machine_options options{.description = chip::with_cores(cores), .stack_bytes = stack_bytes};
  malloc_trim(0);
  const double before = resident_bytes();
  double during = 0, begin = 0, end = 0;
  const run_report report = run_cores(options, [&](memory& m) {
    const int self = m.self().value;
    if (self >= cores) return;
    word seen = 0;
    m.read(&seen, m.at(m.self(), 64), sizeof seen);
    if (self == 0) begin = thread_cpu_seconds();
    int other = self;
    for (int i = 0; i < accesses_each; i += 2) {
      other = (other + 7) % cores;
      const auto at = m.at(core_id{other}, 0).as<word>();
      m.store(at, m.load(at) + 1);
    }
    if (self == 0) {
      end = thread_cpu_seconds();
      during = resident_bytes();
    }
  });
  return {cores, static_cast<double>(cores) * accesses_each, end - begin,
          static_cast<double>(report.switches), std::max(0.0, during - before) / cores};
}

void print_text(const std::vector<figures>& all) {
  fmt::print("{:>15} {:>18} {:>14} {:>22} {:>18} {:>21}\n", "simulated cores", "simulated accesses",
             "host CPU s", "accesses a host CPU s", "stack switches", "host bytes a core");
  for (const figures& f : all) {
    fmt::print("{:>15} {:>18.0f} {:>14.3f} {:>22.4g} {:>18.0f} {:>21.0f}\n", f.cores, f.accesses,
               f.host_seconds, f.accesses / f.host_seconds, f.stack_switches, f.host_bytes);
  }
}

json json_of(const std::vector<figures>& all) {
  json list = json::array();
  for (const figures& f : all) {
    list.push_back({{"simulated_cores", f.cores},
                    {"simulated_accesses", f.accesses},
                    {"host_cpu_seconds", f.host_seconds},
                    {"accesses_per_host_cpu_second", f.accesses / f.host_seconds},
                    {"stack_switches", f.stack_switches},
                    {"host_bytes_per_core", f.host_bytes}});
  }
  return {{"schema_version", 1}, {"command", "bench scc-simulator"}, {"runs", list}};
}

}  // namespace

void add_scc_simulator(command_line::command& bench) {
  const auto as_json = std::make_shared<bool>(false);
  command_line::command* command = bench.add_subcommand(
      "scc-simulator", "Measure the time and memory that simulating a chip costs the host");
  command->add_flag("--json", *as_json, "Print a JSON object with a \"schema_version\"");
  command->footer(
      "Accesses are loads and stores of words in the message-passing memory of all cores in turn, "
      "by\n"
      "all cores. Host bytes are resident memory, including the touched pages of stacks.");
  command->callback([as_json] {
    (void)measure(48, 2000);  // lets the host reach its full clock
    std::vector<figures> all;
    for (const int cores : {1, 48, 256, 1024, 4096}) {
      all.push_back(measure(cores, std::max(500, 3'000'000 / cores)));
    }
    if (*as_json) {
      fmt::print("{}\n", with_energy(json_of(all)).dump(2));
    } else {
      print_text(all);
    }
  });
}

}  // namespace creek::tool
