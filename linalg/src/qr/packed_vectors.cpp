// SPDX-License-Identifier: Apache-2.0
#include <creek/linalg/detail/packed_vectors.hpp>

#include <algorithm>

#include "kernels/pack_memory.hpp"
#include "kernels/product.hpp"

namespace creek::linalg::detail {

template <scalar T>
struct packed_vectors<T>::arrays {
  arrays(index_t rows, index_t order, index_t top)
      : vectors(packed_left_size<T>(top, order) + packed_left_size<T>(rows - top, order)),
        turned(packed_left_size<T>(order, rows)) {}
  pack_array<real<T>> vectors;  // V as a left operand
  pack_array<real<T>> turned;   // V^H as a left operand, in steps over its depth
};

template <scalar T>
packed_vectors<T>::packed_vectors(const_view<T> V, bool unit_triangle)
    : rows_(V.rows()),
      order_(V.cols()),
      top_(unit_triangle ? order_ : 0),
      arrays_(std::make_unique<const arrays>(rows_, order_, top_)) {
  strided<T> upper{V.data(), 1, V.leading()};
  upper.shape = structure::unit_triangular;
  upper.stored_low = true;
  const strided<T> lower{V.data() + top_, 1, V.leading()};
  const auto turned = [](strided<T> a) {
    a = a.transposed();
    a.conjugate = true;
    return a;
  };
  const index_t below = rows_ - top_, step = blocking<T>::depth();
  if (top_ != 0) {
    pack_left(upper, top_, order_, arrays_->vectors.data());
    pack_left(turned(upper), order_, top_, arrays_->turned.data());
  }
  pack_left(lower, below, order_, arrays_->vectors.data() + packed_left_size<T>(top_, order_));
  for (index_t p = 0; p < below; p += step) {
    pack_left(turned(lower).block(0, p), order_, std::min(step, below - p),
              arrays_->turned.data() + packed_left_size<T>(order_, top_ + p));
  }
}

template <scalar T>
packed_vectors<T>::~packed_vectors() = default;

namespace {

/// dots += V^H C for the columns of C that make whole tiles; returns their number. Reads C in
/// place, as packing would take a good part of the time of the product. `turned` is V^H packed;
/// dots has rows for all of its strips.
template <scalar T>
index_t project_columns(const real<T>* turned, const_view<T> C, matrix_view<T> dots) {
  if constexpr (is_complex<T>) {
    return 0;
  } else {
    const auto& kernels = micro_kernels_of<T>();
    const index_t whole = C.cols() / kernels.cols * kernels.cols;
    for (index_t j = 0; j < whole; j += kernels.cols) {
      const T* strip = turned;
      for (index_t i = 0; i < dots.rows(); i += kernels.rows) {
        kernels.multiply_columns(C.rows(), strip, kernels.rows, C.column(j), C.leading(),
                                 &dots(i, j), dots.leading());
        strip += kernels.rows * C.rows();
      }
    }
    return whole;
  }
}

}  // namespace

template <scalar T>
void packed_vectors<T>::project(const_view<T> C, matrix_view<T> products) const {
  if (products.empty()) return;
  const index_t step = blocking<T>::depth();
  const index_t tiles = round_up(order_, micro_kernels_of<real<T>>().rows);
  const bool in_place = products.rows() >= tiles;
  matrix<T> memory(in_place ? 0 : tiles, in_place ? 0 : C.cols());
  const matrix_view<T> dots = in_place ? products.block(0, 0, tiles, C.cols()) : memory.view();
  const pack_array<real<T>> right(
      packed_right_size<T>(std::max(top_, std::min(step, rows_)), C.cols()));
  const auto project_rows = [&](index_t first, index_t depth) {
    const real<T>* const turned = arrays_->turned.data() + packed_left_size<T>(order_, first);
    const index_t done = project_columns<T>(turned, C.block(first, 0, depth, C.cols()), dots);
    const index_t rest = C.cols() - done;
    if (rest == 0) return;
    const strided<T> c{C.column(done) + first, 1, C.leading()};
    pack_right(c, depth, rest, T{1}, right.data());
    multiply_packed(order_, rest, depth, turned, right.data(), dots.column(done), dots.leading());
  };
  if (top_ != 0) project_rows(0, top_);
  for (index_t i = top_; i < rows_; i += step) project_rows(i, std::min(step, rows_ - i));
  if (!in_place) {
    copy<T>(dots.block(0, 0, order_, C.cols()), products.block(0, 0, order_, C.cols()));
  }
}

template <scalar T>
void packed_vectors<T>::subtract(const_view<T> W, matrix_view<T> C) const {
  if (C.empty()) return;
  const pack_array<real<T>> right(packed_right_size<T>(order_, C.cols()));
  pack_right(strided<T>{W.data(), 1, W.leading()}, order_, C.cols(), T{-1}, right.data());
  const real<T>* const vectors = arrays_->vectors.data();
  if (top_ != 0) {
    multiply_packed(top_, C.cols(), order_, vectors, right.data(), C.data(), C.leading());
  }
  const real<T>* const lower = vectors + packed_left_size<T>(top_, order_);
  const index_t below = rows_ - top_;
  for (index_t i = 0; i < below; i += blocking<T>::rows()) {
    multiply_packed(std::min(blocking<T>::rows(), below - i), C.cols(), order_,
                    lower + packed_left_size<T>(i, order_), right.data(), &C(top_ + i, 0),
                    C.leading());
  }
}

#define CREEK_INSTANTIATE(letter, T) template class packed_vectors<T>;
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg::detail
