// SPDX-License-Identifier: Apache-2.0
#include "measure.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <complex>
#include <limits>
#include <stdexcept>

#include "dense/jobs/jobs.hpp"
#include "dense/jobs/tile_jobs.hpp"
#include "output/progress_line.hpp"
#include "trace.hpp"

namespace creek::tool::dense {
namespace {

/// Minimum number of products whose median one disturbance does not move.
constexpr int least_products = 3;

template <class F>
double seconds_of(F&& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The product C = A B of the order that the problem says.
template <scalar T>
class product {
 public:
  explicit product(index_t n) : a_(n, n), b_(n, n), c_(n, n) {
    operand<T>({.seed = 1}, n, n).put(a_.view());
    operand<T>({.seed = 2}, n, n).put(b_.view());
    run();  // allocates the memory for packing, which later products reuse
  }
  void run() {
    linalg::gemm<T>(linalg::op::none, linalg::op::none, T{1}, a_.view(), b_.view(), T{0},
                    c_.view());
  }

 private:
  matrix<T> a_, b_, c_;
};

/// Throws unless A is Hermitian; allows for rounding in a program that computed both halves.
template <scalar T>
void require_hermitian(const std::string& name, const_view<T> a) {
  const double unit = static_cast<double>(a.rows()) * linalg::unit_roundoff<T>;
  const double forgiven = unit * linalg::norm_of<T>(linalg::norm::max, a);
  for (index_t j = 0; j < a.cols(); ++j) {
    for (index_t i = j; i < a.rows(); ++i) {
      T mirrored = a(j, i);
      if constexpr (linalg::is_complex<T>) mirrored = std::conj(mirrored);
      if (static_cast<double>(std::abs(a(i, j) - mirrored)) > forgiven) {
        throw std::runtime_error(fmt::format("{}: not {}, see elements ({}, {}) and ({}, {})", name,
                                             linalg::is_complex<T> ? "hermitian" : "symmetric",
                                             i + 1, j + 1, j + 1, i + 1));
      }
    }
  }
}

template <scalar T>
operand<T> matrix_of(const problem& what, input_files& files) {
  if (!files.matrix) return generated_matrix<T>(what);
  matrix<T> read = files.matrix->template read<T>();
  if (what.how == method::chol) require_hermitian<T>(what.input, read);
  return operand<T>(std::move(read));
}

template <scalar T>
operand<T> rhs_of(const problem& what, input_files& files) {
  if (files.rhs) return operand<T>(files.rhs->template read<T>());
  // With the matrix's own seed the first right-hand side would be its first column.
  return operand<T>({.seed = ~what.seed}, what.rows, what.rhs);
}

template <scalar T>
void time_runs(job<T>& work, report& found, progress_line& line) {
  const problem& what = found.what;
  line.show("gemm");
  product<T> beside(what.gemm_size());
  const auto time_product = [&] {
    found.gemm_seconds.push_back(seconds_of([&] { beside.run(); }));
  };
  for (int i = 0; i < what.runs && found.info == 0; ++i) {
    line.show(fmt::format("{}: run {} of {}", what.command, i + 1, what.runs));
    time_product();
    work.prepare();
    found.seconds.push_back(seconds_of([&] { found.info = work.run(); }));
  }
  for (int i = what.runs; i < least_products; ++i) time_product();
}

template <scalar T>
void judge(job<T>& work, report& found, progress_line& line) {
  const bool has_answer = found.info == 0 || found.what.goes_on_when_singular();
  if (!has_answer) return;
  found.corrections = work.corrections();
  if (!found.what.check) return;
  line.show("check");
  found.judgements = work.judge();
  found.rcond = work.rcond();
}

template <scalar T>
report measure_as(const problem& what, input_files& files, output_files& outputs,
                  runtime& workers) {
  report found{.what = what,
               .workers = workers.worker_count(),
               .backend = workers.backend_name(),
               .seconds = {},
               .gemm_seconds = {},
               .judgements = {}};
  progress_line line;
  line.show(files.matrix ? "reading" : "");
  const operand<T> a = matrix_of<T>(what, files);
  std::optional<operand<T>> b;
  if (what.solves) b.emplace(rhs_of<T>(what, files));
  workers.run([&] {
    const operand<T>* const rhs = b ? &*b : nullptr;
    const auto work =
        what.layout == form::blocks ? make_tile_job<T>(what, a, rhs) : make_job<T>(what, a, rhs);
    trace::session session({.process_name = "creek " + what.command});
    time_runs(*work, found, line);
    found.tasks = work->graph().tasks;
    found.activity = linalg::activity(work->graph().runs, found.workers);
    if (atomic_file* const file = outputs.trace()) {
      write_trace(*file, work->graph(), session);
      file->commit();
    }
    judge(*work, found, line);
    if (what.output.empty() || !failure(found).empty()) return;
    line.show("writing");
    work->write(outputs);
    outputs.commit();
  });
  return found;
}

}  // namespace

report measure(const problem& what, input_files& files, output_files& outputs, runtime& workers) {
  switch (what.type) {
    case element_type::s:
      return measure_as<float>(what, files, outputs, workers);
    case element_type::d:
      return measure_as<double>(what, files, outputs, workers);
    case element_type::c:
      return measure_as<std::complex<float>>(what, files, outputs, workers);
    case element_type::z:
      break;
  }
  return measure_as<std::complex<double>>(what, files, outputs, workers);
}

}  // namespace creek::tool::dense
