// SPDX-License-Identifier: Apache-2.0
// Packing: copies columns or rows into the layout that the micro-kernels read.
#include "packing.hpp"

#include <algorithm>

namespace creek::linalg::detail {
namespace {

// Packs a strip of a complex left operand: two real columns per complex column, (re, im) and (-im,
// re) of its rows.
template <scalar T, class Element>
void left_complex_strip(index_t rows, index_t depth, index_t strip, const Element& element,
                        real<T>* to) {
  for (index_t p = 0; p < depth; ++p, to += 2 * strip) {
    for (index_t i = 0; i < rows; ++i) {
      const T value = element(i, p);
      to[2 * i] = value.real();
      to[2 * i + 1] = value.imag();
      to[strip + 2 * i] = -value.imag();
      to[strip + 2 * i + 1] = value.real();
    }
    std::fill(to + 2 * rows, to + strip, real<T>{});
    std::fill(to + strip + 2 * rows, to + 2 * strip, real<T>{});
  }
}

template <scalar T>
void left_strip(const strided<T>& a, index_t rows, index_t depth, real<T>* to) {
  const auto& kernels = micro_kernels_of<real<T>>();
  if constexpr (is_complex<T>) {
    if (a.shape != structure::general) {
      const auto element = [&](index_t i, index_t p) { return a.at(i, p); };
      left_complex_strip<T>(rows, depth, kernels.rows, element, to);
    } else {
      const auto element = [&](index_t i, index_t p) {
        const T value = a.data[i * a.row_step + p * a.col_step];
        return a.conjugate ? std::conj(value) : value;
      };
      left_complex_strip<T>(rows, depth, kernels.rows, element, to);
    }
  } else if (a.shape != structure::general) {
    for (index_t p = 0; p < depth; ++p, to += kernels.rows) {
      for (index_t i = 0; i < rows; ++i) to[i] = a.at(i, p);
      std::fill(to + rows, to + kernels.rows, T{});
    }
  } else if (a.row_step == 1) {
    kernels.copy_strip(rows, depth, a.data, a.col_step, to);
  } else if (a.col_step == 1) {
    kernels.interleave(kernels.rows, rows, depth, a.data, a.row_step, to);
  } else {
    for (index_t p = 0; p < depth; ++p, to += kernels.rows) {
      for (index_t i = 0; i < rows; ++i) to[i] = a.data[i * a.row_step + p * a.col_step];
      std::fill(to + rows, to + kernels.rows, T{});
    }
  }
}

template <scalar T, class Element>
void right_strip_of(index_t depth, index_t cols, index_t width, const Element& element,
                    real<T>* to) {
  for (index_t p = 0; p < depth; ++p, to += reals<T> * width) {
    for (index_t j = 0; j < cols; ++j) {
      const T value = element(p, j);
      if constexpr (is_complex<T>) {
        to[j] = value.real();
        to[width + j] = value.imag();
      } else {
        to[j] = value;
      }
    }
    std::fill(to + cols, to + width, real<T>{});
    if constexpr (is_complex<T>) std::fill(to + width + cols, to + 2 * width, real<T>{});
  }
}

template <scalar T>
void right_strip(const strided<T>& b, index_t depth, index_t cols, T alpha, real<T>* to) {
  const auto& kernels = micro_kernels_of<real<T>>();
  const index_t width = kernels.cols;
  if (b.shape != structure::general) {
    right_strip_of<T>(
        depth, cols, width, [&](index_t p, index_t j) { return alpha * b.at(p, j); }, to);
    return;
  }
  const auto read = [&b](index_t p, index_t j) {
    const T value = b.data[p * b.row_step + j * b.col_step];
    if constexpr (is_complex<T>) return b.conjugate ? std::conj(value) : value;
    return value;
  };
  if constexpr (!is_complex<T>) {
    if (b.row_step == 1) {
      kernels.interleave(width, cols, depth, b.data, b.col_step, to);
      if (alpha == T{1}) return;
      if (alpha == T{-1}) {
        for (index_t i = 0; i < depth * width; ++i) to[i] = -to[i];
      } else {
        for (index_t i = 0; i < depth * width; ++i) to[i] *= alpha;
      }
      return;
    }
  }
  if (alpha == T{1}) {
    right_strip_of<T>(depth, cols, width, read, to);
  } else if (alpha == T{-1}) {
    right_strip_of<T>(
        depth, cols, width, [&](index_t p, index_t j) { return -read(p, j); }, to);
  } else {
    right_strip_of<T>(
        depth, cols, width, [&](index_t p, index_t j) { return alpha * read(p, j); }, to);
  }
}

}  // namespace

template <scalar T>
void pack_left(const strided<T>& a, index_t rows, index_t depth, real<T>* to) noexcept {
  const index_t strip = micro_kernels_of<real<T>>().rows / reals<T>;
  for (index_t i = 0; i < rows; i += strip) {
    left_strip(a.block(i, 0), std::min(strip, rows - i), depth, to);
    to += packed_left_size<T>(strip, depth);
  }
}

template <scalar T>
void pack_right(const strided<T>& b, index_t depth, index_t cols, T alpha, real<T>* to) noexcept {
  const index_t strip = micro_kernels_of<real<T>>().cols;
  for (index_t j = 0; j < cols; j += strip) {
    right_strip(b.block(0, j), depth, std::min(strip, cols - j), alpha, to);
    to += packed_right_size<T>(depth, strip);
  }
}

template <scalar T>
void unpack_right(const real<T>* from, index_t depth, index_t cols, T* to, index_t row_step,
                  index_t col_step) noexcept {
  const index_t width = micro_kernels_of<real<T>>().cols;
  for (index_t first = 0; first < cols; first += width) {
    const index_t here = std::min(width, cols - first);
    for (index_t p = 0; p < depth; ++p) {
      T* const row = to + p * row_step + first * col_step;
      for (index_t j = 0; j < here; ++j) {
        if constexpr (is_complex<T>) {
          row[j * col_step] = T{from[j], from[width + j]};
        } else {
          row[j * col_step] = from[j];
        }
      }
      from += reals<T> * width;
    }
  }
}

#define CREEK_INSTANTIATE(letter, T)                                                      \
  template void pack_left<T>(const strided<T>&, index_t, index_t, real<T>*) noexcept;     \
  template void pack_right<T>(const strided<T>&, index_t, index_t, T, real<T>*) noexcept; \
  template void unpack_right<T>(const real<T>*, index_t, index_t, T*, index_t, index_t) noexcept;
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg::detail
