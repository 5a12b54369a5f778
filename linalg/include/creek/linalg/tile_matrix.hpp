// SPDX-License-Identifier: Apache-2.0
// Matrices in square tiles, each of which is contiguous in memory: the operands of algorithms by
// blocks.
#pragma once

#include <algorithm>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <type_traits>
#include <utility>

#include <creek/linalg/matrix.hpp>

namespace creek::linalg {

/// Rectangle of whole tiles of a matrix that the view does not own. Copied like a pointer; T may be
/// const. All tiles are tile_size() x tile_size(), except those of the last row and column of
/// tiles, which may be smaller; each is column-major, without gaps between its columns.
template <class T>
requires scalar<std::remove_const_t<T>>
class tile_view {
 public:
  using value_type = std::remove_const_t<T>;

  tile_view() = default;
  /// Tile (i, j) begins at data[i * step + j * column_step].
  tile_view(T* data, index_t rows, index_t cols, index_t tile_size, index_t step,
            index_t column_step) noexcept
      : data_(data),
        rows_(rows),
        cols_(cols),
        tile_size_(tile_size),
        step_(step),
        column_step_(column_step) {
    assert(rows >= 0 && cols >= 0 && tile_size > 0);
  }
  /// Converts a writable view to a read-only one.
  template <class U>
  requires(std::is_const_v<T>&& std::same_as<U, value_type>) tile_view(const tile_view<U>& other)
  noexcept
      : data_(other.data_),
        rows_(other.rows_),
        cols_(other.cols_),
        tile_size_(other.tile_size_),
        step_(other.step_),
        column_step_(other.column_step_) {}

  /// Number of rows and columns in elements.
  index_t rows() const noexcept { return rows_; }
  index_t cols() const noexcept { return cols_; }
  bool empty() const noexcept { return rows_ == 0 || cols_ == 0; }
  index_t tile_size() const noexcept { return tile_size_; }
  /// Number of rows and columns in tiles.
  index_t tile_rows() const noexcept { return rows_ / tile_size_ + (rows_ % tile_size_ != 0); }
  index_t tile_cols() const noexcept { return cols_ / tile_size_ + (cols_ % tile_size_ != 0); }

  /// Returns tile (i, j); without arguments the first one, for views of a single tile.
  matrix_view<T> tile(index_t i = 0, index_t j = 0) const noexcept {
    assert(i >= 0 && j >= 0 && i < tile_rows() && j < tile_cols());
    const index_t height = std::min(tile_size_, rows_ - i * tile_size_);
    const index_t width = std::min(tile_size_, cols_ - j * tile_size_);
    return {data_ + i * step_ + j * column_step_, height, width, height};
  }

  /// Returns element (i, j); slow.
  T& operator()(index_t i, index_t j) const noexcept {
    return tile(i / tile_size_, j / tile_size_)(i % tile_size_, j % tile_size_);
  }

  /// Returns rows [i, i + rows) of columns [j, j + cols), in elements; must be whole tiles.
  tile_view block(index_t i, index_t j, index_t rows, index_t cols) const noexcept {
    assert(i >= 0 && j >= 0 && rows >= 0 && cols >= 0 && i + rows <= rows_ && j + cols <= cols_);
    tile_view part = *this;
    part.rows_ = rows;
    part.cols_ = cols;
    if (part.empty()) {
      part.data_ = nullptr;
      return part;
    }
    assert(i % tile_size_ == 0 && (rows % tile_size_ == 0 || i + rows == rows_));
    assert(j % tile_size_ == 0 && (cols % tile_size_ == 0 || j + cols == cols_));
    part.data_ += i / tile_size_ * step_ + j / tile_size_ * column_step_;
    return part;
  }

 private:
  template <class U>
  requires scalar<std::remove_const_t<U>>
  friend class tile_view;

  T* data_ = nullptr;
  index_t rows_ = 0;
  index_t cols_ = 0;
  index_t tile_size_ = 1;
  index_t step_ = 0;         // from a tile to the one below, in elements
  index_t column_step_ = 0;  // from a tile to the one to the right
};

template <class T>
using const_tile_view = tile_view<const T>;

/// Copies a matrix into tiles, or out of them, on the workers of the current runtime. Throws
/// usage_error if the shapes differ.
template <scalar T>
void copy(const_view<std::type_identity_t<T>> from, tile_view<T> to);
template <scalar T>
void copy(const_tile_view<std::type_identity_t<T>> from, matrix_view<T> to);

/// Matrix that owns its tiles, each aligned to a cache line. Elements are zero at first; tiles of a
/// large matrix take no memory until they are written.
template <scalar T>
class tile_matrix {
 public:
  tile_matrix() = default;
  /// A tile size of 0 chooses by the larger of rows and columns. Throws usage_error for negative
  /// numbers, and std::bad_alloc.
  tile_matrix(index_t rows, index_t cols, index_t tile_size = 0);
  /// Copies the elements of `from`, on the workers of the current runtime.
  explicit tile_matrix(const_view<T> from, index_t tile_size = 0)
      : tile_matrix(from.rows(), from.cols(), tile_size) {
    copy(from, view());
  }
  tile_matrix(const tile_matrix& other);
  tile_matrix(tile_matrix&& other) noexcept { swap(other); }
  tile_matrix& operator=(tile_matrix other) noexcept {
    swap(other);
    return *this;
  }

  index_t rows() const noexcept { return view_.rows(); }
  index_t cols() const noexcept { return view_.cols(); }
  index_t tile_size() const noexcept { return view_.tile_size(); }
  index_t tile_rows() const noexcept { return view_.tile_rows(); }
  index_t tile_cols() const noexcept { return view_.tile_cols(); }

  matrix_view<T> tile(index_t i, index_t j) noexcept { return view_.tile(i, j); }
  const_view<T> tile(index_t i, index_t j) const noexcept { return view_.tile(i, j); }
  T& operator()(index_t i, index_t j) noexcept { return view_(i, j); }
  const T& operator()(index_t i, index_t j) const noexcept { return view_(i, j); }

  tile_view<T> view() noexcept { return view_; }
  const_tile_view<T> view() const noexcept { return view_; }
  operator tile_view<T>() noexcept { return view(); }
  operator const_tile_view<T>() const noexcept { return view(); }

  /// Copies the elements to `to`. Throws usage_error if `to` has another shape.
  void copy_to(matrix_view<T> to) const { copy(view(), to); }

 private:
  struct release {
    void operator()(void* memory) const noexcept { std::free(memory); }
  };
  void swap(tile_matrix& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(view_, other.view_);
  }

  std::unique_ptr<void, release> memory_;
  tile_view<T> view_;
};

}  // namespace creek::linalg
