// SPDX-License-Identifier: Apache-2.0
// `creek tpch`: loads TPC-H tables and runs queries on them.
#include "tpch/query.hpp"

#include <fmt/format.h>

#include <chrono>
#include <creek/core/error.hpp>
#include <creek/tasking/runtime.hpp>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <support/median.hpp>
#include <vector>

#include "chip/chip_options.hpp"
#include "command_line/command.hpp"
#include "commands.hpp"
#include "jobs/job_options.hpp"
#include "json/json_value.hpp"
#include "output/energy.hpp"
#include "studies/tpch/paper_form.hpp"
#include "tpch/database.hpp"
#include "tpch/timed_query.hpp"

namespace creek::tool {
namespace {

constexpr int load_schema = 1;
constexpr int query_schema = 2;

constexpr const char* tpch_notes =
    R"(The tables are text as dbgen or tpchgen-cli write it, DIR/lineitem.tbl and so on, or in parts,
DIR/lineitem.tbl.1, DIR/lineitem.tbl.2 or DIR/lineitem/lineitem.1.tbl. They may also be Parquet, if
creek was built with Arrow: DIR/lineitem.parquet, DIR/lineitem/*.parquet. `load` creates a cache of
each table, DIR/lineitem.creek, which later queries map instead of reading the table again.

  creek tpch load /data/sf1
  tpchgen-cli parquet -s 10 --parts 4 -o sf10 && creek tpch q6 --data sf10
  creek tpch q6 --data /data/sf1 --param DATE=1995-01-01 --param DISCOUNT=0.05
  creek tpch q1 --data /data/sf1 --workers 2 --repeat 9 --json)";

constexpr const char* query_notes =
    R"(Parameters that are not given have the values of the specification's validation run. Bytes touched
are the bytes of the scanned columns and of the values taken from other columns. They are compared
with the bandwidth at which the same workers sum an array of 256 MiB.

  creek tpch {0} --data /data/sf1
  creek tpch {0} --data /data/sf1 --workers 2 --repeat 9 --json)";

double megabytes_a_second(std::uint64_t bytes, std::chrono::duration<double> taken) {
  return static_cast<double>(bytes) / 1e6 / taken.count();
}

void print_load(const tpch_arguments& given, const tpch::database& from) {
  auto tables = json_value::array();
  for (const tpch::table_source& source : from.sources()) {
    tables.push_back({{"table", source.table},
                      {"rows", source.rows},
                      {"files", source.files},
                      {"format", source.format == tpch::file_format::text ? "text" : "parquet"},
                      {"text_bytes", source.text_bytes},
                      {"cache_bytes", source.cache_bytes},
                      {"reading_s", source.reading.count()},
                      {"writing_s", source.writing.count()}});
    if (given.as_json) continue;
    fmt::print(
        "{:<9} {:>11} rows  {:>8.1f} MB of {} in {:.3f} s, {:.0f} MB/s; cache {:.1f} MB, "
        "{:.3f} s\n",
        source.table, source.rows, static_cast<double>(source.text_bytes) / 1e6,
        source.format == tpch::file_format::text ? "text" : "Parquet", source.reading.count(),
        megabytes_a_second(source.text_bytes, source.reading),
        static_cast<double>(source.cache_bytes) / 1e6, source.writing.count());
  }
  if (!given.as_json) return;
  const json_value all{
      {"schema_version", load_schema}, {"command", "tpch load"}, {"tables", tables}};
  fmt::print("{}\n", with_energy(all).dump());
}

void load_tables(const tpch_arguments& given) {
  tpch::database from(given.folder);
  runtime workers = tpch_runtime(given);
  workers.run([&] { from.make_caches(); });
  print_load(given, from);
}

void print_query_text(const tpch_arguments& given, const timed_query& timed) {
  fmt::print("{}", to_text(timed.run.result));
  if (given.answer_only) return;
  const double rate = static_cast<double>(timed.run.bytes) / timed.median.count();
  fmt::print("\n{} rows in {:.3f} ms{}, {:.0f} million rows/s\n", timed.run.rows,
             1e3 * timed.median.count(),
             given.repeat > 1 ? fmt::format(" (median of {})", given.repeat) : "",
             static_cast<double>(timed.run.rows) / 1e6 / timed.median.count());
  fmt::print("{:.1f} MB touched, {:.1f} GB/s, {:.0f} % of the {:.1f} GB/s that memory gives\n",
             static_cast<double>(timed.run.bytes) / 1e6, rate / 1e9, 100 * rate / timed.bandwidth,
             timed.bandwidth / 1e9);
  if (timed.ranks > 0) {
    fmt::print("{} ranks with {} workers, {} bytes sent\n", timed.ranks, timed.workers,
               timed.sent_bytes);
  }
  for (const tpch::table_source& source : timed.sources) {
    fmt::print("{} from {}{} in {:.3f} s\n", source.table, source.file,
               source.files > 1 ? fmt::format(" and {} more", source.files - 1) : "",
               source.reading.count());
  }
  if (!given.explain) return;
  for (const std::string& step : timed.run.steps) fmt::print("- {}\n", step);
}

/// Returns the members that every query has; with --answer-only there are no others.
json_value answer_json(const tpch::query& which, const tpch::parameter_values& values,
                       const tpch::answer& result) {
  return {{"schema_version", query_schema},
          {"command", fmt::format("tpch {}", which.name)},
          {"query", which.name},
          {"parameters", values.describe()},
          {"answer", to_json(result)}};
}

void print_query_json(const tpch_arguments& given, const tpch::query& which,
                      const tpch::parameter_values& values, const timed_query& timed) {
  json_value all = answer_json(which, values, timed.run.result);
  if (!given.answer_only) {
    all.update({{"workers", timed.workers},
                {"rows", timed.run.rows},
                {"bytes", timed.run.bytes},
                {"seconds", timed.median.count()},
                {"runs", given.repeat},
                {"each_s", timed.each},
                {"reading_s", timed.reading.count()},
                {"memory_bytes_s", timed.bandwidth}});
    if (timed.ranks > 0) {
      all.update({{"backend", "mpi"}, {"ranks", timed.ranks}, {"sent_bytes", timed.sent_bytes}});
    }
    if (given.explain) all["steps"] = timed.run.steps;
  }
  fmt::print("{}\n", with_energy(all).dump());
}

/// Medians of several runs, and the answer and energy of the last run.
struct timed_paper {
  paper_run run;
  int ranks = 0;
  std::uint64_t rows = 0;
};

timed_paper run_paper_timed(const paper_form& form, int ranks, const tpch_arguments& given,
                            const scc_backend::machine_options& on) {
  timed_paper timed{{}, ranks, form.rows()};
  std::vector<double> reading, computing;
  for (int i = 0; i < given.repeat; ++i) {
    timed.run = given.backend == "scc" ? form.on_chip(ranks, on) : form.on_host(ranks);
    reading.push_back(timed.run.reading);
    computing.push_back(timed.run.computing);
  }
  timed.run.reading = ::bench::median(reading);
  timed.run.computing = ::bench::median(computing);
  return timed;
}

/// Prints JSON in which seconds of the host and of a simulated chip have different names.
void print_paper_json(const tpch_arguments& given, const tpch::query& which,
                      const tpch::parameter_values& values, const timed_paper& timed) {
  json_value all = answer_json(which, values, timed.run.result);
  all["form"] = "paper";
  if (!given.answer_only) {
    const bool on_chip = given.backend == "scc";
    all.update({{"backend", given.backend},
                {on_chip ? "cores" : "workers", timed.ranks},
                {"rows", timed.rows},
                {"runs", given.repeat},
                {on_chip ? "computing_virtual_s" : "computing_s", timed.run.computing},
                {on_chip ? "reading_virtual_s" : "reading_s", timed.run.reading}});
    if (on_chip) all["joules"] = timed.run.energy.value;
  }
  fmt::print("{}\n", with_energy(all).dump());
}

void print_paper_text(const tpch_arguments& given, const timed_paper& timed) {
  fmt::print("{}", to_text(timed.run.result));
  if (given.answer_only) return;
  const bool on_chip = given.backend == "scc";
  const char* ms = on_chip ? "virtual ms" : "ms";
  fmt::print("\n{} rows on {} {}: computing {:.3f} {}, reading before {:.3f} {}\n", timed.rows,
             timed.ranks, on_chip ? "simulated cores" : "workers", 1e3 * timed.run.computing, ms,
             1e3 * timed.run.reading, ms);
  if (on_chip) fmt::print("{:.1f} mJ\n", 1e3 * timed.run.energy.value);
}

void run_paper(const tpch::query& which, const tpch_arguments& given) {
  const tpch::parameter_values values(which.parameters, given.parameters);
  const scc_backend::machine_options on = to_machine_options(given.chip);
  scheduler_options chosen = scheduler_options::from_environment();
  if (given.workers) chosen.workers = *given.workers;
  tpch::database from(given.folder);
  runtime workers(chosen, "host");  // reads the tables, and determines the number of workers
  std::optional<paper_form> form;
  workers.run([&] { form.emplace(which, from, values); });
  const int ranks = given.backend == "scc" ? participating_cores(given.chip, on)
                                           : static_cast<int>(workers.worker_count());
  const timed_paper timed = run_paper_timed(*form, ranks, given, on);
  if (given.as_json) {
    print_paper_json(given, which, values, timed);
  } else {
    print_paper_text(given, timed);
  }
}

/// Returns the exit code.
int run_query(const tpch::query& which, const tpch_arguments& given) {
  if (given.form == "paper") {
    if (given.in_memory) {
      throw usage_error("--in-memory: not with --form paper, whose tables are always in memory");
    }
    if (given.backend == "mpi") throw usage_error("--backend mpi: not with --form paper");
    run_paper(which, given);
    return 0;
  }
  if (given.backend == "scc") throw usage_error("--backend scc: needs --form paper");
  const tpch::parameter_values values(which.parameters, given.parameters);
  const auto print = [&](const timed_query& timed) {
    if (given.as_json) {
      print_query_json(given, which, values, timed);
    } else {
      print_query_text(given, timed);
    }
  };
  if (given.backend == "mpi") return run_on_ranks(which, values, given, print);
  print(run_timed(which, values, given));
  return 0;
}

void add_shared_options(command_line::command& command, tpch_arguments& given) {
  command.add_option("--workers", given.workers, "Workers")
      ->range(1, scheduler_options::max_workers);
  command.add_flag("--json", given.as_json, "Print a JSON object");
}

void add_query(command_line::command& parent, const tpch::query& which, int& exit_code) {
  auto given = std::make_shared<tpch_arguments>();
  auto* command = parent.add_subcommand(std::string(which.name), std::string(which.about));
  std::string usual;
  for (const tpch::parameter& p : which.parameters) {
    usual += fmt::format("{}{}={}", usual.empty() ? "" : " ", p.name, p.usual);
  }
  command->footer(fmt::format(query_notes, which.name));
  command->add_option("--data", given->folder, "Folder with the tables")->required();
  command->add_option("--param", given->parameters, "NAME=VALUE, of: " + usual)->one_word();
  command->add_option("--repeat", given->repeat, "Number of runs; the median time is printed")
      ->at_least(1)
      ->show_default();
  command->add_flag("--in-memory", given->in_memory,
                    "Copy cached columns to memory first, which makes repeated runs faster");
  const auto* explain =
      command->add_flag("--explain", given->explain, "Print the steps of the query");
  command
      ->add_flag("--answer-only", given->answer_only, "Print only the answer, without measurements")
      ->excludes(explain);
  add_shared_options(*command, *given);
  std::vector<std::string> places{"host", "mpi"};
  if (has_paper_form(which)) places.emplace_back("scc");
  command
      ->add_option("--backend", given->backend,
                   fmt::format("Where to run: on host threads, or on the ranks that mpirun "
                               "starts{}",
                               has_paper_form(which) ? "; --form paper also on scc" : ""))
      ->among(places)
      ->show_default();
  if (has_paper_form(which)) {
    command
        ->add_option("--form", given->form, "full, or paper: the published form with nested loops")
        ->among({"full", "paper"})
        ->show_default();
    add_chip_options(*command, given->chip);
  }
  command->callback([given, command, &which, &exit_code] {
    if (given->backend == "mpi") refuse(*command, {"--energy"}, "not with --backend mpi");
    if (given->backend != "scc") {
      refuse(*command, {"--chip", "--cores", "--seed", "--trace", "--heatmap", "--check"},
             "needs --backend scc");
    }
    exit_code = run_query(which, *given);
  });
}

}  // namespace

void add_tpch(command_line::command& app, int& exit_code) {
  auto* tpch = app.add_subcommand("tpch", "Load TPC-H tables and run queries");
  tpch->require_subcommand();
  tpch->footer(tpch_notes);
  auto given = std::make_shared<tpch_arguments>();
  auto* loader = tpch->add_subcommand("load", "Create a cache of every table in a folder");
  loader->add_option("folder", given->folder, "Folder with the tables")
      ->required()
      ->option_text("DIR");
  add_shared_options(*loader, *given);
  loader->footer(R"(Examples:
  creek tpch load /data/sf1
  creek tpch load /data/sf10 --workers 8 --json)");
  loader->callback([given] { load_tables(*given); });
  for (const tpch::query* which : tpch::queries()) add_query(*tpch, *which, exit_code);
}

}  // namespace creek::tool
