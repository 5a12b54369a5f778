// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy: a head that is a literal of a Python dictionary, then the elements.
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

/// One element in the file.
struct element {
  char kind = 'f';  ///< as in NumPy: b, i, u, f or c
  std::size_t bytes = 8;
  bool swapped = false;  ///< in the byte order that this machine does not use
};

struct head {
  std::string version;
  std::string descr;
  element type;
  bool by_columns = false;
  index_t rows = 0;
  index_t cols = 0;
};

/// The values of the dictionary, as they are written.
struct literal {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;
};

/// Reads a dictionary like "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }". Throws
/// std::invalid_argument saying what is wrong with it.
literal parse_literal(std::string_view text);

head read_head(detail::byte_source& in);
matrix_file_info info_of(const head& what);

/// Decodes `count` elements. Returns the first with an imaginary part where T is real, else count.
template <scalar T>
index_t decode(const element& type, const char* from, index_t count, T* to) noexcept;

/// Reads the elements into a matrix of the head's shape and makes sure that nothing follows.
template <scalar T>
void read_elements(detail::byte_source& in, const head& what, matrix_view<T> to);

using writer = std::function<void(std::string_view)>;
template <scalar T>
void write(const writer& out, const_view<T> a);

}  // namespace creek::linalg::npy
