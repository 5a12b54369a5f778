// SPDX-License-Identifier: Apache-2.0
// `creek bench scc-messages`: compares the message protocols of RCCE and iRCCE on the simulated
// chip: bandwidth of send and receive, broadcasts, all-to-all, halos, barriers, locks. All times
// are virtual.
#include <fmt/format.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/core/messages/broadcast.hpp>
#include <creek/core/protocols/dissemination_barrier.hpp>
#include <creek/core/protocols/gather_release_barrier.hpp>
#include <creek/core/protocols/test_and_set_barrier.hpp>
#include <creek/core/protocols/test_and_set_lock.hpp>
#include <creek/scc/spmd.hpp>

#include "bench/doubling.hpp"
#include "chip/chip_options.hpp"
#include "command_line/command.hpp"
#include "halo.hpp"
#include "json/json_value.hpp"
#include "output/energy.hpp"
#include "output/row_table.hpp"
#include "rounds_on_chip.hpp"
#include "studies/studies.hpp"

namespace creek::tool {
namespace {

using json = json_value;
using machine_options = scc_backend::machine_options;

constexpr int rounds = rounds_on_chip;

enum class transport { chunks, pipelined, sections };
constexpr transport transports[] = {transport::chunks, transport::pipelined, transport::sections};

communicator_options options_of(transport by) {
  return {.chunks_in_flight = by == transport::pipelined ? 2u : 1u,
          .buffers = by == transport::sections ? message_buffers::write_sections
                                               : message_buffers::at_sender};
}
const char* name_of(transport by) {
  constexpr const char* names[] = {"chunks (RCCE)", "pipelined (iRCCE)", "sections (RCKMPI)"};
  return names[static_cast<int>(by)];
}

template <class Body>
double microseconds(const machine_options& on, int cores, const communicator_options& how,
                    Body body) {
  return microseconds_a_round(
      on, scc_backend::first_cores(on.description, cores), how, [](scc_communicator&) {}, body);
}

/// Returns half a round trip between the first core and the core that is farthest from it.
double send_microseconds(const machine_options& on, int far, transport by, std::size_t bytes) {
  return microseconds(on, far + 1, options_of(by),
                      [&](scc_communicator& c) {
                        std::vector<char> data(bytes);
                        if (c.rank() == 0) {
                          c.send(std::span<const char>{data}, far);
                          c.recv(std::span{data}, far);
                        } else if (c.rank() == far) {
                          c.recv(std::span{data}, 0);
                          c.send(std::span<const char>{data}, 0);
                        }
                      }) /
         2;
}

json measure_sends(const machine_options& on, int cores) {
  json rows = json::array();
  for (const transport by : transports) {
    for (std::size_t bytes = 32; bytes <= 65536; bytes *= 8) {
      const double took = send_microseconds(on, cores - 1, by, bytes);
      rows.push_back({{"protocol", name_of(by)},
                      {"bytes", bytes},
                      {"virtual_us", took},
                      {"virtual_MB_s", static_cast<double>(bytes) / took}});
    }
  }
  return rows;
}

json measure_broadcasts(const machine_options& on, int cores) {
  json rows = json::array();
  for (std::size_t kind = 0; kind < broadcast_names.size(); ++kind) {
    for (const transport by : transports) {
      for (const std::size_t bytes : {std::size_t{32}, std::size_t{2048}, std::size_t{32768}}) {
        const double took = microseconds(on, cores, options_of(by), [&](scc_communicator& c) {
          std::vector<char> data(bytes);
          c.bcast(std::span{data}, 0, static_cast<broadcast_kind>(kind));
        });
        rows.push_back({{"broadcast", broadcast_names[kind]},
                        {"protocol", name_of(by)},
                        {"bytes", bytes},
                        {"virtual_us", took}});
      }
    }
  }
  return rows;
}

/// Measures a barrier; `make(memory, team, place)` makes a core's, whose words are at `place`.
template <class Make>
double barrier_microseconds(const machine_options& on, int cores, Make make) {
  virtual_time begun, ended;
  simulate(
      cores,
      [&](scc_communicator& c, symmetric_allocator& left) {
        const auto words =
            left.allocate(dissemination_barrier<scc_backend::memory>::bytes_needed(cores));
        if (!words) throw usage_error("scc-messages: no message-passing memory for a barrier");
        auto barrier = make(c.memory(), c.members(), words->offset());
        barrier.wait();
        if (c.rank() == 0) begun = c.memory().now();
        for (int i = 0; i < rounds; ++i) barrier.wait();
        if (c.rank() == 0) ended = c.memory().now();
      },
      on);
  return (ended - begun).in_seconds().value * 1e6 / rounds;
}

json measure_barriers(const machine_options& on, int most) {
  using scc_backend::memory;
  json rows = json::array();
  for (const int cores : doubling(2, most)) {
    const auto add = [&](const char* name, double took) {
      rows.push_back({{"barrier", name}, {"cores", cores}, {"virtual_us", took}});
    };
    add("gather-release (RCCE)",
        barrier_microseconds(on, cores, [](memory& m, const team& t, std::size_t place) {
          return gather_release_barrier(m, t, place);
        }));
    add("test-and-set", barrier_microseconds(on, cores, [](memory& m, const team& t, std::size_t) {
          return test_and_set_barrier(m, t);
        }));
    add("dissemination",
        barrier_microseconds(on, cores, [](memory& m, const team& t, std::size_t place) {
          return dissemination_barrier(m, t, place);
        }));
  }
  return rows;
}

double lock_microseconds(const machine_options& on, int cores, lock_retry how) {
  virtual_time begun, ended;
  simulate(
      cores,
      [&](scc_communicator& c, symmetric_allocator& left) {
        const auto line = left.allocate(scc_backend::memory::line_bytes);
        if (!line) throw usage_error("scc-messages: no message-passing memory for a word");
        const auto counted = c.memory().at(core_id{0}, line->offset()).as<word>();
        test_and_set_lock lock(c.memory(), core_id{0}, how);
        const auto increment = [&] {
          const std::lock_guard held(lock);
          c.memory().store(counted, c.memory().load(counted) + 1);
        };
        c.barrier();
        if (c.rank() == 0) begun = c.memory().now();
        for (int i = 0; i < rounds; ++i) increment();
        c.barrier();
        if (c.rank() == 0) ended = c.memory().now();
      },
      on);
  return (ended - begun).in_seconds().value * 1e6 / rounds;
}

/// Measures the time per core if all want a lock at once to increment a word under it.
json measure_locks(const machine_options& on, int most) {
  json rows = json::array();
  for (const auto& [name, retry] : {std::pair{"spin (RCCE)", lock_retry::spin},
                                    std::pair{"exponential backoff", lock_retry::backoff}}) {
    for (const int cores : doubling(1, most, 4)) {
      rows.push_back({{"lock", name},
                      {"cores", cores},
                      {"virtual_us_each", lock_microseconds(on, cores, retry) / cores}});
    }
  }
  return rows;
}

json measure_exchanges(const machine_options& on, int cores) {
  json rows = json::array();
  for (const transport by : transports) {
    for (const std::size_t bytes : {std::size_t{32}, std::size_t{512}, std::size_t{8192}}) {
      const std::size_t all = bytes * static_cast<std::size_t>(cores);
      const double took = microseconds(on, cores, options_of(by), [&](scc_communicator& c) {
        std::vector<char> mine(all), theirs(all);
        c.all_to_all(std::span<const char>{mine}, std::span{theirs});
      });
      rows.push_back({{"all-to-all", "pairwise exchange"},
                      {"protocol", name_of(by)},
                      {"bytes_a_pair", bytes},
                      {"virtual_us", took}});
    }
  }
  return rows;
}

void run(const chip_options& given, bool as_json) {
  refuse_records(given, "scc-messages");
  const machine_options on = to_machine_options(given);
  const int cores = participating_cores(given, on);
  if (cores < 2) throw usage_error("scc-messages: needs at least two cores");
  json all{{"schema_version", 2},
           {"command", "bench scc-messages"},
           {"chip", on.description.name},
           {"cores", cores},
           {"send_receive", measure_sends(on, cores)},
           {"broadcast", measure_broadcasts(on, cores)},
           {"all_to_all", measure_exchanges(on, cores)},
           {"halo", measure_halo(on, cores)},
           {"barrier", measure_barriers(on, cores)},
           {"lock", measure_locks(on, cores)}};
  if (as_json) {
    fmt::print("{}\n", with_energy(all).dump(2));
    return;
  }
  fmt::print("Chip {}, {} cores; virtual time\n", on.description.name, cores);
  constexpr int width = 23;
  print_rows("Send and receive, first to last core", all["send_receive"], width);
  print_rows("Broadcast, each of eight in a row, which overlap", all["broadcast"], width);
  print_rows("All to all, each of eight in a row", all["all_to_all"], width);
  print_rows("Halo of a grid, each of eight in a row", all["halo"], 36);
  print_rows("Barrier", all["barrier"], width);
  print_rows("Lock that all want at once", all["lock"], width);
}

}  // namespace

void add_scc_messages(command_line::command& bench) {
  struct arguments {
    chip_options chip;
    bool as_json = false;
  };
  const auto given = std::make_shared<arguments>();
  command_line::command* command = bench.add_subcommand(
      "scc-messages",
      "Measure messages, collectives, barriers and locks on the simulated chip, in virtual time");
  add_chip_options(*command, given->chip);
  command->add_flag("--json", given->as_json, "Print a JSON object");
  command->footer(R"(Examples:
  creek bench scc-messages
  creek bench scc-messages --chip scc-800 --cores 8 --json)");
  command->callback([given] { run(given->chip, given->as_json); });
}

}  // namespace creek::tool
