// SPDX-License-Identifier: Apache-2.0
// `creek kmeans`: finds clusters of points.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <creek/core/error.hpp>
#include <creek/core/io/data_fault.hpp>
#include <creek/mapreduce.hpp>
#include <creek/mapreduce/machines/own_splits.hpp>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "command_line/command.hpp"
#include "commands.hpp"
#include "jobs/job_options.hpp"
#include "jobs/job_run.hpp"
#include "jobs/rank_group.hpp"
#include "kmeans/points.hpp"
#include "options/csv_options.hpp"
#include "output/counted.hpp"

namespace creek::tool {
namespace {

enum class cloud_format { text, floats };

struct kmeans_arguments {
  job_options job;
  csv_arguments csv;
  cloud_format format = cloud_format::text;
  long long dimensions = 0;
  long long clusters = 0;
  long long rounds = 300;
  double tolerance = 0;
  mapreduce::k_means_start start = mapreduce::k_means_start::random;
  std::uint64_t seed = 0;
};

constexpr const char* kmeans_notes =
    R"(Points are lines of text with one column per dimension or, with --format floats, binary records of
--dimensions floats in the byte order of this machine. The first centres are points chosen by --start
and --seed: at random; by k-means++, which prefers points far from those chosen before; or the first
points. Rounds continue until no centre moves further than --tolerance. Results do not depend on the
number of workers and ranks.
{}
{}

  creek kmeans --clusters 8 points.csv
  creek kmeans --clusters 3 --columns lon,lat --seed 7 --json places.csv
  creek kmeans --clusters 20 --start kmeans++ points.csv
  creek kmeans --clusters 100 --format floats --dimensions 3 --rounds 20 cloud.bin
  mpirun -n 4 creek kmeans --clusters 100 --backend mpi points.csv)";

struct gather_points {
  using key_type = mapreduce::origin;
  using value_type = some_points;
  std::size_t columns = 0;  // columns per record

  template <class Emit>
  static void map(const mapreduce::csv_rows<float>& rows, Emit& emit) {
    emit(rows.from, some_points{{rows.values.begin(), rows.values.end()}, rows.columns});
  }
  template <class Emit>
  void map(const mapreduce::record_span<float>& records, Emit& emit) const {
    for (std::size_t i = 0; i < records.size(); ++i) {
      if (std::isfinite(records[i])) continue;
      fail(data_fault::malformed,
           fmt::format("{}: byte {}: {} is not a finite number", records.file_name(),
                       records.from.offset + i * sizeof(float), records[i]));
    }
    emit(records.from, some_points{{records.begin(), records.end()}, columns});
  }
  static void combine(some_points& into, some_points&& from) {
    into.values.insert(into.values.end(), from.values.begin(), from.values.end());
  }
};

struct clustering {
  cloud from;
  mapreduce::k_means_result found;
  job_report report;
};

template <class Input>
cloud read_points(job_run& run, const gather_points& job, Input& from, rank_group* ranks) {
  if (ranks != nullptr) mapreduce::require_equal_input(*ranks, from);
  mapreduce::own_splits<Input> mine(from, ranks == nullptr ? 0 : ranks->rank(),
                                    ranks == nullptr ? 1 : ranks->size(),
                                    mapreduce::split_dealing::in_blocks);
  auto pieces = run(job, mine);
  return join_points(pieces.records, from.files(), ranks);
}

template <class Input>
clustering cluster(const kmeans_arguments& given, job_run& run, Input& from, rank_group* ranks) {
  const auto dimensions = static_cast<std::size_t>(given.dimensions);
  clustering made{.from = read_points(run, {dimensions}, from, ranks), .found = {}, .report = {}};
  const mapreduce::k_means_options chosen{.clusters = static_cast<std::size_t>(given.clusters),
                                          .dimensions = made.from.dimensions,
                                          .start = given.start,
                                          .seed = given.seed,
                                          .max_rounds = static_cast<std::size_t>(given.rounds),
                                          .tolerance = given.tolerance};
  made.found =
      ranks == nullptr
          ? run.workers().run([&] { return mapreduce::k_means(made.from.points, chosen); })
          : mapreduce::k_means_on_machines(made.from.points, *ranks, run.workers(), chosen);
  made.report = run.report(from.files());
  return made;
}

std::span<const float> centre(const clustering& made, std::size_t c) {
  return std::span(made.found.centres).subspan(c * made.from.dimensions, made.from.dimensions);
}

const char* start_name(mapreduce::k_means_start start) {
  switch (start) {
    case mapreduce::k_means_start::plus_plus:
      return "kmeans++";
    case mapreduce::k_means_start::first:
      return "first";
    default:
      return "random";
  }
}

json_value to_json(const kmeans_arguments& given, const clustering& made) {
  json_value clusters = json_value::array();
  for (std::size_t c = 0; c < made.found.sizes.size(); ++c) {
    clusters.push_back({{"points", made.found.sizes[c]}, {"centre", centre(made, c)}});
  }
  return {{"n", made.from.count},
          {"dimensions", made.from.dimensions},
          {"start", start_name(given.start)},
          {"seed", given.seed},
          {"rounds", made.found.rounds},
          {"converged", made.found.converged},
          {"inertia", made.found.inertia},
          {"rounds_ms", std::chrono::duration<double, std::milli>(made.found.round_time).count()},
          {"clusters", clusters}};
}

void print_text(const clustering& made) {
  fmt::print("{} points of {}, {} of {:.3f} ms{}\ninertia {}\n", made.from.count,
             counted(made.from.dimensions, "dimension"), counted(made.found.rounds, "round"),
             std::chrono::duration<double, std::milli>(made.found.round_time).count() /
                 static_cast<double>(made.found.rounds),
             made.found.converged ? "" : ", not converged", made.found.inertia);
  print_run(stdout, made.report);
  fmt::print("\n{:>8} {:>12}  centre\n", "cluster", "points");
  for (std::size_t c = 0; c < made.found.sizes.size(); ++c) {
    fmt::print("{:>8} {:>12}  {}\n", c, made.found.sizes[c], fmt::join(centre(made, c), " "));
  }
}

void print_lines(const clustering& made) {
  for (std::size_t c = 0; c < made.found.sizes.size(); ++c) {
    fmt::print("{}\t{}\n", made.found.sizes[c], fmt::join(centre(made, c), "\t"));
  }
}

void say(const kmeans_arguments& given, const clustering& made) {
  print_results(given.job, made.report,
                {.command = "kmeans",
                 .members = [&] { return to_json(given, made); },
                 .print_lines = [&] { print_lines(made); },
                 .print_text = [&] { print_text(made); }});
}

void check(const command_line::command& command, const kmeans_arguments& given) {
  if (given.format == cloud_format::text) {
    refuse(command, {"--dimensions"}, "needs --format floats; text has one dimension per column");
    (void)format_of(given.csv);
    return;
  }
  refuse(command, {"--columns", "--separator", "--header"}, "needs --format text");
  if (given.dimensions == 0) throw usage_error("--format floats: --dimensions is required");
}

/// Clusters in one process, or on one of the ranks.
void kmeans(const kmeans_arguments& given, rank_group* ranks) {
  job_run run(given.job, ranks);
  run.start();
  const auto names = input_names(given.job);
  const mapreduce::text_files::settings how{.skip_unreadable = given.job.skip_unreadable};
  if (given.format == cloud_format::floats) {
    mapreduce::fixed_records<float> from(names, static_cast<std::size_t>(given.dimensions), how);
    const clustering made = cluster(given, run, from, ranks);
    if (run.has_results()) say(given, made);
  } else {
    mapreduce::csv_columns<float> from(names, format_of(given.csv), how);
    const clustering made = cluster(given, run, from, ranks);
    if (run.has_results()) say(given, made);
  }
}

}  // namespace

void add_kmeans(command_line::command& app, int& exit_code) {
  auto given = std::make_shared<kmeans_arguments>();
  command_line::command* command = app.add_subcommand("kmeans", "Cluster points");
  command->footer(fmt::format(kmeans_notes, csv_notes, names_notes));
  add_job_options(*command, given->job, "Print only lines POINTS TAB CENTRE..., one per cluster",
                  {"mpi"});
  command->add_option("--clusters", given->clusters, "Number of clusters")->required()->at_least(1);
  command->add_option("--rounds", given->rounds, "Maximum number of rounds")
      ->at_least(1)
      ->show_default();
  command
      ->add_option("--tolerance", given->tolerance, "Stop when no centre moves further than this")
      ->at_least(0)
      ->show_default();
  command
      ->add_choice("--start", given->start,
                   {{"random", mapreduce::k_means_start::random},
                    {"kmeans++", mapreduce::k_means_start::plus_plus},
                    {"first", mapreduce::k_means_start::first}},
                   "Choice of the first centres")
      ->option_text("random|kmeans++|first");
  command->add_option("--seed", given->seed, "Seed for choosing the first centres")->show_default();
  command
      ->add_choice("--format", given->format,
                   {{"text", cloud_format::text}, {"floats", cloud_format::floats}},
                   "Contents of the files")
      ->option_text("text|floats");
  command->add_option("--dimensions", given->dimensions, "Floats per point, with --format floats")
      ->range(1, 1 << 20);
  add_csv_options(*command, given->csv);
  command->callback([given, command, &exit_code] {
    check(*command, *given);
    exit_code =
        on_ranks_if_asked(*command, given->job, [&](rank_group* ranks) { kmeans(*given, ranks); });
  });
}

}  // namespace creek::tool
