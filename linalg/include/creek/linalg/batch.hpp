// SPDX-License-Identifier: Apache-2.0
// The same operation on many matrices of one shape, each of which is too small for several threads.
//
// The matrices are spread over the workers of the creek::runtime that the caller runs in; outside
// of one, the calling thread computes all. Each result is that of the routine for one matrix, and
// so are the errors; shapes are checked before anything is changed. Matrices that are written must
// not overlap others. `infos` has an element for each matrix.
#pragma once

#include <cassert>
#include <span>

#include <creek/linalg/blas3.hpp>
#include <creek/linalg/matrix.hpp>

namespace creek::linalg {

/// Column-major matrices of one shape, which the batch does not own: at addresses given one by one,
/// or `stride` elements apart. T may be const.
template <class T>
requires scalar<std::remove_const_t<T>>
class matrix_batch {
 public:
  using value_type = std::remove_const_t<T>;

  /// Matrix i begins at first + i * stride. A stride of 0 means one matrix many times, to be read.
  matrix_batch(T* first, index_t stride, index_t count, index_t rows, index_t cols,
               index_t leading) noexcept
      : shape_(first, rows, cols, leading), stride_(stride), count_(count) {
    assert(count >= 0);
  }
  /// Matrix i begins at addresses[i].
  matrix_batch(T* const* addresses, index_t count, index_t rows, index_t cols,
               index_t leading) noexcept
      : shape_(nullptr, rows, cols, leading), addresses_(addresses), count_(count) {
    assert(count >= 0);
  }

  index_t size() const noexcept { return count_; }
  index_t rows() const noexcept { return shape_.rows(); }
  index_t cols() const noexcept { return shape_.cols(); }
  matrix_view<T> operator[](index_t i) const noexcept {
    T* const data = addresses_ != nullptr ? addresses_[i] : shape_.data() + i * stride_;
    return {data, shape_.rows(), shape_.cols(), shape_.leading()};
  }

 private:
  matrix_view<T> shape_;
  T* const* addresses_ = nullptr;
  index_t stride_ = 0;
  index_t count_;
};

/// C[i] = alpha op(A[i]) op(B[i]) + beta C[i] for each i.
template <scalar T>
void gemm_batch(op how_a, op how_b, factor<T> alpha,
                const matrix_batch<const std::type_identity_t<T>>& A,
                const matrix_batch<const std::type_identity_t<T>>& B, factor<T> beta,
                const matrix_batch<T>& C);

/// P A[i] = L U for each i, as getrf. The min(m, n) pivots of matrix i begin at i * min(m, n).
template <scalar T>
void getrf_batch(const matrix_batch<T>& A, std::span<index_t> pivots, std::span<index_t> infos);

/// Solves op(A[i]) X = B[i] with the results of getrf_batch of square matrices; B[i] becomes X.
template <scalar T>
void getrs_batch(op how, const matrix_batch<const std::type_identity_t<T>>& LU,
                 std::span<const index_t> pivots, const matrix_batch<T>& B);

/// Solves A[i] X = B[i]: A[i] becomes its factors, B[i] becomes X unless infos[i] is not 0.
template <scalar T>
void gesv_batch(const matrix_batch<T>& A, std::span<index_t> pivots, const matrix_batch<T>& B,
                std::span<index_t> infos);

/// A[i] = L L^H or U^H U for each i, as potrf.
template <scalar T>
void potrf_batch(triangle stored, const matrix_batch<T>& A, std::span<index_t> infos);

}  // namespace creek::linalg
