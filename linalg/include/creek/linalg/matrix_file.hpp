// SPDX-License-Identifier: Apache-2.0
// Dense matrices in files: NumPy's .npy [NPY]
// and Matrix Market [Boisvert 1996].
#pragma once

#include <creek/core/io/atomic_file.hpp>
#include <creek/linalg/matrix.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

namespace creek::linalg {

enum class matrix_format { npy, matrix_market };

/// Element types, by the letters of LAPACK.
enum class element_type : char {
  s = 's',  ///< float
  d = 'd',  ///< double
  c = 'c',  ///< std::complex<float>
  z = 'z'   ///< std::complex<double>
};

/// Faults of the contents of a file: the codes of the creek::error thrown.
enum class matrix_file_fault {
  malformed = 1,  ///< breaks the rules of its format
  truncated,      ///< ends early
  unsupported,    ///< valid, but no dense matrix of numbers that creek reads
  not_real        ///< imaginary parts, where real elements were asked for
};
[[nodiscard]] std::error_code make_error_code(matrix_file_fault fault) noexcept;

/// Contents of a file's head.
struct matrix_file_info {
  matrix_format format = matrix_format::npy;
  /// Smallest type that holds the elements; double for integers of any size (those beyond 2^53 are
  /// rounded) and for real elements of Matrix Market.
  element_type type = element_type::d;
  index_t rows = 0;
  index_t cols = 0;
  /// Elements listed in the file: fewer than rows * cols if it is symmetric or sparse.
  std::uint64_t entries = 0;
  /// Human-readable description, such as "NumPy 1.0, '<f8', by columns".
  std::string description;
};

/// Returns the memory of this machine in bytes, the default limit of matrix_file::read().
std::size_t machine_memory() noexcept;

/// Open matrix file. Its first bytes tell the format, not its name. The name `-` is standard input.
/// Used by one thread at a time.
///
/// Every failure throws creek::error with one line that names the file (and, in text, the line): an
/// errno if the system refused, else a matrix_file_fault. Before memory is allocated for elements,
/// checks that the shape can be addressed and, unless it is a pipe, that the file is as long as its
/// head promises. Data after the last element is an error too.
class matrix_file {
 public:
  /// Reads the head.
  explicit matrix_file(const std::string& name);
  matrix_file(matrix_file&&) noexcept;
  matrix_file& operator=(matrix_file&&) noexcept;
  ~matrix_file();

  const matrix_file_info& info() const noexcept;

  /// Reads the elements, converted to T and rounded to nearest; to be called once. Complex numbers
  /// fit into a real T only if all imaginary parts are zero. Entries that a sparse file lists twice
  /// are added. A matrix of more than `max_bytes` is an error with ENOMEM.
  template <scalar T>
  matrix<T> read(std::size_t max_bytes = machine_memory());

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Returns matrix_file(name).info(). Consumes the head of standard input; use a matrix_file to read
/// on.
matrix_file_info inspect_matrix_file(const std::string& name);

/// Returns matrix_file(name).read<T>().
template <scalar T>
matrix<T> read_matrix(const std::string& name, std::size_t max_bytes = machine_memory());

/// Returns the format by the suffix .npy, or .mtx or .mm. Throws creek::usage_error otherwise.
matrix_format format_of_name(const std::string& name);

/// Writes a matrix: .npy as version 1.0 by columns, in this machine's byte order; Matrix Market as
/// `array general`, with the fewest digits that read back as the same numbers. The file appears
/// whole or not at all (atomic_file); `-` is standard output and needs `format`. Throws
/// creek::error.
template <scalar T>
void write_matrix(const std::string& name, const_view<T> a,
                  std::optional<matrix_format> format = std::nullopt);

/// Writes the same to `to`, which the caller commits afterwards.
template <scalar T>
void write_matrix(atomic_file& to, const_view<T> a, matrix_format format);

}  // namespace creek::linalg

template <>
struct std::is_error_code_enum<creek::linalg::matrix_file_fault> : std::true_type {};
