// SPDX-License-Identifier: Apache-2.0
// Writes a matrix to a file that appears whole or not at all, or to standard output.
#include <unistd.h>

#include <cerrno>
#include <creek/core/error.hpp>
#include <creek/core/io/atomic_file.hpp>
#include <creek/linalg/matrix_file.hpp>
#include <string_view>

#include "matrix_market.hpp"
#include "npy.hpp"

namespace creek::linalg {
namespace {

void write_to_standard_output(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) throw error(errno, "cannot write standard output");
    bytes.remove_prefix(static_cast<std::size_t>(done));
  }
}

template <scalar T>
void write_as(matrix_format format, const npy::writer& out, const_view<T> a) {
  if (format == matrix_format::npy) {
    npy::write(out, a);
  } else {
    market::write(out, a);
  }
}

}  // namespace

matrix_format format_of_name(const std::string& name) {
  if (name.ends_with(".npy")) return matrix_format::npy;
  if (name.ends_with(".mtx") || name.ends_with(".mm")) return matrix_format::matrix_market;
  throw usage_error(name +
                    ": the name of a matrix file ends in .npy (NumPy) or .mtx (Matrix Market)");
}

template <scalar T>
void write_matrix(atomic_file& to, const_view<T> a, matrix_format format) {
  write_as(
      format, [&](std::string_view bytes) { to.write(bytes); }, a);
}

template <scalar T>
void write_matrix(const std::string& name, const_view<T> a, std::optional<matrix_format> format) {
  const matrix_format chosen = format ? *format : format_of_name(name);
  if (name == "-") {
    write_as(chosen, write_to_standard_output, a);
    return;
  }
  atomic_file file(name);
  write_matrix(file, a, chosen);
  file.commit();
}

#define CREEK_INSTANTIATE(letter, T)                                                           \
  template void write_matrix(const std::string&, const_view<T>, std::optional<matrix_format>); \
  template void write_matrix(atomic_file&, const_view<T>, matrix_format);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg
