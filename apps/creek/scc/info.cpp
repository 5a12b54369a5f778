// SPDX-License-Identifier: Apache-2.0
// `creek scc info`: layout, domains, clocks and costs of a simulated chip.
#include <fmt/format.h>

#include <memory>
#include <string>

#include <creek/scc/chip_file.hpp>
#include <creek/scc/cost_table.hpp>
#include <creek/scc/spmd.hpp>

#include "chip/chip_options.hpp"
#include "command_line/command.hpp"
#include "commands.hpp"
#include "json/json_value.hpp"

namespace creek::tool {
namespace {

using namespace scc_backend;
using json = json_value;

constexpr int widest = 16;  // most columns of a picture that fit on a terminal

double megahertz(clock_period clock) {
  return clock.frequency().value / 1e6;
}

clock_period clock_of(const chip& what, clock_domain domain) {
  switch (domain) {
    case clock_domain::mesh:
      return what.clocks.mesh;
    case clock_domain::memory:
      return what.clocks.memory;
    case clock_domain::core:
      break;
  }
  return what.clocks.core;
}

double nanoseconds(const chip& what, const cost_entry& entry) {
  return (what.costs.*entry.cost * clock_of(what, entry.domain)).in_seconds().value * 1e9;
}

/// Returns a tile's first and last core, its voltage island, and what is beside its router.
std::string tile_text(const chip& what, int x, int y) {
  const int tile = y * what.columns + x;
  const int first = tile * what.cores_per_tile, last = first + what.cores_per_tile - 1;
  std::string text = first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
  text += fmt::format(" v{}", island_of_tile(what, tile));
  for (std::size_t i = 0; i < what.controllers_at.size(); ++i) {
    if (what.controllers_at[i].x == x && what.controllers_at[i].y == y) {
      text += fmt::format(" m{}", i);
    }
  }
  if (what.counters_at.x == x && what.counters_at.y == y) text += " s";
  return text;
}

void print_layout(const chip& what) {
  if (what.columns > widest) {
    fmt::print("layout      too wide for a picture; tile t at column t % {}, row t / {}\n",
               what.columns, what.columns);
    return;
  }
  fmt::print("layout      cores, v: voltage island, m: memory controller, s: system interface\n");
  for (int y = what.rows - 1; y >= 0; --y) {
    std::string line = fmt::format("  row {:<3} ", y);
    for (int x = 0; x < what.columns; ++x) line += fmt::format("| {:<13}", tile_text(what, x, y));
    fmt::print("{}|\n", line);
  }
  std::string line = "  column  ";
  for (int x = 0; x < what.columns; ++x) line += fmt::format("  {:<13}", x);
  fmt::print("{}\n\n", line.substr(0, line.find_last_not_of(' ') + 1));
}

void print_text(const chip& what) {
  fmt::print("chip        {}: {} cores, {} x {} tiles of {}\n", what.name, what.cores(),
             what.columns, what.rows, what.cores_per_tile);
  fmt::print("clocks      core {:.1f}, mesh {:.1f}, memory {:.1f} MHz; cores {:g} MHz / {} to {}\n",
             megahertz(what.clocks.core), megahertz(what.clocks.mesh),
             megahertz(what.clocks.memory), what.power.reference.value / 1e6,
             what.power.lowest_divider, what.power.highest_divider);
  fmt::print("domains     {} tile clocks, {} voltage islands of {} x {} tiles\n",
             what.columns * what.rows, island_count(what), what.power.island_columns,
             what.power.island_rows);
  std::string levels;
  for (const voltage_level& level : what.power.levels) {
    levels += fmt::format("{}{:.1f} V {:g}", levels.empty() ? "" : ", ", level.voltage.value,
                          level.top.value / 1e6);
  }
  fmt::print("safe        up to MHz: {}\n", levels);
  fmt::print(
      "on chip     {} bytes of message-passing buffer, 1 test-and-set register a core; {} "
      "counters\n",
      what.mpb_bytes, 2 * what.cores());
  fmt::print("off chip    {} controllers of {} ranks; {} MB shared, {} MB a core to be mapped\n\n",
             what.controllers_at.size(), what.ranks_per_controller, what.shared_bytes >> 20,
             what.private_bytes >> 20);
  print_layout(what);
  fmt::print("{:<20} {:>8} {:<7} {:>12}  {:<9} {}\n", "cost", "cycles", "of", "ns now", "source",
             "what");
  for (const cost_entry& entry : cost_table()) {
    fmt::print("{:<20} {:>8} {:<7} {:>12.2f}  {:<9} {}\n", entry.name,
               (what.costs.*entry.cost).count, to_string(entry.domain), nanoseconds(what, entry),
               entry.source, entry.what);
  }
}

json json_of(const chip& what) {
  json costs = json::array();
  for (const cost_entry& entry : cost_table()) {
    costs.push_back({{"name", entry.name},
                     {"cycles", (what.costs.*entry.cost).count},
                     {"clock", to_string(entry.domain)},
                     {"simulated_ns", nanoseconds(what, entry)},
                     {"source", entry.source},
                     {"what", entry.what}});
  }
  json tiles = json::array();
  for (int tile = 0; tile < what.columns * what.rows; ++tile) {
    const core_id first{tile * what.cores_per_tile};
    tiles.push_back({{"column", what.place(first).x},
                     {"row", what.place(first).y},
                     {"first_core", first.value},
                     {"island", island_of_tile(what, tile)},
                     {"controller", what.controller_of(first)}});
  }
  return {{"schema_version", 1},
          {"command", "scc info"},
          {"name", what.name},
          {"cores", what.cores()},
          {"islands", island_count(what)},
          {"tiles", tiles},
          {"costs", costs},
          {"description", json::parse(scc_backend::to_json(what)).value()}};
}

constexpr const char* info_notes = R"(Examples:
  creek scc info                                  the chip that runs by default
  creek scc info --chip scc-800 --description > fast.json
  creek scc info --chip ./fast.json               a chip of your own: edit the file

Sources of costs: backends/scc/include/creek/scc/chip.hpp.)";

}  // namespace

void add_scc_info(command_line::command& scc) {
  struct options {
    chip_options chip;
    bool as_json = false, description = false;
  };
  const auto given = std::make_shared<options>();
  auto* command = scc.add_subcommand("info", "Show layout, domains, clocks and costs of a chip");
  command
      ->add_option("--chip", given->chip.chip,
                   "The chip: scc-533, scc-800, or a file that describes another one")
      ->type_name("NAME|FILE")
      ->show_default();
  command_line::option* machine_readable =
      command->add_flag("--json", given->as_json, "Print a JSON object with a \"schema_version\"");
  command
      ->add_flag("--description", given->description,
                 "Print the chip's description, as a file for --chip")
      ->excludes(machine_readable);
  command->footer(info_notes);
  command->callback([given] {
    const chip what = to_machine_options(given->chip).description;
    if (given->description) {
      fmt::print("{}\n", scc_backend::to_json(what));
    } else if (given->as_json) {
      fmt::print("{}\n", json_of(what).dump(2));
    } else {
      print_text(what);
    }
  });
}

}  // namespace creek::tool
