// SPDX-License-Identifier: Apache-2.0
// Steps of right-looking factorizations by blocks of columns, each in the calling thread: a panel
// is factored, the parts that other ranks need are packed into one message, and each receiver
// updates its own columns by it. The operations on an element, and their order, are those of
// getrf(), potrf() and geqrf() with the same block, so that results are the same bit for bit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <creek/linalg/matrix.hpp>

namespace creek::linalg::detail {

enum class column_method : std::uint8_t { lu, cholesky, qr };

/// Position of a panel: `order` columns that are eliminated, and `rows` rows from row `first`
/// on.
struct panel_place {
  index_t first = 0;
  index_t rows = 0;
  index_t order = 0;
};

/// Message with the parts of a factored panel that other ranks need, in one piece of memory: info,
/// then by method the pivots (LU, counted from the panel's first row) or the triangle T (QR), then
/// the elements: L, or the rows of L below the diagonal block (Cholesky), or the reflectors.
/// Without `body` it holds only the parts before the elements.
template <scalar T>
class panel_message {
 public:
  panel_message(column_method how, panel_place where, bool body)
      : how_(how), where_(where), bytes_(head() + (body ? body_bytes() : 0)) {}

  column_method method() const noexcept { return how_; }
  const panel_place& place() const noexcept { return where_; }
  std::span<std::byte> bytes() noexcept { return bytes_; }
  std::size_t size() const noexcept { return bytes_.size(); }
  bool has_body() const noexcept { return bytes_.size() > head(); }

  /// Returns the routine's info, counted from the matrix's first column.
  index_t& info() noexcept { return indices()[0]; }
  index_t* pivots() noexcept { return indices() + 1; }
  matrix_view<T> triangle() noexcept {
    const index_t n = how_ == column_method::qr ? where_.order : 0;
    return {elements(sizeof(index_t)), n, n, std::max<index_t>(1, n)};
  }
  matrix_view<T> factor() noexcept {
    const index_t rows = body_rows();
    return {elements(head()), rows, where_.order, std::max<index_t>(1, rows)};
  }

 private:
  std::size_t head() const noexcept {
    const auto order = static_cast<std::size_t>(where_.order);
    const std::size_t more = how_ == column_method::lu   ? order * sizeof(index_t)
                             : how_ == column_method::qr ? order * order * sizeof(T)
                                                         : 0;
    return sizeof(index_t) + more;
  }
  index_t body_rows() const noexcept {
    return how_ == column_method::cholesky ? where_.rows - where_.order : where_.rows;
  }
  std::size_t body_bytes() const noexcept {
    return static_cast<std::size_t>(body_rows() * where_.order) * sizeof(T);
  }
  // Elements need no stricter alignment than an index, which operator new guarantees.
  static_assert(alignof(T) <= sizeof(index_t));
  index_t* indices() noexcept { return reinterpret_cast<index_t*>(bytes_.data()); }
  T* elements(std::size_t at) noexcept { return reinterpret_cast<T*>(bytes_.data() + at); }

  column_method how_;
  panel_place where_;
  std::vector<std::byte> bytes_;
};

/// Factors panel k and fills in its message:
///   LU         P A(k:m, k) = L(k:m, k) U(k, k)
///   Cholesky   A(k, k) = L(k, k) L(k, k)^H, L(k+1:m, k) = A(k+1:m, k) L(k, k)^-H
///   QR         A(k:m, k) = Q(k) R(k, k)
/// `A` is the panel, rows k:m of its block of columns. QR: writes `order` elements to tau. Throws
/// std::bad_alloc.
template <scalar T>
void factor_panel_of(matrix_view<T> A, T* tau, panel_message<T>& to);

/// Update of columns to the right by a panel. The panel's message must outlive it.
template <scalar T>
class column_update {
 public:
  virtual ~column_update() = default;
  /// Updates block j of columns by panel k:
  ///   LU         A(k:m, j) = P A(k:m, j), U(k, j) = L(k, k)^-1 A(k, j),
  ///              A(k+1:m, j) -= L(k+1:m, k) U(k, j)
  ///   Cholesky   A(j:m, j) -= L(j:m, k) L(j, k)^H
  ///   QR         A(k:m, j) = Q(k)^H A(k:m, j)
  /// `C` is the block's rows from the panel's first row on (LU, QR) or from the block's own
  /// diagonal on, `down` rows below the panel's diagonal block (Cholesky).
  virtual void apply(matrix_view<T> C, index_t down) const = 0;
};
template <scalar T>
std::unique_ptr<column_update<T>> make_update(panel_message<T>& from);

/// Exchanges row i with row pivots[i] - first for i in [0, count), counted from A's first row.
template <scalar T>
void exchange_rows_of(matrix_view<T> A, const index_t* pivots, index_t count, index_t first = 0);

/// Applies the contribution of a block of columns to the solution of A X = B: forwards through the
/// blocks from the first, then backwards. `columns` have all rows, their diagonal begins at row
/// `first`; B has all rows. LU: the rows of B are already exchanged. QR: `tau` is of these columns.
template <scalar T>
void solve_by_columns(column_method how, bool backwards, const_view<T> columns, index_t first,
                      const T* tau, matrix_view<T> B);

/// Returns the flops of factoring a panel of real numbers; complex ones take four times as many.
std::int64_t panel_flops(column_method how, const panel_place& panel) noexcept;
/// Returns the flops of an update by `order` columns, where C of column_update is `rows` x `cols`.
std::int64_t update_flops(column_method how, index_t rows, index_t cols, index_t order) noexcept;

}  // namespace creek::linalg::detail
