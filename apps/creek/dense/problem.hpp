// SPDX-License-Identifier: Apache-2.0
// Input of `creek lu`, `chol`, `qr` and `solve`: the command line as given, and the problem that
// follows from it once the heads of the files are read.
#pragma once

#include <creek/linalg/lu.hpp>
#include <creek/linalg/matrix_file.hpp>
#include <creek/linalg/tile_qr.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace creek::tool::dense {

using linalg::element_type;
using linalg::index_t;

enum class method { lu, chol, qr };

/// The methods by name.
inline const std::vector<std::pair<std::string, method>> methods{
    {"lu", method::lu}, {"chol", method::chol}, {"qr", method::qr}};

/// Form of the task graph: on columns of a column-major matrix, or on tiles of a tile matrix.
enum class form { column, blocks };
/// Pivoting of LU.
enum class pivoting { partial, incremental, none };

/// Treatment of a solution's errors: none, corrections in one precision, or factors of lower
/// precision and corrections.
enum class refinement { none, fixed, mixed };

/// Returns "lu", "chol" or "qr".
const char* to_string(method how) noexcept;
const char* to_string(form which) noexcept;
const char* to_string(pivoting which) noexcept;
const char* to_string(linalg::reduction_tree which) noexcept;
/// Returns "none", "fixed" or "mixed".
const char* to_string(refinement refine) noexcept;
/// Returns "float", "double", "complex float" or "complex double".
const char* to_string(element_type type) noexcept;
std::size_t bytes_of(element_type type) noexcept;
bool is_complex(element_type type) noexcept;

/// The options of one command; an option that was not given is empty.
struct request {
  method how = method::lu;
  bool solves = false;  ///< `creek solve` if true, else only the factorization
  form layout = form::column;
  std::optional<pivoting> pivots;
  std::optional<linalg::reduction_tree> tree;  ///< tree for QR by blocks
  refinement refine = refinement::none;
  std::optional<long long> n, rhs, block, workers, seed;
  std::optional<element_type> type;
  long long runs = 1;
  std::optional<bool> check;
  bool as_json = false;
  std::string input, rhs_file, output, trace;

  const char* command() const noexcept { return solves ? "solve" : to_string(how); }
};

/// The files of the operands, open, with their heads read.
struct input_files {
  std::optional<linalg::matrix_file> matrix, rhs;
};

struct problem {
  std::string command;
  method how = method::lu;
  bool solves = false;
  form layout = form::column;
  pivoting pivots = pivoting::partial;
  linalg::reduction_tree tree = linalg::reduction_tree::flat;
  refinement refine = refinement::none;
  linalg::update_tasks updates = linalg::update_tasks::columns;  ///< tasks for LU by columns
  element_type type = element_type::d;
  index_t rows = 0, cols = 0;
  index_t rhs = 0;    ///< right-hand sides; 0 if nothing is solved
  index_t block = 0;  ///< columns of a panel, or tile size; 0: chosen by the size
  int runs = 1;
  bool check = false;
  std::uint64_t seed = 1;
  std::string input, rhs_file, output,
      trace;                                  ///< names; empty for generated operands and no output
  std::string matrix_source{}, rhs_source{};  ///< descriptions for people

  /// Returns whether there are factors, and a residual of them, even if info is not 0.
  bool goes_on_when_singular() const noexcept {
    return how == method::lu && !solves && pivots == pivoting::partial;
  }
  /// Returns whether the factors are kept in a class of the library, not as LAPACK keeps them.
  bool has_own_factors() const noexcept {
    return layout == form::blocks && (how == method::qr || pivots == pivoting::incremental);
  }
  /// Returns the order of the product whose rate is measured for comparison.
  index_t gemm_size() const noexcept;
};

/// Throws usage_error for options that contradict each other or have no effect here.
void require_sense(const request& given);

/// Opens the operands' files. Throws creek::error if one cannot be opened or is no matrix.
input_files open_files(const request& given);

/// Makes the problem. Throws std::runtime_error, with the file's name, for shapes that do not fit.
problem plan(const request& given, const input_files& files);

/// Returns the peak memory in bytes, as a double, which does not overflow.
double bytes_needed(const problem& what) noexcept;

/// Throws creek::error with ENOMEM if this machine, its control group or the limit of the process
/// has less memory than needed. Call it before any work.
void require_memory(const problem& what);
/// The same for a number of bytes.
void require_memory(const problem& what, double bytes);

/// Files that --output names: the matrix, and beside it the pivots of LU (`.pivots` before the
/// ending) and the scalar factors of QR's reflectors (`.tau`).
struct output_names {
  std::string matrix, beside;
};
output_names outputs_of(const problem& what);

}  // namespace creek::tool::dense
