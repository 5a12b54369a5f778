// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy format: a head with a literal of a Python dictionary, then the elements.
#pragma once

#include <creek/linalg/matrix_file.hpp>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "byte_source.hpp"

namespace creek::linalg::npy {

/// First bytes of a file.
inline constexpr std::string_view magic = "\x93NUMPY";

/// Element type in the file.
struct element {
  char kind = 'f';  ///< as in NumPy: b, i, u, f or c
  std::size_t bytes = 8;
  bool swapped = false;  ///< in the byte order opposite to this machine's
};

struct head {
  std::string version;
  std::string descr;
  element type;
  bool by_columns = false;
  index_t rows = 0;
  index_t cols = 0;
};

/// Values of the dictionary, as written in the file.
struct literal {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;
};

/// Parses a dictionary like "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }". Throws
/// std::invalid_argument with the reason if it is invalid.
literal parse_literal(std::string_view text);

head read_head(detail::byte_source& in);
matrix_file_info info_of(const head& what);

/// Decodes `count` elements. Returns the first index with an imaginary part for real T, or count.
template <scalar T>
index_t decode(const element& type, const char* from, index_t count, T* to) noexcept;

/// Reads the elements into a matrix of the head's shape; throws if anything follows.
template <scalar T>
void read_elements(detail::byte_source& in, const head& what, matrix_view<T> to);

using writer = std::function<void(std::string_view)>;
template <scalar T>
void write(const writer& out, const_view<T> a);

}  // namespace creek::linalg::npy
