// SPDX-License-Identifier: Apache-2.0
// Reads and writes the elements of a .npy file.
#include "npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <vector>

namespace creek::linalg::npy {
namespace {

using fault = matrix_file_fault;

// Large enough to make the cost of read() negligible, small enough for a second-level cache.
constexpr index_t chunk_bytes = index_t{1} << 20;

template <scalar T>
constexpr char kind_of = is_complex<T> ? 'c' : 'f';

/// Reads elements in file order into an array of T, without a copy if the file has type T.
template <scalar T>
class element_reader {
 public:
  element_reader(detail::byte_source& in, const head& what)
      : in_(in),
        what_(what),
        straight_(what.type.kind == kind_of<T> && what.type.bytes == sizeof(T) &&
                  !what.type.swapped) {
    if (!straight_) raw_.resize(static_cast<std::size_t>(chunk_bytes));
  }

  /// Reads `count` elements, at most chunk_bytes of them as stored in the file.
  void operator()(T* to, index_t count) {
    const std::size_t bytes = static_cast<std::size_t>(count) * what_.type.bytes;
    char* const raw = straight_ ? reinterpret_cast<char*>(to) : raw_.data();
    if (const std::size_t got = in_.read(raw, bytes); got < bytes) {
      in_.fail(fault::truncated, fmt::format("its elements end {} bytes early", bytes - got));
    }
    if (!straight_) {
      const index_t good = decode(what_.type, raw, count, to);
      if (good < count) refuse(done_ + good);
    }
    done_ += count;
  }

 private:
  [[noreturn]] void refuse(index_t position) const {
    const index_t fast = what_.by_columns ? what_.rows : what_.cols;
    index_t i = position / fast;
    index_t j = position % fast;
    if (what_.by_columns) std::swap(i, j);
    in_.fail(fault::not_real,
             fmt::format("element ({}, {}) has an imaginary part; read it as complex", i, j));
  }

  detail::byte_source& in_;
  const head& what_;
  bool straight_;
  std::vector<char> raw_;
  index_t done_ = 0;
};

template <scalar T>
void read_by_columns(element_reader<T>& next, index_t step, matrix_view<T> to) {
  for (index_t j = 0; j < to.cols(); ++j) {
    for (index_t i = 0; i < to.rows(); i += step) {
      next(to.column(j) + i, std::min(step, to.rows() - i));
    }
  }
}

/// Transposes a row-major block into columns, eight at a time, so that the source's cache lines are
/// used whole and eight streams are written.
template <scalar T>
void transpose_into(const T* from, matrix_view<T> to) noexcept {
  for (index_t j = 0; j < to.cols(); j += 8) {
    const index_t end = std::min(j + 8, to.cols());
    for (index_t i = 0; i < to.rows(); ++i) {
      for (index_t k = j; k < end; ++k) to(i, k) = from[i * to.cols() + k];
    }
  }
}

template <scalar T>
void read_by_rows(element_reader<T>& next, index_t step, matrix_view<T> to) {
  const index_t width = std::min(step, to.cols());  // a row may be longer than a chunk
  const index_t height = width < to.cols() ? 1 : std::min(to.rows(), step / width);
  std::vector<T> chunk(static_cast<std::size_t>(height * width));
  for (index_t i = 0; i < to.rows(); i += height) {
    const index_t rows = std::min(height, to.rows() - i);
    for (index_t j = 0; j < to.cols(); j += width) {
      const index_t cols = std::min(width, to.cols() - j);
      next(chunk.data(), rows * cols);
      transpose_into(chunk.data(), to.block(i, j, rows, cols));
    }
  }
}

}  // namespace

template <scalar T>
void read_elements(detail::byte_source& in, const head& what, matrix_view<T> to) {
  element_reader<T> next(in, what);
  const index_t step = chunk_bytes / static_cast<index_t>(what.type.bytes);
  if (!to.empty()) {
    if (what.by_columns) {
      read_by_columns(next, step, to);
    } else {
      read_by_rows(next, step, to);
    }
  }
  if (!in.peek(1).empty()) {
    in.fail(fault::malformed, "bytes follow the last element; save one array per file");
  }
}

template <scalar T>
void write(const writer& out, const_view<T> a) {
  constexpr char order = std::endian::native == std::endian::little ? '<' : '>';
  std::string dictionary =
      fmt::format("{{'descr': '{}{}{}', 'fortran_order': True, 'shape': ({}, {}), }}", order,
                  kind_of<T>, sizeof(T), a.rows(), a.cols());
  // The elements begin at a multiple of 64 bytes, after a line end.
  const std::size_t fixed = magic.size() + 4;
  dictionary.append(63 - (fixed + dictionary.size()) % 64, ' ').push_back('\n');
  std::string text(magic);
  text += {'\1', '\0', static_cast<char>(dictionary.size() & 0xff),
           static_cast<char>(dictionary.size() >> 8)};
  out(text + dictionary);
  if (a.empty()) return;
  const std::size_t column_bytes = static_cast<std::size_t>(a.rows()) * sizeof(T);
  for (index_t j = 0; j < a.cols(); ++j) {
    out({reinterpret_cast<const char*>(a.column(j)), column_bytes});
  }
}

#define CREEK_INSTANTIATE(letter, T)                                              \
  template void read_elements(detail::byte_source&, const head&, matrix_view<T>); \
  template void write(const writer&, const_view<T>);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg::npy
