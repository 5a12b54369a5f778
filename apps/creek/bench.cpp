// SPDX-License-Identifier: Apache-2.0
// `creek bench tasking` and similar: the command lines of the studies (bench/study.hpp), and the
// schedulers on the simulated chip. Only runs what is built; bench/README.md has the protocol.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <creek/core/error.hpp>
#include <creek/tasking/options.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "bench/doubling.hpp"
#include "bench/study.hpp"
#include "chip/chip_options.hpp"
#include "command_line/command.hpp"
#include "commands.hpp"
#include "options/distinct.hpp"
#include "options/runtime_choice.hpp"
#include "output/output_file.hpp"
#include "output/progress_line.hpp"
#include "studies/chip/scc_schedulers.hpp"

namespace creek::tool {
namespace {

using namespace bench;

/// Options of `bench schedulers --backend scc`: its own sizes and output; the common options only
/// for files.
struct scc_options {
  std::string backend = "host";
  chip_options chip;
  std::string csv;
  std::vector<std::string> schedulers;
  scc_plan plan;
};

int run_on_scc(const bench_options& o, scc_options given) {
  scc_plan& plan = given.plan;
  plan.chip = to_machine_options(given.chip);
  if (given.chip.seed != 0) plan.seed = given.chip.seed;
  const auto there = static_cast<unsigned>(plan.chip.description.cores());
  if (plan.cores.empty()) plan.cores = doubling(1U, there);
  if (o.quick && plan.tasks == 0) plan.tasks = 5000;
  if (!given.schedulers.empty()) plan.schedulers.clear();
  for (const std::string& name : given.schedulers) {
    plan.schedulers.push_back(creek::parse_scheduler(name));
  }
  output_file json(o.json), csv(given.csv);
  std::vector<scc_result> results;
  {
    progress_line line;
    plan.progress = [&line](const std::string& text) { line.show(text); };
    results = run_scc_schedulers(plan);
  }
  json.write(to_json(plan, results));
  csv.write(to_csv(results));
  if (!o.svg.empty()) write_charts(plan, results, o.svg);
  print_table(plan, results, stdout);
  return 0;
}

int run_schedulers(const command_line::command& command, const bench_options& o,
                   const scc_options& given) {
  const bool simulated = given.backend == "scc";
  if (!simulated && given.backend != "host") {
    throw creek::usage_error("--backend must be host or scc, got '" + given.backend + "'");
  }
  const std::vector<const char*> others =
      simulated
          ? std::vector<const char*>{"--size", "--workers", "--runs", "--timeout", "--peer-dir"}
          : std::vector<const char*>{"--cores", "--tasks", "--lengths", "--workload",
                                     "--chip",  "--seed",  "--csv",     "--scheduler",
                                     "--trace", "--check", "--heatmap", "--deque-capacity"};
  for (const char* name : others) {
    if (command.count(name) > 0) {
      throw creek::usage_error(std::string(name) + ": not with --backend " + given.backend);
    }
  }
  require_distinct("--cores", given.plan.cores);
  require_distinct("--lengths", given.plan.lengths_us);
  require_distinct("--workload", given.plan.workloads);
  require_distinct("--scheduler", given.schedulers);
  return simulated ? run_on_scc(o, given) : run_study(o, part::schedulers);
}

void add_scc(command_line::command& command, scc_options& given) {
  scc_plan& plan = given.plan;
  plan.cores.clear();
  command
      .add_option("--backend", given.backend,
                  "Where to run: host (threads) or scc (the simulated chip)")
      ->show_default();
  add_chip_options(command, given.chip, {.cores = false});
  command_line::option_group* group = command.add_option_group(
      "Tasks on the chip", "SPC, BPC and a tree of tasks in virtual time, with --backend scc");
  group
      ->add_option("--cores", plan.cores,
                   "Numbers of cores to measure (default: powers of two, and all)")
      ->delimiter(',')
      ->range(1, creek::scheduler_options::max_workers);
  group->add_option(
      "--tasks", plan.tasks,
      "Approximate number of tasks (default: 100000, 100000 and 242784; --quick: 5000)");
  group->add_option("--lengths", plan.lengths_us, "Microseconds of computation per task")
      ->delimiter(',')
      ->range(1, 1'000'000)
      ->show_default();
  group
      ->add_option("--workload", plan.workloads,
                   "Workloads to run, of spc, bpc and tree (default: all)")
      ->delimiter(',')
      ->suggest({"spc", "bpc", "tree"});
  group
      ->add_option("--scheduler", given.schedulers,
                   "Schedulers to run, of random, last-victim, latency and sharing (default: all "
                   "but last-victim)")
      ->delimiter(',')
      ->suggest({scheduler_choices.begin(), scheduler_choices.end()});
  group
      ->add_option("--deque-capacity", plan.deque_capacity,
                   "Capacity of a deque in tasks (default: 10)")
      ->range(2, 1 << 20);
  group->add_option("--csv", given.csv, "Write the results to FILE")->type_name("FILE");
}

/// Puts the items in front of those of a variable that the peers read, a list with colons.
void pass_on(const char* option, const char* variable, const std::vector<std::string>& items) {
  std::string list;
  for (const auto& item : items) {
    if (item.find(':') != std::string::npos) {
      throw creek::usage_error(fmt::format("{}: '{}' has a colon", option, item));
    }
    list += item + ":";
  }
  const char* before = std::getenv(variable);
  if (!list.empty()) setenv(variable, (list + (before != nullptr ? before : "")).c_str(), 1);
}

/// Measures LAPACK, with the libraries that the options name.
int run_lapack(const bench_options& o) {
  for (const auto& folder : o.library_folders) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(folder, ignored)) {
      throw creek::usage_error("--library-dir: there is no folder '" + folder + "'");
    }
  }
  for (const auto& library : o.libraries) {
    const auto is_name = [](char c) { return c > ' ' && c <= '~' && c != '"' && c != '\\'; };
    const std::size_t end = library.find('=');
    if (end == 0 || end >= library.size() - 1 ||
        !std::all_of(library.begin(), library.begin() + static_cast<std::ptrdiff_t>(end),
                     is_name)) {
      throw creek::usage_error("--library must be NAME=FILE, got '" + library + "'");
    }
  }
  pass_on("--library-dir", "CREEK_BENCH_LIBRARY_PATH", o.library_folders);
  pass_on("--library", "CREEK_BENCH_LIBRARIES", o.libraries);
  return run_study(o, part::workloads);
}

void add_common(command_line::command& command, bench_options& o) {
  command.add_flag("--quick", o.quick,
                   "Use small sizes, for a quick look and not for figures to quote");
  command.add_choice(
      "--size", o.size,
      {{"full", size_class::full}, {"quick", size_class::quick}, {"smoke", size_class::smoke}},
      "Sizes of the workloads; smoke checks answers only");
  command
      .add_option("--workers", o.workers,
                  fmt::format("Numbers of workers to measure, such as 1,2 (default: {})",
                              o.one_worker_too ? "1 and all" : "all"))
      ->delimiter(',')
      ->range(1, 4096);
  command.add_option("--runs", o.rounds, "Number of rounds; each runs every peer once")
      ->range(1, 10000);
  command.add_option("--timeout", o.limit_s, "Time limit per process in seconds (default: 120)")
      ->range(1, 86400);
  command.add_option("--json", o.json, "Write the results to FILE")->type_name("FILE");
  command.add_option("--svg", o.svg, "Draw charts in DIR")->type_name("DIR");
  command.add_option("--peer-dir", o.folder, "Directory of the bench_* programs")->type_name("DIR");
}

void add_sizes(command_line::command& command, bench_options& o, const char* about,
               std::int64_t max = 100'000) {
  command.add_option("-n,--n", o.sizes, about)->delimiter(',')->range(1, max);
}

// The workloads of the programs in bench/, including limits of the machine.
const std::vector<std::string> tasking_workloads{"axpy",
                                                 "bpc",
                                                 "bpc_1us",
                                                 "busy_step",
                                                 "deque",
                                                 "deque_mpb",
                                                 "fence",
                                                 "fib",
                                                 "fib_pauses",
                                                 "futex_wake",
                                                 "graph_chain",
                                                 "graph_random",
                                                 "graph_tree",
                                                 "graph_wavefront",
                                                 "idle",
                                                 "loop_20us",
                                                 "matmul",
                                                 "memory_read",
                                                 "memory_triad",
                                                 "mergesort",
                                                 "nqueens",
                                                 "parallel_sort",
                                                 "ping_pong",
                                                 "rmw",
                                                 "round_trip",
                                                 "runtime_life",
                                                 "skynet",
                                                 "skynet_group",
                                                 "skynet_halves",
                                                 "spc",
                                                 "spc_1us",
                                                 "sum",
                                                 "suspended_bytes",
                                                 "suspended_tasks",
                                                 "uts",
                                                 "wakeup"};
const std::vector<std::string> invoke_workloads{"bare_ring",         "bare_ring_8",
                                                "barrier",           "barrier_tree",
                                                "busy_step",         "channel",
                                                "channel_8",         "channel_shared",
                                                "delegated_counter", "delegated_counter_merged",
                                                "delegated_queue",   "delegated_queue_8",
                                                "futex_trip",        "futex_trip_far",
                                                "group_step",        "hash_update",
                                                "hash_update_256",   "invoke_post",
                                                "invoke_round_trip", "invoke_wake",
                                                "ping_pong",         "work_queue",
                                                "work_queue_1us"};
const std::vector<std::string> linalg_workloads{"cholesky", "dgemm",    "fma_peak",
                                                "lu",       "lu_solve", "qr"};

const std::vector<std::string> stream_workloads{"bare_ring", "stream_2", "stream_4",
                                                "stream_latency", "stream_uneven"};

const std::vector<std::string> mapreduce_workloads{
    "colour_histogram", "count_bigrams", "count_matches",  "count_words",     "count_words_real",
    "distinct_keys",    "filter_lines",  "inverted_index", "kmeans_round",    "line_fit",
    "memory_read",      "sort_records",  "sum_by_key",     "sum_by_key_large"};

const std::vector<std::string> lapack_workloads{
    "dgels_tall",   "dgemm",        "dgemm_small",  "dgeqrf",      "dgeqrf_tall",
    "dgesv_small",  "dgetrf",       "dgetrf_small", "dgetrf_tall", "dpotrf_lower",
    "dpotrf_small", "dpotrf_upper", "dsyrk"};

/// Adds the options that choose workloads and peers.
void add_selection(command_line::command& command, bench_options& o,
                   const std::vector<std::string>& workloads, const char* some_peers) {
  command
      .add_option("--workload", o.workloads,
                  fmt::format("Workloads to run, of {} (default: all)", fmt::join(workloads, ", ")))
      ->delimiter(',')
      ->suggest(workloads);
  command
      .add_option("--peers", o.peers,
                  fmt::format("Peers to run, such as {} (default: all)", some_peers))
      ->delimiter(',');
}

/// Adds the options that choose workloads, peers, and creek's own settings.
void add_choice(command_line::command& command, bench_options& o,
                const std::vector<std::string>& workloads) {
  add_selection(command, o, workloads, "creek,tbb");
  const auto setting = [&](const char* name, std::string& to, const char* about,
                           const auto& choices) {
    command.add_option(name, to, fmt::format("{}: {}", about, fmt::join(choices, ", ")))
        ->suggest({choices.begin(), choices.end()});
  };
  setting("--scheduler", o.scheduler, "creek's scheduler", scheduler_choices);
  setting("--deque", o.deque, "creek's deque", deque_choices);
  setting("--idle", o.idle, "creek's idle policy", idle_choices);
}

void add_lapack(command_line::command& bench, int& exit_code) {
  auto* lapack = bench.add_subcommand(
      "lapack",
      "Measure LAPACK calls of a C program in double precision: the drop-in library beside "
      "OpenBLAS, MKL and BLIS, warm, at best and at the first call");
  const auto options = std::make_shared<bench_options>();
  options->group = "lapack";
  options->one_worker_too = false;
  add_common(*lapack, *options);
  add_sizes(*lapack, *options,
            "Sizes of all chosen workloads, such as 1000,2000 (default: those of each)");
  add_selection(*lapack, *options, lapack_workloads, "creek,mkl");
  lapack
      ->add_option("--library-dir", options->library_folders,
                   "Folders to look for libraries in, before the loader's: such as virtual "
                   "environments with NumPy, SciPy or MKL")
      ->delimiter(',')
      ->type_name("DIR");
  lapack
      ->add_option("--library", options->libraries,
                   "Further libraries to measure, NAME=FILE; a known name replaces its library")
      ->delimiter(',')
      ->type_name("NAME=FILE");
  lapack->footer(R"(Examples:
  creek bench lapack --quick
  creek bench lapack --library-dir ~/venv --workload dgetrf,dgeqrf --peers creek,mkl
  creek bench lapack --library mine=/opt/mine/liblapack.so --workload dgetrf -n 3000)");
  lapack->callback([options, &exit_code] { exit_code = run_lapack(*options); });
}

void add_mapreduce(command_line::command& bench, int& exit_code) {
  auto* mapreduce =
      bench.add_subcommand("mapreduce",
                           "Measure MapReduce jobs, as users write them and as creek ships them: "
                           "beside loops, the standard library, rayon with hashbrown, DuckDB, "
                           "ClickHouse, Polars and grep");
  const auto options = std::make_shared<bench_options>();
  options->group = "mapreduce";
  add_common(*mapreduce, *options);
  add_sizes(*mapreduce, *options,
            "Sizes of all chosen workloads, such as 100,1000000: bytes of text, different keys, "
            "elements (default: those of each)",
            10'000'000'000);
  add_selection(*mapreduce, *options, mapreduce_workloads, "creek,duckdb");
  mapreduce->footer(R"(Examples:
  creek bench mapreduce --quick
  creek bench mapreduce --workload sum_by_key --peers creek,duckdb,polars --runs 9
  creek bench mapreduce --workload line_fit,memory_read --peers creek,libgomp
  creek bench mapreduce --workload count_words -n 512000000 --json figures.json)");
  mapreduce->callback([options, &exit_code] { exit_code = run_study(*options, part::workloads); });
}

}  // namespace

void add_peer_groups(command_line::command& bench, int& exit_code) {
  const auto options = std::make_shared<bench_options>();

  auto* tasking = bench.add_subcommand("tasking",
                                       "Measure tasks: ratios to serial code, oneTBB, OpenMP, "
                                       "rayon, chili and the machine's limits");
  add_common(*tasking, *options);
  add_choice(*tasking, *options, tasking_workloads);
  tasking->footer(R"(Examples:
  creek bench tasking --quick
  creek bench tasking --workload fib,nqueens --peers creek,tbb --workers 1,2
  creek bench tasking --json figures.json --svg charts/)");
  tasking->callback([options, &exit_code] {
    // A run of single workloads or peers leaves out the comparison of creek with itself.
    const bool all = options->workloads.empty() && options->peers.empty();
    exit_code = run_study(*options, all ? part::both : part::workloads);
  });

  auto* invoke = bench.add_subcommand(
      "invoke",
      "Measure calls of objects on other workers: round trip, to a sleeping worker, one way; a "
      "counter, a queue and a hash table that all workers share");
  const auto calls = std::make_shared<bench_options>();
  calls->group = "invoke";
  invoke->add_flag(
      "--sections", [calls] { calls->group = "sections"; },
      "Measure critical sections of many sizes instead, sent to their data or under locks");
  add_common(*invoke, *calls);
  add_choice(*invoke, *calls, invoke_workloads);
  invoke->footer(R"(Examples:
  creek bench invoke --quick
  creek bench invoke --workload invoke_post,invoke_wake
  creek bench invoke --sections --workers 2)");
  invoke->callback([calls, &exit_code] { exit_code = run_study(*calls, part::workloads); });

  auto* linalg =
      bench.add_subcommand("linalg",
                           "Measure dense linear algebra in double precision: dgemm, LU, Cholesky, "
                           "QR and solve beside OpenBLAS, MKL, BLIS and faer, in GFLOP/s");
  const auto dense = std::make_shared<bench_options>();
  dense->group = "linalg";
  add_common(*linalg, *dense);
  add_sizes(*linalg, *dense, "Sizes to run, such as 1000,2000");
  add_choice(*linalg, *dense, linalg_workloads);
  linalg->footer(R"(Examples:
  creek bench linalg --n 1000,2000
  creek bench linalg --workload lu,qr --peers creek,blas)");
  linalg->callback([dense, &exit_code] { exit_code = run_study(*dense, part::workloads); });

  add_lapack(bench, exit_code);
  add_mapreduce(bench, exit_code);

  auto* stream = bench.add_subcommand(
      "stream", "Measure networks of processes and pipelines beside oneTBB's and FastFlow's");
  const auto streams = std::make_shared<bench_options>();
  streams->group = "stream";
  add_common(*stream, *streams);
  add_choice(*stream, *streams, stream_workloads);
  stream->footer(R"(Examples:
  creek bench stream --quick
  creek bench stream --workload stream_4 --workers 1,2)");
  stream->callback([streams, &exit_code] { exit_code = run_study(*streams, part::workloads); });

  auto* schedulers =
      bench.add_subcommand("schedulers",
                           "Compare creek's schedulers and deques on fib without cutoff, and on "
                           "the simulated chip on SPC, BPC and a tree");
  add_common(*schedulers, *options);
  schedulers->footer(R"(Examples:
  creek bench schedulers --workers 2
  creek bench schedulers --backend scc --cores 1,48 --lengths 10 --workload spc)");
  const auto on_scc = std::make_shared<scc_options>();
  add_scc(*schedulers, *on_scc);
  schedulers->callback([options, on_scc, schedulers, &exit_code] {
    exit_code = run_schedulers(*schedulers, *options, *on_scc);
  });
}

}  // namespace creek::tool
