// SPDX-License-Identifier: Apache-2.0
// Column-major matrices, as LAPACK lays them out: views of memory owned elsewhere, and matrices
// that own their memory.
#pragma once

#include <algorithm>
#include <cassert>
#include <complex>
#include <concepts>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <creek/core/language.hpp>
#include <creek/linalg/scalar.hpp>

namespace creek::linalg {

/// Index, 0-based: rows, columns, leading dimensions. (`index` is a function of <strings.h>.)
using index_t = std::ptrdiff_t;

/// Operation applied to an operand before it is used.
enum class op : char { none = 'N', transpose = 'T', conjugate_transpose = 'C' };
/// Triangle of a matrix that is read or written.
enum class triangle : char { lower = 'L', upper = 'U' };
/// Side of the product on which a matrix stands.
enum class side : char { left = 'L', right = 'R' };
/// Whether the diagonal is read, or taken for ones.
enum class diagonal : char { stored = 'N', unit = 'U' };

/// Block of a column-major matrix that the view does not own: element (i, j) is at data[i + j *
/// leading]. Copied like a pointer; T may be const.
template <class T>
requires scalar<std::remove_const_t<T>>
class matrix_view {
 public:
  using value_type = std::remove_const_t<T>;

  matrix_view() = default;
  /// Requires leading >= max(1, rows) unless there are no columns.
  matrix_view(T* data, index_t rows, index_t cols, index_t leading) noexcept
      : data_(data), rows_(rows), cols_(cols), leading_(leading) {
    assert(rows >= 0 && cols >= 0 && (cols == 0 || leading >= std::max<index_t>(1, rows)));
  }
  /// Converts a writable view to a read-only one.
  template <class U>
  requires(std::is_const_v<T>&& std::same_as<U, value_type>)
      matrix_view(const matrix_view<U>& other)
  noexcept : matrix_view(other.data(), other.rows(), other.cols(), other.leading()) {}

  T* data() const noexcept { return data_; }
  index_t rows() const noexcept { return rows_; }
  index_t cols() const noexcept { return cols_; }
  index_t leading() const noexcept { return leading_; }
  bool empty() const noexcept { return rows_ == 0 || cols_ == 0; }

  T& operator()(index_t i, index_t j) const noexcept { return data_[i + j * leading_]; }
  T* column(index_t j) const noexcept { return data_ + j * leading_; }

  /// Returns rows [i, i + rows) of columns [j, j + cols).
  matrix_view block(index_t i, index_t j, index_t rows, index_t cols) const noexcept {
    assert(i >= 0 && j >= 0 && rows >= 0 && cols >= 0 && i + rows <= rows_ && j + cols <= cols_);
    return {data_ == nullptr ? nullptr : data_ + i + j * leading_, rows, cols, leading_};
  }
  /// Returns all rows of columns [j, j + cols).
  matrix_view columns(index_t j, index_t cols) const noexcept { return block(0, j, rows_, cols); }

 private:
  T* data_ = nullptr;
  index_t rows_ = 0;
  index_t cols_ = 0;
  index_t leading_ = 1;
};

template <class T>
using const_view = matrix_view<const T>;

/// Matrix that owns its elements, zero at first, with columns aligned to cache lines.
template <scalar T>
class matrix {
 public:
  matrix() = default;
  /// Throws std::bad_alloc, also if rows * cols elements exceed the address space.
  matrix(index_t rows, index_t cols) : rows_(rows), cols_(cols), leading_(aligned_rows(rows)) {
    assert(rows >= 0 && cols >= 0);
    std::size_t count = 0;
    if (__builtin_mul_overflow(static_cast<std::size_t>(leading_), static_cast<std::size_t>(cols),
                               &count)) {
      throw std::bad_array_new_length();
    }
    if (count == 0) return;
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(count, sizeof(T), &bytes)) throw std::bad_array_new_length();
    data_.reset(static_cast<T*>(::operator new(bytes, alignment)));
    std::uninitialized_value_construct_n(data_.get(), count);
  }
  explicit matrix(const_view<T> from) : matrix(from.rows(), from.cols()) { copy(from); }
  matrix(const matrix& other) : matrix(other.view()) {}
  matrix(matrix&& other) noexcept { swap(other); }
  matrix& operator=(matrix other) noexcept {
    swap(other);
    return *this;
  }

  index_t rows() const noexcept { return rows_; }
  index_t cols() const noexcept { return cols_; }
  index_t leading() const noexcept { return leading_; }
  T* data() noexcept { return data_.get(); }
  const T* data() const noexcept { return data_.get(); }
  T& operator()(index_t i, index_t j) noexcept { return data()[i + j * leading_]; }
  const T& operator()(index_t i, index_t j) const noexcept { return data()[i + j * leading_]; }

  matrix_view<T> view() noexcept { return {data(), rows_, cols_, leading_}; }
  const_view<T> view() const noexcept { return {data(), rows_, cols_, leading_}; }
  operator matrix_view<T>() noexcept { return view(); }
  operator const_view<T>() const noexcept { return view(); }

 private:
  static constexpr std::align_val_t alignment{64};
  struct release {
    void operator()(T* data) const noexcept { ::operator delete(data, alignment); }
  };

  static index_t aligned_rows(index_t rows) noexcept {
    constexpr index_t line = 64 / static_cast<index_t>(sizeof(T));
    const index_t lines = std::max<index_t>(1, rows / line + (rows % line != 0));
    // An odd number of lines: adjacent columns do not map to the same few cache sets.
    return (lines > 8 ? lines | 1 : lines) * line;
  }
  void copy(const_view<T> from) {
    for (index_t j = 0; j < cols_; ++j) {
      std::copy_n(from.column(j), rows_, data() + j * leading_);
    }
  }
  void swap(matrix& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(rows_, other.rows_);
    std::swap(cols_, other.cols_);
    std::swap(leading_, other.leading_);
  }

  std::unique_ptr<T, release> data_;
  index_t rows_ = 0;
  index_t cols_ = 0;
  index_t leading_ = 1;
};

/// Copies a block to another of the same shape; they must not overlap.
template <scalar T>
void copy(const_view<T> from, matrix_view<T> to) noexcept {
  assert(from.rows() == to.rows() && from.cols() == to.cols());
  for (index_t j = 0; j < from.cols(); ++j) std::copy_n(from.column(j), from.rows(), to.column(j));
}

}  // namespace creek::linalg
