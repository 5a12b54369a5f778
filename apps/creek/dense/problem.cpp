// SPDX-License-Identifier: Apache-2.0
// Converts options to a problem. Finds errors before memory is allocated or workers start.
#include "problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <creek/core/error.hpp>
#include <creek/linalg/task_graph.hpp>
#include <stdexcept>

namespace creek::tool::dense {
namespace {

using linalg::matrix_file_info;

void refuse(bool given, const char* option, const char* why) {
  if (given) throw usage_error(fmt::format("{}: {}", option, why));
}

/// Returns the type that can hold the elements of both.
element_type common(element_type a, element_type b) {
  const bool wide =
      a == element_type::d || a == element_type::z || b == element_type::d || b == element_type::z;
  if (is_complex(a) || is_complex(b)) return wide ? element_type::z : element_type::c;
  return wide ? element_type::d : element_type::s;
}

element_type type_of(const request& given, const input_files& files) {
  if (given.type) return *given.type;
  if (!files.matrix && !files.rhs) return element_type::d;
  if (!files.rhs) return files.matrix->info().type;
  if (!files.matrix) return files.rhs->info().type;
  return common(files.matrix->info().type, files.rhs->info().type);
}

void require_shapes(const problem& what, const input_files& files) {
  const bool takes_any = what.how == method::lu && what.pivots != pivoting::incremental;
  if (what.rows != what.cols && what.how != method::qr && (what.solves || !takes_any)) {
    throw std::runtime_error(
        fmt::format("{}: the matrix is not square ({} x {}){}", what.input, what.rows, what.cols,
                    what.solves ? "; --method qr solves it in the sense of least squares"
                    : what.how == method::lu
                        ? ", but incremental pivoting needs a square one; use --form column"
                        : ", but chol needs a square one"));
  }
  if (what.solves && what.how == method::qr && what.layout == form::blocks &&
      what.rows < what.cols) {
    throw std::runtime_error(
        fmt::format("{}: the matrix has fewer rows than columns ({} x {}); --form column finds the "
                    "least solution",
                    what.input, what.rows, what.cols));
  }
  if (files.rhs && files.rhs->info().rows != what.rows) {
    throw std::runtime_error(fmt::format("{}: has {} rows, the matrix has {}", what.rhs_file,
                                         files.rhs->info().rows, what.rows));
  }
}

std::string source_text(const std::string& name, const std::optional<linalg::matrix_file>& file,
                        const char* kind, std::uint64_t seed) {
  if (!file) return fmt::format("{}, seed {}", kind, seed);
  return fmt::format("{} ({})", name, file->info().description);
}

pivoting pivoting_of(const request& given) {
  const bool by_blocks = given.how == method::lu && given.layout == form::blocks;
  return given.pivots.value_or(by_blocks ? pivoting::incremental : pivoting::partial);
}

/// Refuses combinations of form, pivoting and method that do not exist.
void require_form(const request& given) {
  const bool by_blocks = given.layout == form::blocks;
  const bool is_qr = given.how == method::qr;
  refuse(given.how != method::lu && given.pivots, "--pivoting", "needs LU");
  refuse(given.tree && !(is_qr && by_blocks), "--tree", "needs QR and --form blocks");
  if (given.pivots && by_blocks == (*given.pivots == pivoting::partial)) {
    const std::string option = fmt::format("--pivoting {}", to_string(*given.pivots));
    refuse(true, option.c_str(), by_blocks ? "not with --form blocks" : "needs --form blocks");
  }
  const bool own = by_blocks && (is_qr || pivoting_of(given) == pivoting::incremental);
  refuse(own && !given.solves && !given.output.empty(), "--output",
         "these factors have no format for files; --form column has LAPACK's");
}

}  // namespace

const char* to_string(method how) noexcept {
  return how == method::lu ? "lu" : how == method::chol ? "chol" : "qr";
}

const char* to_string(form which) noexcept {
  return which == form::column ? "column" : "blocks";
}

const char* to_string(pivoting which) noexcept {
  return which == pivoting::partial       ? "partial"
         : which == pivoting::incremental ? "incremental"
                                          : "none";
}

const char* to_string(linalg::reduction_tree which) noexcept {
  return which == linalg::reduction_tree::flat ? "flat" : "binary";
}

const char* to_string(refinement refine) noexcept {
  return refine == refinement::none ? "none" : refine == refinement::fixed ? "fixed" : "mixed";
}

const char* to_string(element_type type) noexcept {
  switch (type) {
    case element_type::s:
      return "float";
    case element_type::d:
      return "double";
    case element_type::c:
      return "complex float";
    case element_type::z:
      return "complex double";
  }
  return "?";
}

bool is_complex(element_type type) noexcept {
  return type == element_type::c || type == element_type::z;
}

std::size_t bytes_of(element_type type) noexcept {
  return type == element_type::s ? 4 : type == element_type::z ? 16 : 8;
}

index_t problem::gemm_size() const noexcept {
  constexpr index_t enough = 2000;  // larger products are not faster
  return std::min({rows, cols, enough});
}

void require_sense(const request& given) {
  const bool from_file = !given.input.empty();
  if (from_file == given.n.has_value()) {
    throw usage_error(from_file
                          ? "-n: not with --input, whose file has the size"
                          : "command line: a size, -n N, or a matrix, --input FILE, is required");
  }
  require_form(given);
  const bool rhs_from_file = !given.rhs_file.empty();
  refuse(rhs_from_file && given.rhs.has_value(), "--rhs",
         "not with --rhs-file, which has its own right-hand sides");
  refuse(given.seed && from_file && (rhs_from_file || !given.solves), "--seed",
         "has no effect, because nothing is generated");
  refuse(given.input == "-" && given.rhs_file == "-", "--rhs-file -",
         "standard input already is the matrix");
  const bool by_columns = given.layout == form::column;
  refuse(given.refine != refinement::none && (given.how == method::qr || !by_columns), "--refine",
         "needs LU or Cholesky of columns");
  if (!given.output.empty()) (void)linalg::format_of_name(given.output);
}

input_files open_files(const request& given) {
  input_files files;
  if (!given.input.empty()) files.matrix.emplace(given.input);
  if (!given.rhs_file.empty()) files.rhs.emplace(given.rhs_file);
  return files;
}

problem plan(const request& given, const input_files& files) {
  problem what{.command = given.command(),
               .how = given.how,
               .solves = given.solves,
               .layout = given.layout,
               .pivots = pivoting_of(given),
               .tree = given.tree.value_or(linalg::reduction_tree::flat),
               .refine = given.refine,
               .type = type_of(given, files),
               .runs = static_cast<int>(given.runs),
               .check = given.check.value_or(given.solves || files.matrix),
               .seed = static_cast<std::uint64_t>(given.seed.value_or(1)),
               .input = given.input,
               .rhs_file = given.rhs_file,
               .output = given.output,
               .trace = given.trace};
  what.rows = files.matrix ? files.matrix->info().rows : static_cast<index_t>(*given.n);
  what.cols = files.matrix ? files.matrix->info().cols : what.rows;
  if (given.solves) what.rhs = files.rhs ? files.rhs->info().cols : given.rhs.value_or(1);
  require_shapes(what, files);
  const bool has_lower = what.type == element_type::d || what.type == element_type::z;
  refuse(what.refine == refinement::mixed && !has_lower, "--refine mixed",
         "needs --type d or z, because the factors are in float");
  // A block wider than the matrix is reduced to its width.
  what.block =
      std::min<index_t>(given.block.value_or(0), std::max({what.rows, what.cols, index_t{1}}));
  const char* kind = given.how == method::chol       ? "positive definite"
                     : what.pivots == pivoting::none ? "diagonally dominant"
                                                     : "uniform in [-1, 1)";
  what.matrix_source = source_text(given.input, files.matrix, kind, what.seed);
  if (what.solves) {
    what.rhs_source = source_text(given.rhs_file, files.rhs, "uniform in [-1, 1)", what.seed);
  }
  return what;
}

double bytes_needed(const problem& what) noexcept {
  const auto m = static_cast<double>(what.rows), n = static_cast<double>(what.cols);
  const auto g = static_cast<double>(what.gemm_size()), k = static_cast<double>(what.rhs);
  const bool fixed = what.refine == refinement::fixed, mixed = what.refine == refinement::mixed;
  const double originals = what.check || fixed || !what.input.empty() ? 1 : 0;
  const double low = mixed ? 0.5 : 0;  // the factors in float
  const double columns = fixed ? 6 : mixed ? 3.5 : 2;
  // Least squares with a wide matrix transpose it, and transpose the factors back.
  const double turned = what.solves && what.how == method::qr && n > m ? 2 : 0;
  // Tiles are converted to columns to be checked and written.
  const bool by_tiles = what.layout == form::blocks;
  const double copies = by_tiles && (what.check || !what.output.empty()) ? 1 : 0;
  // Memory besides the tiles; the maximum is that of a binary tree.
  const double own = what.has_own_factors() ? 1 : 0;
  const double elements = (1 + originals + turned + copies + own + low) * m * n +
                          columns * std::max(m, n) * k + 3 * g * g;
  // The times at which each task ran.
  const double blocks = std::max(m, n) / static_cast<double>(what.block == 0 ? 48 : what.block);
  const double tasks = blocks * blocks * (by_tiles ? blocks / 3 : 0.5);
  return elements * static_cast<double>(bytes_of(what.type)) + tasks * sizeof(linalg::task_run);
}

output_names outputs_of(const problem& what) {
  output_names names{.matrix = what.output, .beside = {}};
  if (what.solves || what.output.empty() || what.how == method::chol) return names;
  if (what.layout == form::blocks) return names;
  const auto ending = what.output.rfind('.');
  names.beside = what.output;
  names.beside.insert(ending, what.how == method::lu ? ".pivots" : ".tau");
  return names;
}

}  // namespace creek::tool::dense
