// SPDX-License-Identifier: Apache-2.0
// `creek bench scc-copies`: compares ways to copy off-chip memory on the simulated chip, by one
// core and by many at once. All times are virtual.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/scc/copy.hpp>
#include <creek/scc/lookup_table.hpp>
#include <creek/scc/spmd.hpp>

#include "chip/chip_options.hpp"
#include "command_line/command.hpp"
#include "json/json_value.hpp"
#include "output/energy.hpp"
#include "studies/studies.hpp"

namespace creek::tool {
namespace {

using json = json_value;
using scc_backend::copy_method;
using scc_backend::memory;

constexpr copy_method all_methods[] = {copy_method::plain, copy_method::mpbt_target,
                                       copy_method::mpbt_both, copy_method::lut_remap,
                                       copy_method::copy_cores};

struct arguments {
  chip_options chip;
  std::vector<copy_method> methods;  ///< empty: all
  std::size_t bytes = std::size_t{128} << 10;
  bool as_json = false;
};

/// A copy method, the place of its source at the start, and the number of cores that copy.
struct trial {
  copy_method how = copy_method::plain;
  bool in_l2 = false;
  int cores = 1;    ///< cores that need a copy
  int servers = 0;  ///< cores that copy for them; 0: each core copies itself
};

struct outcome {
  double rate = 0;      ///< bytes per virtual second and core, mean
  double together = 0;  ///< rate of all cores
  double held = 0;      ///< part of a copy's time in which the requesting core is busy
};

/// Addresses of a core's two blocks in its private memory, as its look-up table begins.
constexpr std::uint32_t source_at = 0x10'0000;
constexpr std::uint32_t target_at = 0x80'0000;

/// Returns the source of a core, which differs from that of any other.
std::vector<std::uint8_t> numbered(std::size_t bytes, int core) {
  std::vector<std::uint8_t> made(bytes);
  for (std::size_t i = 0; i < bytes; ++i) {
    made[i] = static_cast<std::uint8_t>(i * 7 + i / 251 + static_cast<std::size_t>(core) * 13);
  }
  return made;
}

void check(const memory& m, std::size_t bytes) {
  std::vector<std::uint8_t> found(bytes);
  m.invalidate();
  m.read(found.data(), scc_backend::lookup_table(m).mapped(target_at), bytes);
  if (found != numbered(bytes, m.self().value)) {
    throw error(EIO,
                fmt::format("scc-copies: the copy of core {} is not its source", m.self().value));
  }
}

outcome measure(const scc_backend::machine_options& on, const trial& tried, std::size_t bytes) {
  std::vector<core_id> servers;
  for (int i = 0; i < tried.servers; ++i) servers.push_back(core_id{tried.cores + i});
  double seconds = 0, held = 0;
  virtual_time first{std::numeric_limits<std::int64_t>::max()}, last;
  simulate(
      tried.cores + tried.servers,
      [&](scc_communicator& c, symmetric_allocator& left) {
        memory& m = c.memory();
        const auto lines = left.allocate(scc_backend::copy_service::bytes_needed);
        if (!lines) throw usage_error("scc-copies: no message-passing memory for copy cores");
        std::optional<scc_backend::copy_service> service;
        if (tried.servers > 0) service.emplace(m, lines->offset(), servers);
        if (c.rank() >= tried.cores) {
          c.barrier();
          service->serve(tried.cores);
          return;
        }
        m.write(scc_backend::lookup_table(m).mapped(source_at), numbered(bytes, c.rank()).data(),
                bytes);
        m.flush();
        m.invalidate();
        c.barrier();
        const virtual_time begun = m.now();
        virtual_time busy;
        if (service) {
          const auto server = static_cast<std::size_t>(c.rank()) % servers.size();
          service->begin(scc_backend::lookup_table(m).mapped(target_at),
                         scc_backend::lookup_table(m).mapped(source_at), bytes, server);
          busy = m.now() - begun;
          service->wait();
        } else {
          copy(m, scc_backend::lookup_table(m).mapped(target_at),
               scc_backend::lookup_table(m).mapped(source_at), bytes, tried.how,
               tried.in_l2 ? bytes : scc_backend::cold);
          busy = m.now() - begun;
        }
        const virtual_time took = m.now() - begun;
        first = std::min(first, begun);
        last = std::max(last, m.now());
        seconds += took.in_seconds().value;
        held += busy.in_seconds().value / took.in_seconds().value;
        check(m, bytes);
        if (service) service->leave();
      },
      on);
  const double copied = static_cast<double>(bytes) * tried.cores;
  return {copied / seconds, copied / (last - first).in_seconds().value, held / tried.cores};
}

std::vector<trial> trials_of(copy_method how, int cores) {
  if (how == copy_method::copy_cores) {
    // One server per core, and one server per three cores.
    std::vector<trial> made{{how, false, 1, 1}};
    if (cores >= 4) made.push_back({how, false, cores - cores / 4, cores / 4});
    return made;
  }
  std::vector<trial> made;
  for (const int copying : {1, cores}) {
    made.push_back({how, false, copying, 0});
    // Reads past L2 cost the same wherever the source was.
    const bool cached = how == copy_method::plain || how == copy_method::mpbt_target;
    if (cached) made.push_back({how, true, copying, 0});
  }
  return made;
}

bool is_wanted(const arguments& given, copy_method how) {
  return given.methods.empty() || std::ranges::find(given.methods, how) != given.methods.end();
}

void run(const arguments& given) {
  refuse_records(given.chip, "scc-copies");
  const scc_backend::machine_options on = to_machine_options(given.chip);
  const int cores = participating_cores(given.chip, on);
  if (cores < 2) throw usage_error("scc-copies: needs at least two cores");
  if (given.bytes > target_at - source_at) {
    throw usage_error(fmt::format("scc-copies: --bytes must be at most {1}, got {0}", given.bytes,
                                  target_at - source_at));
  }
  if (on.description.private_bytes < target_at + given.bytes) {
    throw usage_error(fmt::format("scc-copies: needs {} bytes of private memory, chip '{}' has {}",
                                  target_at + given.bytes, on.description.name,
                                  on.description.private_bytes));
  }
  json rows = json::array();
  if (!given.as_json) {
    fmt::print("Chip {}, blocks of {} bytes; virtual time\n\n", on.description.name, given.bytes);
    fmt::print("{:>12}{:>8}{:>8}{:>9}{:>13}{:>16}{:>17}\n", "copy", "source", "cores", "servers",
               "MB/s a core", "MB/s together", "core is held, %");
  }
  for (const copy_method how : all_methods) {
    if (!is_wanted(given, how)) continue;
    for (const trial& tried : trials_of(how, cores)) {
      const outcome found = measure(on, tried, given.bytes);
      const char* source = tried.in_l2 ? "L2" : "DRAM";
      const double rate = found.rate / 1e6;
      if (given.as_json) {
        rows.push_back({{"copy", to_string(how)},
                        {"source", source},
                        {"cores", tried.cores},
                        {"servers", tried.servers},
                        {"virtual_MB_s_a_core", rate},
                        {"virtual_MB_s", found.together / 1e6},
                        {"held", found.held}});
      } else {
        fmt::print("{:>12}{:>8}{:>8}{:>9}{:>13.1f}{:>16.1f}{:>17.1f}\n", to_string(how), source,
                   tried.cores, tried.servers, rate, found.together / 1e6, 100 * found.held);
      }
    }
  }
  if (given.as_json) {
    const json whole{{"schema_version", 1},
                     {"command", "bench scc-copies"},
                     {"chip", on.description.name},
                     {"bytes", given.bytes},
                     {"copies", rows}};
    fmt::print("{}\n", with_energy(whole).dump(2));
  }
}

constexpr const char* notes =
    R"(Ways, after "Efficient memory copy operations on the 48-core Intel SCC":
  plain        cached reads; writes miss the cache and go out word by word
  mpbt-target  cached reads; writes collected into lines
  mpbt-both    reads also bypass L2
  lut-remap    as mpbt-both, after mapping both blocks into the look-up table
  copy-cores   other cores copy while the requesting core continues

Examples:
  creek bench scc-copies
  creek bench scc-copies --method mpbt-both --method copy-cores --bytes 32768)";

}  // namespace

void add_scc_copies(command_line::command& bench) {
  const auto given = std::make_shared<arguments>();
  command_line::command* command = bench.add_subcommand(
      "scc-copies", "Compare ways to copy off-chip memory on the simulated chip, in virtual time");
  command->footer(notes);
  std::vector<std::pair<std::string, copy_method>> names;
  for (const copy_method how : all_methods) names.emplace_back(to_string(how), how);
  command
      ->add_choice("--method", given->methods, names,
                   "Way to copy (default: all); may be given several times")
      ->type_name("NAME");
  command->add_option("--bytes", given->bytes, "Bytes per block")
      ->positive()
      ->type_name("N")
      ->show_default();
  add_chip_options(*command, given->chip);
  command->add_flag("--json", given->as_json, "Print a JSON object");
  command->callback([given] { run(*given); });
}

}  // namespace creek::tool
