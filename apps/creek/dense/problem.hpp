// SPDX-License-Identifier: Apache-2.0
// What `creek lu`, `chol`, `qr` and `solve` are asked to do: the command line as given, and the
// problem that it amounts to once the heads of the files are read.
#pragma once

#include <creek/linalg/matrix_file.hpp>
#include <cstdint>
#include <optional>
#include <string>

namespace creek::tool::dense {

using linalg::element_type;
using linalg::index_t;

enum class method { lu, chol, qr };

/// What is done about a solution's errors: nothing, corrections in one precision, or factors of
/// lower precision and corrections.
enum class refinement { none, fixed, mixed };

/// "lu", "chol" or "qr".
const char* to_string(method how) noexcept;
/// "none", "fixed" or "mixed".
const char* to_string(refinement refine) noexcept;
/// "float", "double", "complex float" or "complex double".
const char* to_string(element_type type) noexcept;
std::size_t bytes_of(element_type type) noexcept;
bool is_complex(element_type type) noexcept;

/// The options of one command; what was not given is empty.
struct request {
  method how = method::lu;
  bool solves = false;  ///< `creek solve`, else the factorization alone
  refinement refine = refinement::none;
  std::optional<long long> n, rhs, block, workers, seed;
  std::optional<element_type> type;
  long long runs = 1;
  std::optional<bool> check;
  bool as_json = false;
  std::string input, rhs_file, output, trace;

  const char* command() const noexcept { return solves ? "solve" : to_string(how); }
};

/// The files that the operands come from, open, their heads read.
struct input_files {
  std::optional<linalg::matrix_file> matrix, rhs;
};

struct problem {
  std::string command;
  method how = method::lu;
  bool solves = false;
  refinement refine = refinement::none;
  element_type type = element_type::d;
  index_t rows = 0, cols = 0;
  index_t rhs = 0;  ///< right-hand sides; 0 where nothing is solved
  index_t block = 0;
  int runs = 1;
  bool check = false;
  std::uint64_t seed = 1;
  std::string input, rhs_file, output,
      trace;                                  ///< names; empty for generated operands and no output
  std::string matrix_source{}, rhs_source{};  ///< for people

  /// Order of the product whose rate is measured beside.
  index_t gemm_size() const noexcept;
};

/// Throws usage_error for options that contradict each other or say nothing here.
void require_sense(const request& given);

/// Throws creek::error for what cannot be opened or is no matrix.
input_files open_files(const request& given);

/// Throws std::runtime_error, naming the file, for shapes that do not fit each other or the method.
problem plan(const request& given, const input_files& files);

/// Bytes of all that is held at once; a double, which does not overflow.
double bytes_needed(const problem& what) noexcept;

/// Throws creek::error with ENOMEM where this machine, its control group or the limit of the
/// process has less memory than is needed. Before any work.
void require_memory(const problem& what);

/// Files that --output names: the matrix, and beside it the pivots of LU (`.pivots` before the
/// ending) and the scalar factors of QR's reflectors (`.tau`).
struct output_names {
  std::string matrix, beside;
};
output_names outputs_of(const problem& what);

}  // namespace creek::tool::dense
