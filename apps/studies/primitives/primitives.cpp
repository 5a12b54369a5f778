// SPDX-License-Identifier: Apache-2.0
// `creek bench scc-primitives`: compares published figures of the chip's primitives with the
// measurements of a program on the simulated chip.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <creek/scc/spmd.hpp>

#include "chip/chip_options.hpp"
#include "command_line/command.hpp"
#include "command_line/process.hpp"
#include "json/json_value.hpp"
#include "measured_chip.hpp"
#include "output/energy.hpp"
#include "studies/studies.hpp"

namespace creek::tool {
namespace {

using namespace scc_backend;
using json = json_value;
using enum measured_chip::operation;
using enum measured_chip::distance;

constexpr double tolerance = 0.03;

/// A published figure: one number, or a range.
struct row {
  std::string name;
  const char* unit;
  const char* source;
  double low, high;  ///< range in the paper
  double simulated;
  std::string chip;
  bool comparable;  ///< measured on the chip that the paper is about

  double error() const {
    if (simulated >= low && simulated <= high) return 0;
    const double nearest = simulated < low ? low : high;
    return simulated / nearest - 1;
  }
  bool off() const { return comparable && std::abs(error()) > tolerance; }
};

class table {
 public:
  table(const chip& what, bool comparable) : on_{what}, comparable_{comparable} {}
  void add(std::string name, const char* unit, const char* source, double low, double high,
           double simulated) {
    rows.push_back(
        {std::move(name), unit, source, low, high, simulated, on_.description().name, comparable_});
  }
  void add(std::string name, const char* unit, const char* source, double paper, double simulated) {
    add(std::move(name), unit, source, paper, paper, simulated);
  }
  const measured_chip& chip_measured() const { return on_; }
  std::vector<row> rows;

 private:
  measured_chip on_;
  bool comparable_;
};

/// Measures core cycles at 800/1600 MHz: Table I of [Rotta 2012] and of [Rotta 2011].
void measure_latencies(table& t) {
  const measured_chip& on = t.chip_measured();
  const auto pair = [&](const char* name, measured_chip::operation what, double near, double far) {
    t.add(fmt::format("{}, same tile", name), "cycles", "[R12]", near, on.cycles_of(what, nearest));
    t.add(fmt::format("{}, 8 hops", name), "cycles", "[R12]", far, on.cycles_of(what, farthest));
  };
  t.add("word write, until the core goes on", "cycles", "[R12]", 5,
        on.cycles_of(store_issue, nearest));
  pair("word write, one after the other", store, 51, 84);
  pair("word read", load, 54, 87);
  t.add("line write, until the core goes on", "cycles", "[R12]", 25,
        on.cycles_of(line_write_issue, nearest));
  pair("line write, one after the other", line_write, 78, 108);
  pair("line read", line_read, 60, 90);
  pair("test-and-set", test_and_set, 54, 87);
  t.add("a hop there and back", "mesh cycles", "[R12]", 8, on.hop_mesh_cycles());
  t.add("counter, nearest core", "cycles", "[R12]", 240, on.counter_cycles(nearest));
  t.add("counter, farthest core", "cycles", "[R12]", 270, on.counter_cycles(farthest));
  t.add("CL1INVMB", "cycles", "[M]", 1, on.invalidate_cycles());
  t.add("L1 hit, a word", "cycles", "[M]", 1, on.l1_word_cycles());
  t.add("L2 flush, reading 256 KB", "cycles", "[R12]", 1'000'000, on.flush_cycles(false));
  t.add("L2 flush, reading aliases", "cycles", "[R12]", 580'000, on.flush_cycles(true));
  t.add("interrupt, to the handler", "cycles", "[R12]", 600, on.interrupt_cycles());
}

void measure_sharing(table& t) {
  const measured_chip& on = t.chip_measured();
  const double clock = on.description().clocks.core.frequency().value;
  const int all = on.description().cores();
  t.add("buffer, a request with all cores reading", "cycles", "[R12]", 5, 6,
        clock / on.mpb_readers(all));
  t.add("buffer, readers that saturate it", "cores", "[R12]", 15,
        on.saturating_cores([&](int cores) { return on.mpb_readers(cores); }));
  t.add("counter, an increment by all cores", "cycles", "[R12]", 33, clock / on.counter_users(all));
  t.add("counter, cores that saturate it", "cores", "[R12]", 8,
        on.saturating_cores([&](int cores) { return on.counter_users(cores); }));
}

/// Measures MB/s of one core at 533/800/800 [van Tol 2011].
void measure_throughput(table& t) {
  const measured_chip& on = t.chip_measured();
  const chip& what = on.description();
  const std::size_t l1 = what.l1_bytes, l2 = what.l2_bytes, dram = 4 * l2;
  const auto add = [&](const char* name, double paper, double simulated) {
    t.add(name, "MB/s", "[T]", paper, simulated);
  };
  add("read, set in L1", 400, on.private_read_rate(l1));
  add("write, set in L1", 400, on.private_write_rate(l1, write_mode::cached));
  add("read, set in L2", 285, on.private_read_rate(l2));
  add("write, set in L2, write-back", 116, on.private_write_rate(l2, write_mode::cached));
  add("write, set in L2, write-combined", 130, on.private_write_rate(l2, write_mode::combined));
  add("read, set in DRAM", 107, on.private_read_rate(dram));
  add("write, set in DRAM, write-around", 22, on.private_write_rate(dram, write_mode::cached));
  add("write, set in DRAM, write-combined", 125, on.private_write_rate(dram, write_mode::combined));
  add("read, shared MPBT", 107, on.mpbt_rate(false));
  add("write, shared MPBT", 125, on.mpbt_rate(true));
  add("read, uncached", 20, on.uncached_rate(false));
  add("write, uncached", 20, on.uncached_rate(true));
}

void measure_contention(table& t) {
  const measured_chip& on = t.chip_measured();
  const chip& what = on.description();
  const int controllers = static_cast<int>(what.controllers_at.size());
  const int all = what.cores();
  const auto ranks_of = [&](int how_many) {
    std::vector<measured_chip::rank_id> ranks;
    for (int c = 0; c < std::min(how_many, controllers); ++c) {
      for (int r = 0; r < what.ranks_per_controller; ++r) ranks.push_back({c, r});
    }
    return ranks;
  };
  const auto add = [&](const char* name, int cores, double paper,
                       const std::vector<measured_chip::rank_id>& ranks) {
    const auto together = [&](int n) { return on.rank_writers(n, ranks); };
    t.add(fmt::format("{}, {} cores", name, cores), "GB/s", "[T]", paper,
          together(std::min(cores, all)) / 1e9);
    t.add(fmt::format("{}, cores that saturate", name), "cores", "[T]", cores,
          on.saturating_cores(together));
  };
  add("one rank", 9, 1.0, {{0, 0}});
  add("one controller", 19, 1.8, ranks_of(1));
  add("two controllers", 40, 3.4, ranks_of(2));
  t.add("own controllers, 48 cores", "GB/s", "[T]", 5.9,
        on.private_writers(std::min(48, all)) / 1e9);
}

std::vector<row> measure(const std::string& asked) {
  const auto on = [&](const char* preset) {
    const bool as_published = asked.empty() || asked == preset;
    chip_options chosen;
    chosen.chip = asked.empty() ? preset : asked;
    return table(to_machine_options(chosen).description, as_published);
  };
  table latencies = on("scc-800"), throughputs = on("scc-533");
  measure_latencies(latencies);
  measure_sharing(latencies);
  measure_throughput(throughputs);
  measure_contention(throughputs);
  std::vector<row> all = std::move(latencies.rows);
  for (row& r : throughputs.rows) all.push_back(std::move(r));
  return all;
}

std::string paper_text(const row& r) {
  if (!r.comparable) return "-";
  return r.low == r.high ? fmt::format("{:g}", r.low) : fmt::format("{:g}-{:g}", r.low, r.high);
}

void print_text(const std::vector<row>& rows) {
  fmt::print("{:<42} {:<12} {:<8} {:<7} {:>9} {:>11} {:>8}\n", "primitive", "unit", "chip",
             "source", "paper", "simulated", "error");
  for (const row& r : rows) {
    fmt::print("{:<42} {:<12} {:<8} {:<7} {:>9} {:>11.5g} {:>8}{}\n", r.name, r.unit, r.chip,
               r.source, paper_text(r), r.simulated,
               r.comparable ? fmt::format("{:+.1f} %", 100 * r.error()) : "-",
               r.off() ? "  OFF" : "");
  }
}

json json_of(const std::vector<row>& rows) {
  json list = json::array();
  for (const row& r : rows) {
    json one = {{"name", r.name}, {"unit", r.unit}, {"chip", r.chip}, {"source", r.source}};
    if (r.comparable) {
      one["paper"] = r.low == r.high ? json(r.low) : json({r.low, r.high});
      one["error"] = r.error();
    }
    one["simulated"] = r.simulated;
    list.push_back(std::move(one));
  }
  return {{"schema_version", 1},
          {"command", "bench scc-primitives"},
          {"tolerance", tolerance},
          {"primitives", list}};
}

constexpr const char* primitives_notes =
    R"(Each figure is measured by a program that runs on the simulated chip,
by its core's clock. Latencies are published for 800/1600/1066 MHz and
throughputs for 533/800/800 MHz, so that without --chip each is measured on
its own preset. Saturated: with 97 % of what all cores get together.
Exit code 1 if a figure is off by more than 3 %.)";

}  // namespace

void add_scc_primitives(command_line::command& bench, int& exit_code) {
  struct options {
    std::string chip;
    bool as_json = false;
  };
  const auto given = std::make_shared<options>();
  command_line::command* command = bench.add_subcommand(
      "scc-primitives", "Measure the simulated chip's primitives beside the published figures");
  command->add_option("--chip", given->chip, "Measure everything on this chip: a preset or a file")
      ->type_name("NAME|FILE");
  command->add_flag("--json", given->as_json, "Print a JSON object with a \"schema_version\"");
  command->footer(primitives_notes);
  command->callback([given, &exit_code] {
    const std::vector<row> rows = measure(given->chip);
    if (given->as_json) {
      fmt::print("{}\n", with_energy(json_of(rows)).dump(2));
    } else {
      print_text(rows);
    }
    const auto off = std::count_if(rows.begin(), rows.end(), [](const row& r) { return r.off(); });
    if (off > 0) {
      command_line::print_error(fmt::format(
          "creek: scc-primitives: {} of {} figures are off by more than 3 %", off, rows.size()));
      exit_code = 1;
    }
  });
}

}  // namespace creek::tool
