// SPDX-License-Identifier: Apache-2.0
// Products, LU with partial pivoting, Cholesky, QR and their solves of matrices that are
// distributed over a grid of processes in ScaLAPACK's layout (grid_matrix.hpp), which exchange
// messages.
//
// All ranks of the communicator call a routine together, with the same sizes. The thread that calls
// it sends the messages, and it computes unless the rank has workers. Results do not depend on the
// number of workers. Throws usage_error for invalid arguments, on every rank, before anything is
// sent or changed. Any other exception is thrown on the rank where it happened, and the program has
// to end.
#pragma once

#include <cstdint>
#include <span>

#include <creek/linalg/detail/grid_cholesky.hpp>
#include <creek/linalg/detail/grid_lu.hpp>
#include <creek/linalg/detail/grid_product.hpp>
#include <creek/linalg/detail/grid_qr.hpp>
#include <creek/linalg/detail/grid_solve.hpp>
#include <creek/linalg/detail/require.hpp>
#include <creek/linalg/grid_matrix.hpp>

namespace creek::linalg {

struct grid_options {
  /// Runtime whose workers compute this rank's part, while the calling thread sends the messages;
  /// nullptr: the calling thread does both. Each rank has its own, or none.
  runtime* workers = nullptr;
};

namespace detail {

template <class Communicator>
void check_grid(const char* routine, Communicator& all, const process_grid& grid) {
  require(std::int64_t{grid.rows} * grid.cols == all.size() && grid.cols > 0 && grid.col >= 0 &&
              grid.col < grid.cols && grid.rank_at(grid.row, grid.col) == all.rank(),
          routine, "the grid must have a place for each rank, p * columns + q for rank (p, q)");
}
inline bool same_grid(const process_grid& a, const process_grid& b) noexcept {
  return a.rows == b.rows && a.cols == b.cols && a.row == b.row && a.col == b.col;
}
inline bool same_blocks(const cyclic_axis& a, const cyclic_axis& b) noexcept {
  return a.size == b.size && a.block == b.block && a.source == b.source;
}
/// Whether the outer dimension of op(M) is one of C: a transposed one is along the other dimension
/// of the grid, so that its sources have nothing in common.
inline bool outer_blocks(op how, const cyclic_axis& m, const cyclic_axis& c) noexcept {
  return how == op::none ? same_blocks(m, c) : m.size == c.size && m.block == c.block;
}

/// Checks the arguments of a solve with the factors of a square matrix.
template <class Communicator, scalar T>
void check_solve(const char* routine, Communicator& all, const grid_view<T>& A,
                 const grid_view<T>& B) {
  check_grid(routine, all, A.grid());
  require(A.rows().size == A.cols().size && A.rows().block == A.cols().block, routine,
          "A and its blocks must be square");
  require(same_grid(A.grid(), B.grid()) && same_blocks(A.rows(), B.rows()), routine,
          "the rows of B must be distributed as those of A");
}

}  // namespace detail

/// Returns whether sizes, blocks and sources of A, B and C are such as gemm_on_grid() demands.
template <scalar T>
[[nodiscard]] bool are_of_a_product(op how_a, const grid_view<T>& A, op how_b,
                                    const grid_view<T>& B, const grid_view<T>& C) noexcept {
  const bool plain_a = how_a == op::none, plain_b = how_b == op::none;
  const cyclic_axis& inner_a = plain_a ? A.cols() : A.rows();
  const cyclic_axis& inner_b = plain_b ? B.rows() : B.cols();
  return detail::outer_blocks(how_a, plain_a ? A.rows() : A.cols(), C.rows()) &&
         detail::outer_blocks(how_b, plain_b ? B.cols() : B.rows(), C.cols()) &&
         inner_a.size == inner_b.size && inner_a.block == inner_b.block;
}

/// C = alpha op(A) op(B) + beta C, by steps of some columns of op(A) and rows of op(B) (SUMMA).
/// Sizes and blocks agree: of op(A)'s and C's rows, of op(B)'s and C's columns, and of op(A)'s
/// columns and op(B)'s rows. The sources of A's and C's rows are the same unless A is transposed,
/// and those of B's and C's columns unless B is. With beta == 0, C is not read.
/// Source: [van de Geijn 1997].
template <class Communicator, scalar T>
void gemm_on_grid(Communicator& all, op how_a, op how_b, factor<T> alpha, const grid_view<T>& A,
                  const grid_view<T>& B, factor<T> beta, const grid_view<T>& C,
                  const grid_options& options = {}) {
  using namespace detail;
  check_grid("gemm_on_grid", all, C.grid());
  require(same_grid(A.grid(), C.grid()) && same_grid(B.grid(), C.grid()), "gemm_on_grid",
          "A, B and C must be on the same grid");
  require(are_of_a_product(how_a, A, how_b, B, C), "gemm_on_grid",
          "sizes and blocks of op(A) (m x k), op(B) (k x n) and C (m x n) must agree");
  const bool plain_a = how_a == op::none, plain_b = how_b == op::none;
  const cyclic_axis& inner = plain_a ? A.cols() : A.rows();
  const matrix_view<T> local = C.local();
  const index_t depth = alpha == T{} ? 0 : inner.size, block = inner.block;
  // Thin products take as long as C takes through the memory, so several blocks make one.
  const index_t together = std::max<index_t>(1, 256 / block) * block;
  // Messages are pushed between strips of C.
  constexpr index_t strip = 1024;
  using operand = grid_operand<Communicator, T>;
  const auto factors = [&]() -> grid_factors<Communicator, T> {
    return {operand(all, side::left, how_a, A, C.rows()),
            operand(all, side::right, how_b, B, C.cols())};
  };
  auto now = factors(), next = factors();
  T scale = beta;
  if (depth != 0) next.begin(0, std::min(together, depth));
  for (index_t k = 0; k < depth; k += together) {
    std::swap(now, next);
    now.finish();
    const index_t end = std::min(k + together, depth);
    if (end < depth) next.begin(end, std::min(end + together, depth));
    const matrix_view<T> left = now.left.view(), right = now.right.view();
    grid_job job(options.workers, strips_of(local.cols(), strip), [&](index_t i) {
      const matrix_view<T> part = strip_of(local, i, strip);
      const index_t j = i * strip, n = part.cols();
      gemm<T>(how_a, how_b, alpha, left,
              plain_b ? right.columns(j, n) : right.block(j, 0, n, right.cols()), scale, part);
    });
    job.finish([&] { return next.push(); });
    scale = T{1};
  }
  if (depth != 0 || beta == T{1}) return;
  for (index_t j = 0; j < local.cols(); ++j) {
    for (index_t i = 0; i < local.rows(); ++i) {
      local(i, j) = beta == T{} ? T{} : beta * local(i, j);
    }
  }
}

/// P A = L U, like getrf(), for square blocks. `pivots` has min(m, n) elements, all of which are
/// set on every rank; they count rows of the matrix from 0. Returns info, the same on every rank.
template <class Communicator, scalar T>
[[nodiscard]] index_t getrf_on_grid(Communicator& all, const grid_view<T>& A,
                                    std::span<index_t> pivots, const grid_options& options = {}) {
  using namespace detail;
  check_grid("getrf_on_grid", all, A.grid());
  require(A.rows().block == A.cols().block, "getrf_on_grid", "blocks must be square");
  require(static_cast<index_t>(pivots.size()) >= std::min(A.rows().size, A.cols().size),
          "getrf_on_grid", "pivots must have min(m, n) places");
  return grid_lu<Communicator, T>(all, A, pivots.data(), options.workers).run();
}

/// A = L L^H (lower) or U^H U (upper) for a square A with square blocks. The triangle `stored` of A
/// becomes the factor; the other triangle is not used or written. Returns info, the same on every
/// rank; if it is not 0, the factorization has stopped there.
template <class Communicator, scalar T>
[[nodiscard]] index_t potrf_on_grid(Communicator& all, triangle stored, const grid_view<T>& A,
                                    const grid_options& options = {}) {
  using namespace detail;
  check_grid("potrf_on_grid", all, A.grid());
  require(A.rows().size == A.cols().size && A.rows().block == A.cols().block, "potrf_on_grid",
          "A and its blocks must be square");
  return grid_cholesky<Communicator, T>(all, stored, A, options.workers).run();
}

/// Solves op(A) X = B with the result of getrf_on_grid() of a square A; B, whose rows are
/// distributed as those of A, becomes X.
template <class Communicator, scalar T>
void getrs_on_grid(Communicator& all, op how, const grid_view<T>& LU,
                   std::span<const index_t> pivots, const grid_view<T>& B,
                   const grid_options& options = {}) {
  using namespace detail;
  check_solve("getrs_on_grid", all, LU, B);
  require(static_cast<index_t>(pivots.size()) >= LU.rows().size, "getrs_on_grid",
          "pivots must have a place for each row");
  for (index_t i = 0; i < LU.rows().size; ++i) {
    const index_t pivot = pivots[static_cast<std::size_t>(i)];
    require(pivot >= i && pivot < LU.rows().size, "getrs_on_grid",
            "a pivot must be a row of A, not above its own");
  }
  grid_rows<Communicator, T> rows(all, LU.grid(), options.workers);
  const auto exchange = [&] {
    constexpr index_t width = 64;  // columns that fit a cache
    const auto all_exchanges = exchanges_of_all(LU.rows(), pivots.data(), how != op::none);
    rows.exchange_all(all_exchanges, B.local(), width, [](index_t) { return index_t{0}; });
  };
  grid_solve<Communicator, T> solve(all, LU, B, options.workers);
  if (how == op::none) {
    exchange();
    solve.run(triangle::lower, how, diagonal::unit);
    solve.run(triangle::upper, how, diagonal::stored);
  } else {
    solve.run(triangle::upper, how, diagonal::stored);
    solve.run(triangle::lower, how, diagonal::unit);
    exchange();
  }
}

/// Solves A X = B with the result of potrf_on_grid(); B, whose rows are distributed as those of A,
/// becomes X.
template <class Communicator, scalar T>
void potrs_on_grid(Communicator& all, triangle stored, const grid_view<T>& factor,
                   const grid_view<T>& B, const grid_options& options = {}) {
  using namespace detail;
  check_solve("potrs_on_grid", all, factor, B);
  const bool lower = stored == triangle::lower;
  grid_solve<Communicator, T> solve(all, factor, B, options.workers);
  solve.run(stored, lower ? op::none : op::conjugate_transpose, diagonal::stored);
  solve.run(stored, lower ? op::conjugate_transpose : op::none, diagonal::stored);
}

/// A = Q R, like geqrf(), for square blocks. `tau` has min(m, n) elements, all of which are set on
/// every rank.
template <class Communicator, scalar T>
void geqrf_on_grid(Communicator& all, const grid_view<T>& A, std::span<T> tau,
                   const grid_options& options = {}) {
  using namespace detail;
  check_grid("geqrf_on_grid", all, A.grid());
  require(A.rows().block == A.cols().block, "geqrf_on_grid", "blocks must be square");
  require(static_cast<index_t>(tau.size()) >= std::min(A.rows().size, A.cols().size),
          "geqrf_on_grid", "tau must have min(m, n) places");
  grid_qr<Communicator, T>(all, A, options.workers).factor(tau.data());
}

/// C = op(Q) C with the result of geqrf_on_grid(); how is none or conjugate_transpose (for real T
/// also transpose). The rows of C are distributed as those of A.
template <class Communicator, scalar T>
void ormqr_on_grid(Communicator& all, op how, const grid_view<T>& QR, std::span<const T> tau,
                   const grid_view<T>& C, const grid_options& options = {}) {
  using namespace detail;
  check_grid("ormqr_on_grid", all, QR.grid());
  require(QR.rows().block == QR.cols().block, "ormqr_on_grid", "blocks must be square");
  require(static_cast<index_t>(tau.size()) >= std::min(QR.rows().size, QR.cols().size),
          "ormqr_on_grid", "tau must have min(m, n) places");
  require(same_grid(QR.grid(), C.grid()) && same_blocks(QR.rows(), C.rows()), "ormqr_on_grid",
          "the rows of C must be distributed as those of A");
  require(!is_complex<T> || how != op::transpose, "ormqr_on_grid",
          "of complex numbers only Q and its conjugate transpose can be applied");
  grid_qr<Communicator, T>(all, QR, options.workers).multiply(how, tau.data(), C);
}

}  // namespace creek::linalg
