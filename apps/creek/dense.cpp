// SPDX-License-Identifier: Apache-2.0
// `creek lu`, `chol`, `qr` and `solve`: dense linear algebra on generated matrices and on files,
// with speed and accuracy.
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <string>

#include <creek/core/error.hpp>
#include <creek/linalg/blas_library.hpp>
#include <creek/tasking/runtime.hpp>

#include "command_line/command.hpp"
#include "command_line/process.hpp"
#include "commands.hpp"
#include "dense/measure.hpp"
#include "dense/on_chip.hpp"
#include "dense/on_ranks.hpp"
#include "dense/problem.hpp"
#include "dense/report.hpp"
#include "options/runtime_choice.hpp"

namespace creek::tool {
namespace {

using dense::request;

constexpr const char* notes = R"(
FILE is NumPy's .npy or Matrix Market (.mtx), detected by its content; - is standard input. Without
--type, elements have the smallest type that holds those of the files, or double without files.
Share of gemm: the rate relative to a matrix product of the same type, measured between the runs.
Residuals are scaled: good answers give about 1 at any size. If a residual fails, or the matrix is
singular or not positive definite (info, as in LAPACK), the exit code is 1 and there is no output
file.)";

constexpr const char* lu_notes = R"(
--form blocks stores the matrix in tiles, with incremental pivoting unless --pivoting none is given;
matrices generated for --pivoting none are diagonally dominant.
--output lu.npy has L below the diagonal and U on and above it; lu.pivots.npy has the exchanges: row
i was exchanged with row pivots[i], counted from 0, in the order of i.

  creek lu -n 8000 --runs 7
  creek lu -n 8000 --form blocks
  creek lu --input a.npy --output lu.npy)";

constexpr const char* chol_notes = R"(
--output l.npy has the lower factor L of A = L L'.

  creek chol -n 4000 --type s --json
  creek chol --input covariance.mtx --output l.npy)";

constexpr const char* qr_notes = R"(
--output qr.npy has R on and above the diagonal and Householder's vectors below it; qr.tau.npy has
their scalar factors, as LAPACK's geqrf returns them.

  creek qr -n 4000 --check
  creek qr -n 4000 --form blocks --tree binary
  creek qr --input tall.npy --type d --output qr.npy)";

constexpr const char* solve_notes = R"(
--output x.npy has the solution, one column per right-hand side. rcond is about 1 for a well
conditioned matrix; below the precision of the elements, the solution is meaningless. The GFLOP/s
of --refine mixed count the operations of a solution in double, although it needs fewer.

  creek solve -n 4000 --rhs 10
  creek solve -n 8000 --refine mixed
  creek solve --input a.mtx --rhs-file b.npy --output x.npy
  creek solve --method qr --input tall.npy --rhs-file b.npy      least squares)";

std::string dense_backend(const std::string& given) {
  const std::string name = given.empty() ? backend_of_environment() : given;
  if (name == "scc") {
    throw usage_error(
        "CREEK_BACKEND=scc: linear algebra is measured in the time of this machine; set host or "
        "tbb, or use --backend scc for simulated time");
  }
  return name;
}

int run_dense(const request& given, const std::string& asked_backend) {
  dense::require_sense(given);
  scheduler_options scheduling = scheduler_options::from_environment();
  if (given.workers) scheduling.workers = static_cast<unsigned>(*given.workers);
  const std::string backend = dense_backend(asked_backend);
  (void)linalg::blas_in_use();  // reports an unusable library before the work
  dense::input_files files = dense::open_files(given);
  const dense::problem what = dense::plan(given, files);
  dense::require_memory(what);
  dense::output_files outputs(what);

  runtime workers(scheduling, backend);
  const dense::report found = dense::measure(what, files, outputs, workers);
  if (given.as_json) {
    fmt::print("{}\n", dense::to_json(found));
  } else {
    dense::print_text(found);
  }
  const std::string why = dense::failure(found);
  if (why.empty()) return 0;
  std::fflush(stdout);
  command_line::print_error(fmt::format("creek: {}: {}", what.command, why));
  return 1;
}

void add_check(command_line::command& command, request& given) {
  command_line::option* on = command.add_flag(
      "--check", [&given] { given.check = true; },
      "Compute scaled residuals (default for solve and for files)");
  command_line::option* off = command.add_flag(
      "--no-check", [&given] { given.check = false; },
      "Do not compute them, which saves memory and time");
  on->excludes(off);
}

void add_common(command_line::command& command, request& given) {
  command.add_option("-n", given.n, "Size of a generated square matrix")
      ->at_least(1)
      ->option_text("N");
  command.add_option("--input", given.input, "Read the matrix from FILE")->option_text("FILE");
  using dense::element_type;
  command
      .add_choice("--type", given.type,
                  {{"s", element_type::s},
                   {"d", element_type::d},
                   {"c", element_type::c},
                   {"z", element_type::z}},
                  "Element type: float, double, complex float, complex double")
      ->type_name("TEXT");
  command.add_option("--seed", given.seed, "Seed for generated matrices (default: 1)")->at_least(0);
  command
      .add_option("--block", given.block,
                  "Columns per panel, or the size of a tile (default: chosen by the size)")
      ->at_least(1);
  command.add_option("--workers", given.workers, "Workers")
      ->range(1, scheduler_options::max_workers);
  command
      .add_option("--runs", given.runs, "Number of runs; the median and the spread are reported")
      ->range(1, 1'000'000)
      ->show_default();
  add_check(command, given);
  command
      .add_option("--output", given.output,
                  "Write the answer to FILE, whose name ends in .npy or .mtx")
      ->option_text("FILE");
  command
      .add_option(
          "--trace", given.trace,
          "Write a trace of all workers in the last run's factorization to FILE, for Perfetto")
      ->option_text("FILE");
  command.add_flag("--json", given.as_json, "Print a JSON object with a \"schema_version\"");
}

void add_form(command_line::command& command, request& given) {
  command.add_choice("--form", given.layout,
                     {{"column", dense::form::column}, {"blocks", dense::form::blocks}},
                     "How the matrix is stored: by columns or in tiles (default: column)");
}

void add_pivoting(command_line::command& command, request& given) {
  command.add_choice("--pivoting", given.pivots,
                     {{"partial", dense::pivoting::partial},
                      {"incremental", dense::pivoting::incremental},
                      {"none", dense::pivoting::none}},
                     "Pivoting of LU: partial (columns), incremental or none (blocks)");
}

void add_tree(command_line::command& command, request& given) {
  using linalg::reduction_tree;
  command.add_choice("--tree", given.tree,
                     {{"flat", reduction_tree::flat}, {"binary", reduction_tree::binary}},
                     "Order of eliminations of QR by blocks (default: flat)");
}

command_line::command* add_command(command_line::command& app, int& exit_code,
                                   const std::shared_ptr<request>& given, const char* about,
                                   const char* more) {
  auto* command = app.add_subcommand(given->command(), about);
  add_common(*command, *given);
  command->footer(std::string(notes + 1) + more);
  const auto chip = std::make_shared<dense::chip_request>();
  if (!given->solves) dense::add_chip_request(*command, *chip);
  command->callback([given, chip, command, &exit_code] {
    if (!given->solves && dense::is_on_ranks(*command, *given, *chip)) {
      exit_code = dense::run_on_ranks(*command, *given, *chip);
      return;
    }
    const bool simulated = !given->solves && dense::is_on_chip(*command, *chip);
    exit_code = simulated ? dense::run_on_chip(*given, *chip) : run_dense(*given, chip->backend);
  });
  return command;
}

void add_factorization(command_line::command& app, int& exit_code, dense::method how,
                       const char* about, const char* more) {
  auto given = std::make_shared<request>();
  given->how = how;
  auto* command = add_command(app, exit_code, given, about, more);
  add_form(*command, *given);
  if (how == dense::method::lu) add_pivoting(*command, *given);
  if (how == dense::method::qr) add_tree(*command, *given);
}

void add_solve(command_line::command& app, int& exit_code) {
  auto given = std::make_shared<request>();
  given->solves = true;
  auto* command = add_command(app, exit_code, given, "Solve a dense linear system", solve_notes);
  command->add_choice("--method", given->how, dense::methods,
                      "Factorization to solve by (default: lu)");
  add_form(*command, *given);
  add_pivoting(*command, *given);
  add_tree(*command, *given);
  command->add_choice("--refine", given->refine,
                      {{"none", dense::refinement::none},
                       {"fixed", dense::refinement::fixed},
                       {"mixed", dense::refinement::mixed}},
                      "How to correct the solution: in its own precision (fixed), or with factors "
                      "in float (mixed) (default: none)");
  command->add_option("--rhs", given->rhs, "Number of generated right-hand sides (default: 1)")
      ->at_least(1)
      ->option_text("K");
  command->add_option("--rhs-file", given->rhs_file, "Read the right-hand sides from FILE")
      ->option_text("FILE");
}

}  // namespace

void add_dense(command_line::command& app, int& exit_code) {
  using dense::method;
  add_factorization(app, exit_code, method::lu, "LU factorization", lu_notes);
  add_factorization(app, exit_code, method::chol, "Cholesky factorization", chol_notes);
  add_factorization(app, exit_code, method::qr, "QR factorization", qr_notes);
  add_solve(app, exit_code);
}

}  // namespace creek::tool
