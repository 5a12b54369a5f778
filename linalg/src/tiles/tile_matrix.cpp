// SPDX-License-Identifier: Apache-2.0
#include <creek/linalg/tile_matrix.hpp>

#include <cstdint>
#include <new>

#include <creek/tasking/parallel_for.hpp>

#include "checks.hpp"

namespace creek::linalg {
namespace detail {
namespace {

constexpr std::size_t tile_alignment = 64;

/// Large enough that task overhead and packing are small compared to the product; small enough that
/// there are many tasks. Multiples of the rows of the kernels.
index_t default_tile_size(index_t n) noexcept {
  return n <= 600 ? 144 : n <= 1500 ? 192 : n <= 3000 ? 240 : 336;
}

/// Calls body(i, j) for all tiles, one column of tiles after the other.
template <class View, class Body>
void for_each_tile(const View& A, const Body& body) {
  const index_t down = A.tile_rows();
  parallel_for(index_t{0}, down * A.tile_cols(),
               [&body, down](index_t tile) { body(tile % down, tile / down); }, {.grain = 1});
}

/// Returns the part of a column-major matrix that corresponds to tile (i, j).
template <class T, class Tiles>
matrix_view<T> part_of_tile(matrix_view<T> A, const Tiles& tiles, index_t i, index_t j) {
  const index_t size = tiles.tile_size();
  const auto tile = tiles.tile(i, j);
  return A.block(i * size, j * size, tile.rows(), tile.cols());
}

}  // namespace
}  // namespace detail

using namespace detail;

template <scalar T>
void copy(const_view<std::type_identity_t<T>> from, tile_view<T> to) {
  require(from.rows() == to.rows() && from.cols() == to.cols(), "copy",
          "both matrices must have the same shape");
  if (to.empty()) return;
  for_each_tile(
      to, [=](index_t i, index_t j) { copy<T>(part_of_tile(from, to, i, j), to.tile(i, j)); });
}

template <scalar T>
void copy(const_tile_view<std::type_identity_t<T>> from, matrix_view<T> to) {
  require(from.rows() == to.rows() && from.cols() == to.cols(), "copy",
          "both matrices must have the same shape");
  if (to.empty()) return;
  for_each_tile(
      from, [=](index_t i, index_t j) { copy<T>(from.tile(i, j), part_of_tile(to, from, i, j)); });
}

template <scalar T>
tile_matrix<T>::tile_matrix(index_t rows, index_t cols, index_t tile_size) {
  require(rows >= 0 && cols >= 0 && tile_size >= 0, "tile_matrix",
          "rows, columns and tile size must not be negative");
  if (tile_size == 0) tile_size = default_tile_size(std::max(rows, cols));
  view_ = {nullptr, rows, cols, tile_size, 0, 0};
  if (view_.empty()) return;
  // All tiles take the same space, so that a tile's address follows from its indices.
  const auto height = static_cast<std::size_t>(std::min(rows, tile_size));
  const auto width = static_cast<std::size_t>(std::min(cols, tile_size));
  const auto tiles = {height, width, sizeof(T)};
  std::size_t bytes = 1;
  bool too_many = false;
  for (const std::size_t each : tiles) too_many |= __builtin_mul_overflow(bytes, each, &bytes);
  too_many |= __builtin_add_overflow(bytes, tile_alignment - 1, &bytes);
  const std::size_t place = bytes / tile_alignment * tile_alignment;
  bytes = place;
  for (const index_t each : {view_.tile_rows(), view_.tile_cols()}) {
    too_many |= __builtin_mul_overflow(bytes, static_cast<std::size_t>(each), &bytes);
  }
  too_many |= __builtin_add_overflow(bytes, tile_alignment, &bytes);
  if (too_many || bytes > PTRDIFF_MAX) throw std::bad_array_new_length();
  // calloc gets zeroed fresh pages without writing to them.
  memory_.reset(std::calloc(bytes, 1));
  if (!memory_) throw std::bad_alloc();
  void* first = memory_.get();
  std::align(tile_alignment, bytes - tile_alignment, first, bytes);
  const auto step = static_cast<index_t>(place / sizeof(T));
  view_ = {static_cast<T*>(first), rows, cols, tile_size, step, step * view_.tile_rows()};
}

template <scalar T>
tile_matrix<T>::tile_matrix(const tile_matrix& other)
    : tile_matrix(other.rows(), other.cols(), other.tile_size()) {
  if (view_.empty()) return;
  for_each_tile(view_, [from = other.view(), to = view()](index_t i, index_t j) {
    linalg::copy<T>(from.tile(i, j), to.tile(i, j));
  });
}

#define CREEK_INSTANTIATE(letter, T)                         \
  template void copy<T>(const_view<T>, tile_view<T>);        \
  template void copy<T>(const_tile_view<T>, matrix_view<T>); \
  template class tile_matrix<T>;
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg
