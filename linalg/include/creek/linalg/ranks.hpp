// SPDX-License-Identifier: Apache-2.0
// LU with partial pivoting, Cholesky and QR on cores that share no memory and exchange messages.
// The routines are those of lu.hpp, cholesky.hpp and qr.hpp, written once over a communicator, of
// host threads or of cores that share no memory.
//
// All ranks of the communicator call a routine together, with equal sizes and options. Each rank
// has its part of the matrix (rank_columns.hpp) and computes in its own thread. Throws usage_error
// for invalid arguments, on every rank, before anything is sent or changed. Any other exception,
// such as std::bad_alloc, is thrown on the rank where it happened, and the program has to end.
//
// Results equal those of getrf(), potrf() (lower triangle) and geqrf() with the same block bit for
// bit: the steps are the same, only the ranks that do them differ.
// Source: [Dongarra 2003], for the right-looking factorization of a column-wise block-cyclic matrix
// with look-ahead, and for the order of sends: the rank that has the next panel
// gets the current one first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/core/messages/broadcast.hpp>
#include <creek/linalg/detail/column_run.hpp>
#include <creek/linalg/detail/require.hpp>
#include <creek/linalg/rank_columns.hpp>

namespace creek::linalg {

struct rank_options {
  /// Number of panels that a rank may receive before it has done its updates by the earlier ones;
  /// each takes the memory of a panel. 0: one after the other.
  int look_ahead = 2;
  /// Tree along which a panel is sent to all ranks.
  broadcast_kind route = broadcast_kind::chain;
  /// The owner of the next panel gets each panel first, from its root, and forwards it to nobody.
  bool next_panel_first = true;
  /// Size in bytes of the pieces in which a rank forwards a panel while it receives it.
  std::size_t piece_bytes = 8192;
};

namespace detail {

template <class Communicator, scalar T>
void check_ranks(const char* routine, Communicator& ranks, const rank_columns<T>& A) {
  if (A.rank() == ranks.rank() && A.ranks() == ranks.size()) return;
  throw usage_error(std::string(routine) + ": the matrix lies at " + std::to_string(A.ranks()) +
                    " ranks, here is rank " + std::to_string(ranks.rank()) + " of " +
                    std::to_string(ranks.size()));
}

template <class Communicator, scalar T>
index_t factor_on_ranks(const char* routine, Communicator& ranks, column_method how,
                        rank_columns<T>& A, index_t* pivots, T* tau, const rank_options& options) {
  check_ranks(routine, ranks, A);
  require(options.look_ahead >= 0, routine, "look_ahead must not be negative");
  require(options.piece_bytes > 0, routine, "piece_bytes must be positive");
  return column_run<Communicator, T>(
             ranks, how, A, pivots, tau,
             {options.look_ahead, options.route, options.next_panel_first, options.piece_bytes})
      .run();
}

/// Solves with B, which travels from block to block, forwards and backwards, each time to the rank
/// that owns the block, and at the end to all ranks.
template <class Communicator, scalar T>
void solve_on_ranks(Communicator& ranks, column_method how, const rank_columns<T>& A, const T* tau,
                    matrix_view<T> B) {
  const column_costs<typename Communicator::memory_type, T> costs(ranks.memory());
  std::vector<T> sides = side_by_side<T>(B);
  const matrix_view<T> X(sides.data(), B.rows(), B.cols(), std::max<index_t>(1, B.rows()));
  int place = 0;
  const auto visit = [&](index_t j, bool backwards) {
    const int owner = A.owner(j);
    if (owner != place && ranks.rank() == place) ranks.send(std::span<const T>{sides}, owner);
    if (owner != place && ranks.rank() == owner) ranks.recv(std::span<T>{sides}, place);
    place = owner;
    if (ranks.rank() != owner) return;
    const index_t first = A.first_column(j);
    const T* const own_tau = tau == nullptr ? nullptr : tau + first;
    solve_by_columns<T>(how, backwards, A.columns(j), first, own_tau, X);
    const bool upper = backwards && how != column_method::cholesky;
    const index_t rows = upper ? first + A.width(j) : A.rows() - first;
    costs.solved(rows * A.width(j), B.cols());
  };
  for (index_t j = 0; j < A.blocks(); ++j) visit(j, false);
  for (index_t j = A.blocks() - 1; j >= 0; --j) visit(j, true);
  ranks.bcast(std::span<T>{sides}, place);
  spread_out<T>(sides, B);
}

}  // namespace detail

/// P A = L U, like getrf(). `pivots` has min(m, n) elements, all of which are set on every rank.
/// Returns info, the same on every rank.
template <class Communicator, scalar T>
[[nodiscard]] index_t getrf_on_ranks(Communicator& ranks, rank_columns<T>& A,
                                     std::span<index_t> pivots, const rank_options& options = {}) {
  detail::require(static_cast<index_t>(pivots.size()) >= std::min(A.rows(), A.cols()),
                  "getrf_on_ranks",
                  "pivots must have as many places as A has rows, or columns where those are "
                  "fewer");
  return detail::factor_on_ranks<Communicator, T>(
      "getrf_on_ranks", ranks, detail::column_method::lu, A, pivots.data(), nullptr, options);
}

/// A = L L^H for square A, of which the lower triangle is read and becomes L, like potrf().
/// Elements above the diagonal blocks are neither read nor written. Returns info, the same on every
/// rank; if it is not 0, the factorization has stopped there.
template <class Communicator, scalar T>
[[nodiscard]] index_t potrf_on_ranks(Communicator& ranks, rank_columns<T>& A,
                                     const rank_options& options = {}) {
  detail::require(A.rows() == A.cols(), "potrf_on_ranks", "A must be square");
  return detail::factor_on_ranks<Communicator, T>(
      "potrf_on_ranks", ranks, detail::column_method::cholesky, A, nullptr, nullptr, options);
}

/// A = Q R, like geqrf(). `tau` has min(m, n) elements, all of which are set on every rank.
template <class Communicator, scalar T>
void geqrf_on_ranks(Communicator& ranks, rank_columns<T>& A, std::span<T> tau,
                    const rank_options& options = {}) {
  detail::require(static_cast<index_t>(tau.size()) >= std::min(A.rows(), A.cols()),
                  "geqrf_on_ranks",
                  "tau must have as many places as A has rows, or columns where those are "
                  "fewer");
  (void)detail::factor_on_ranks<Communicator, T>("geqrf_on_ranks", ranks, detail::column_method::qr,
                                                 A, nullptr, tau.data(), options);
}

/// Solves A X = B with the result of getrf_on_ranks() of a square A. Reads the B of rank 0; on
/// every rank B becomes X.
template <class Communicator, scalar T>
void getrs_on_ranks(Communicator& ranks, const rank_columns<T>& LU, std::span<const index_t> pivots,
                    matrix_view<T> B) {
  detail::check_ranks("getrs_on_ranks", ranks, LU);
  detail::require(LU.rows() == LU.cols() && LU.rows() == B.rows(), "getrs_on_ranks",
                  "A must be square, and B have as many rows");
  detail::require(static_cast<index_t>(pivots.size()) >= LU.rows(), "getrs_on_ranks",
                  "pivots must have as many places as A has rows");
  detail::exchange_rows_of(B, pivots.data(), LU.rows());
  detail::solve_on_ranks<Communicator, T>(ranks, detail::column_method::lu, LU, nullptr, B);
}

/// Solves A X = B with the result of potrf_on_ranks(). B as in getrs_on_ranks().
template <class Communicator, scalar T>
void potrs_on_ranks(Communicator& ranks, const rank_columns<T>& L, matrix_view<T> B) {
  detail::check_ranks("potrs_on_ranks", ranks, L);
  detail::require(L.rows() == L.cols() && L.rows() == B.rows(), "potrs_on_ranks",
                  "the factor must be square, and B have as many rows");
  detail::solve_on_ranks<Communicator, T>(ranks, detail::column_method::cholesky, L, nullptr, B);
}

/// Computes the X that minimizes the norm of A X - B, in the first rows of B, with the result of
/// geqrf_on_ranks(); A must have at least as many rows as columns. B as in getrs_on_ranks().
template <class Communicator, scalar T>
void geqrs_on_ranks(Communicator& ranks, const rank_columns<T>& QR, std::span<const T> tau,
                    matrix_view<T> B) {
  detail::check_ranks("geqrs_on_ranks", ranks, QR);
  detail::require(QR.rows() >= QR.cols() && QR.rows() == B.rows(), "geqrs_on_ranks",
                  "A must have no more columns than rows, and B as many rows as A");
  detail::require(static_cast<index_t>(tau.size()) >= QR.cols(), "geqrs_on_ranks",
                  "tau must have as many places as A has columns");
  detail::solve_on_ranks<Communicator, T>(ranks, detail::column_method::qr, QR, tau.data(), B);
}

}  // namespace creek::linalg
