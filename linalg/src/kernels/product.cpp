// SPDX-License-Identifier: Apache-2.0
// Blocked products. Loops and their names follow BLIS [Van Zee 2015].
#include "product.hpp"

#include <unistd.h>

#include <algorithm>

#include "blas3/foreign_blas.hpp"
#include "pack_memory.hpp"
#include "small_kernels.hpp"
#include "vector_kernels.hpp"

namespace creek::linalg::detail {
namespace {

/// Whether the elements in rows [i, i + m) and columns [j, j + n) are in the part to compute.
struct coverage {
  bool none;
  bool all;
};

coverage covered(part which, index_t below, index_t i, index_t m, index_t j, index_t n) {
  if (which == part::all) return {false, true};
  const index_t least = i + below - (j + n - 1);  // row - column, at the upper right
  const index_t most = i + m - 1 + below - j;
  if (which == part::lower) return {most < 0, least >= 0};
  return {least > 0, most <= 0};
}

/// Adds those elements of a micro-tile that exist in c and are in the part to compute.
template <scalar T>
void add_micro_tile(const real<T>* values, index_t values_leading, index_t m, index_t n, T* c,
                    index_t leading, part which, index_t below) {
  for (index_t j = 0; j < n; ++j) {
    const index_t from = which == part::lower ? std::clamp<index_t>(j - below, 0, m) : 0;
    const index_t to = which == part::upper ? std::clamp<index_t>(j - below + 1, 0, m) : m;
    real<T>* const column = reinterpret_cast<real<T>*>(c + j * leading);
    for (index_t i = reals<T> * from; i < reals<T> * to; ++i) {
      column[i] += values[i + j * values_leading];
    }
  }
}

/// Maximum order for which an operand that is read in place is faster than a packed one.
constexpr index_t max_unpacked = 192;
/// Maximum order of a product that is not worth a second thread.
constexpr index_t one_thread = 64;

/// Returns the grain of a phase: a piece per worker at least, none larger than `most`.
index_t piece(index_t workers, index_t total, index_t unit, index_t most) {
  index_t pieces = (total + most - 1) / most;
  if (workers > 1) pieces = round_up(pieces, workers);
  return std::min(most, round_up((total + pieces - 1) / pieces, unit));
}

/// Returns the size of a block of the left operand: two thirds of the second-level cache, which
/// also holds the strips of the right operand and of the result that pass through.
index_t left_block_bytes() noexcept {
  static const index_t bytes = [] {
    const long cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
    constexpr long usual = 768L << 10;
    return static_cast<index_t>(cache > 0 ? std::clamp(cache, 256L << 10, 2048L << 10) : usual) *
           2 / 3;
  }();
  return bytes;
}

/// One step over the depth: packs the right operand for all, then each row block packs its own left
/// operand.
template <scalar T, class Workers>
class rank_update {
 public:
  rank_update(T alpha, index_t depth, matrix_view<T> c, part which, index_t below, bool fresh)
      : alpha_(alpha), depth_(depth), c_(c), which_(which), below_(below), fresh_(fresh) {
    const auto& kernels = micro_kernels_of<real<T>>();
    rows_ = piece(Workers::count(), c.rows(), kernels.rows / reals<T>, blocking<T>::rows());
    row_blocks_ = (c.rows() + rows_ - 1) / rows_;
    // Few rows: columns are divided among the workers too.
    const index_t workers = Workers::count();
    const index_t wanted =
        row_blocks_ >= workers ? 1 : (2 * workers + row_blocks_ - 1) / row_blocks_;
    cols_ = round_up((c.cols() + wanted - 1) / wanted, kernels.cols);
    col_blocks_ = (c.cols() + cols_ - 1) / cols_;
  }

  void run(const strided<T>& a, const strided<T>& b, real<T>* packed) {
    const index_t strip = piece(Workers::count(), c_.cols(), micro_kernels_of<real<T>>().cols, 256);
    Workers::for_each((c_.cols() + strip - 1) / strip, [&, strip](index_t s) {
      const index_t j = s * strip;
      pack_right(b.block(0, j), depth_, std::min(strip, c_.cols() - j), alpha_,
                 packed + packed_right_size<T>(depth_, j));
    });
    Workers::for_each(row_blocks_ * col_blocks_, [&](index_t block) {
      update(a, packed, block % row_blocks_ * rows_, block / row_blocks_ * cols_);
    });
  }

 private:
  void update(const strided<T>& a, const real<T>* packed, index_t i, index_t j) const {
    const index_t m = std::min(rows_, c_.rows() - i);
    const index_t n = std::min(cols_, c_.cols() - j);
    if (covered(which_, below_, i, m, j, n).none) return;
    const pack_array<real<T>> left(packed_left_size<T>(m, depth_));
    pack_left(a.block(i, 0), m, depth_, left.data());
    multiply_packed(m, n, depth_, left.data(), packed + packed_right_size<T>(depth_, j), &c_(i, j),
                    c_.leading(), which_, below_ + i - j, fresh_);
  }

  T alpha_;
  index_t depth_;
  matrix_view<T> c_;
  part which_;
  index_t below_;
  bool fresh_;
  index_t rows_, row_blocks_, cols_, col_blocks_;
};

}  // namespace

template <scalar T>
index_t blocking<T>::rows(index_t depth) noexcept {
  // At least one strip, as the caller chooses the width of panels.
  const index_t strip = micro_kernels_of<real<T>>().rows;
  const index_t deep = std::max<index_t>(64, reals<T> * depth);
  const index_t strips = left_block_bytes() / static_cast<index_t>(sizeof(real<T>)) / deep / strip;
  return std::max<index_t>(1, strips) * strip / reals<T>;
}

template <scalar T>
void multiply_packed(index_t rows, index_t cols, index_t depth, const real<T>* left,
                     const real<T>* right, T* c, index_t leading, part which, index_t below,
                     bool fresh) noexcept {
  const auto& kernels = micro_kernels_of<real<T>>();
  const index_t high = kernels.rows / reals<T>;
  const index_t wide = kernels.cols;
  const index_t left_strip = packed_left_size<T>(high, depth);
  const index_t right_strip = packed_right_size<T>(depth, wide);
  alignas(64) real<T> edge[48 * 8];
  for (index_t j = 0; j < cols; j += wide, right += right_strip) {
    const index_t n = std::min(wide, cols - j);
    const real<T>* strip = left;
    for (index_t p = 0; fresh && p < n; ++p) std::fill_n(c + (j + p) * leading, rows, T{});
    for (index_t i = 0; i < rows; i += high, strip += left_strip) {
      const index_t m = std::min(high, rows - i);
      const coverage wanted = covered(which, below, i, m, j, n);
      if (wanted.none) continue;
      T* const to = c + i + j * leading;
      if (wanted.all && m == high && n == wide) {
        kernels.multiply(reals<T> * depth, strip, kernels.rows, right,
                         reinterpret_cast<real<T>*>(to), reals<T> * leading);
        continue;
      }
      if (wanted.all) {
        kernels.multiply_edge(reals<T> * depth, strip, kernels.rows, right, reals<T> * m, n,
                              reinterpret_cast<real<T>*>(to), reals<T> * leading);
        continue;
      }
      std::fill_n(edge, kernels.rows * wide, real<T>{});
      kernels.multiply(reals<T> * depth, strip, kernels.rows, right, edge, kernels.rows);
      add_micro_tile(edge, kernels.rows, m, n, to, leading, which, below + i - j);
    }
  }
}

namespace {

/// Product for few columns, reading `a` in place; returns false if the kernels cannot. The cuts
/// between rows, and so the sums, are the same for any number of workers.
template <class Workers, scalar T>
bool multiply_narrow(T alpha, const strided<T>& a, const strided<T>& b, index_t depth,
                     matrix_view<T> c, part which) {
  const bool down = a.row_step == 1 && !a.conjugate;
  const bool along = a.col_step == 1 && (a.conjugate || !is_complex<T>);
  if (c.cols() > vector_columns || which != part::all || !(down || along) ||
      a.shape != structure::general || b.shape != structure::general) {
    return false;
  }
  matrix<T> x(depth, c.cols());
  for (index_t j = 0; j < c.cols(); ++j) {
    for (index_t p = 0; p < depth; ++p) x(p, j) = (down ? -alpha : T{1}) * b.at(p, j);
  }
  constexpr index_t step = 256;
  const matrix_view<T> columns = x.view();
  Workers::for_each((c.rows() + step - 1) / step, [&](index_t piece) {
    const index_t i = piece * step;
    const index_t rows = std::min(step, c.rows() - i);
    for (index_t j = 0; j < c.cols(); ++j) {
      T* const to = &c(i, j);
      if (down) {
        subtract(rows, depth, a.data + i, a.col_step, columns.column(j), to);
      } else {
        T sums[step];
        project(depth, rows, a.data + i * a.row_step, a.row_step, columns.column(j), sums);
        for (index_t r = 0; r < rows; ++r) to[r] += alpha * sums[r];
      }
    }
  });
  return true;
}

/// Product of packed blocks, step by step over the depth. With `fresh`, c is 0 before.
template <class Workers, scalar T>
void multiply_steps(T alpha, const strided<T>& a, const strided<T>& b, index_t depth,
                    matrix_view<T> c, part which, bool fresh) {
  const index_t steps = (depth + blocking<T>::depth() - 1) / blocking<T>::depth();
  const index_t step = (depth + steps - 1) / steps;
  const index_t cols = std::min(c.cols(), blocking<T>::cols());
  const pack_array<real<T>> packed(packed_right_size<T>(step, cols));
  for (index_t j = 0; j < c.cols(); j += cols) {
    const matrix_view<T> columns = c.columns(j, std::min(cols, c.cols() - j));
    for (index_t p = 0; p < depth; p += step) {
      rank_update<T, Workers> update(alpha, std::min(step, depth - p), columns, which, -j,
                                     fresh && p == 0);
      update.run(a.block(0, p), b.block(p, j), packed.data());
    }
  }
}

}  // namespace

template <class Workers, scalar T>
void multiply_add_by(T alpha, const strided<T>& a, const strided<T>& b, index_t depth,
                     matrix_view<T> c, part which) {
  if (c.empty() || depth == 0 || alpha == T{}) return;
  if (multiply_narrow<Workers>(alpha, a, b, depth, c, which)) return;
  if (which == part::all && is_done_elsewhere(a, b, depth, c)) {
    return multiply_add_elsewhere_by<Workers>(alpha, a, b, depth, c);
  }
  multiply_steps<Workers>(alpha, a, b, depth, c, which, false);
}

template <class Workers, scalar T>
void multiply_by(T alpha, const strided<T>& a, const strided<T>& b, index_t depth,
                 matrix_view<T> c) {
  const bool packs = c.cols() > vector_columns && !c.empty() && depth > 0 && alpha != T{} &&
                     !is_done_elsewhere(a, b, depth, c);
  if (packs) return multiply_steps<Workers>(alpha, a, b, depth, c, part::all, true);
  scale_by<Workers>(T{}, c);
  multiply_add_by<Workers>(alpha, a, b, depth, c);
}

template <class Workers, scalar T>
bool multiply_in_place(T alpha, const strided<T>& a, const strided<T>& b, index_t depth, T beta,
                       matrix_view<T> c) {
  if constexpr (is_complex<T>) {
    return false;
  } else {
    const index_t m = c.rows(), n = c.cols(), order = std::max({m, n, depth});
    const bool is_turned = a.row_step != 1;
    if (order > (is_turned ? max_small_order : max_unpacked) || alpha == T{} ||
        std::min({m, n, depth}) == 0 || a.shape != structure::general ||
        b.shape != structure::general || is_done_elsewhere(a, b, depth, c))
      return false;
    T turned[max_small_order * max_small_order];
    const T* left = a.data;
    index_t left_step = a.col_step;
    if (is_turned) {
      for (index_t p = 0; p < depth; ++p) {
        for (index_t i = 0; i < m; ++i) turned[p * m + i] = left[i * a.row_step + p * left_step];
      }
      left = turned;
      left_step = m;
    }
    const auto multiply = [&](index_t j, index_t cols) {
      small_kernels_of<T>().multiply(m, cols, depth, alpha, left, left_step,
                                     b.data + j * b.col_step, b.row_step, b.col_step, beta,
                                     c.column(j), c.leading());
    };
    if (order <= one_thread) {
      multiply(0, n);
    } else {
      constexpr index_t columns = 16;
      Workers::for_each((n + columns - 1) / columns, [&](index_t piece) {
        multiply(piece * columns, std::min(columns, n - piece * columns));
      });
    }
    return true;
  }
}

namespace {

/// Scales columns [first, last) of c.
template <scalar T>
void scale_columns(T beta, matrix_view<T> c, part which, index_t first, index_t last) noexcept {
  for (index_t j = first; j < last; ++j) {
    const index_t from = which == part::lower ? std::min(j, c.rows()) : 0;
    const index_t to = which == part::upper ? std::min(j + 1, c.rows()) : c.rows();
    T* const column = c.column(j);
    if (beta == T{}) {
      std::fill(column + from, column + to, T{});
    } else if (std::imag(beta) == 0) {
      // Not a complex product, in which an infinite part would spoil the other one.
      for (index_t i = from; i < to; ++i) column[i] *= std::real(beta);
    } else {
      for (index_t i = from; i < to; ++i) column[i] *= beta;
    }
  }
}

}  // namespace

template <scalar T>
void scale(T beta, matrix_view<T> c, part which) noexcept {
  if (beta != T{1}) scale_columns(beta, c, which, 0, c.cols());
}

template <class Workers, scalar T>
void scale_by(T beta, matrix_view<T> c, part which) {
  constexpr index_t elements = 1 << 15;  // of a piece that is worth a task
  if (beta == T{1} || c.empty()) return;
  const index_t columns = std::max<index_t>(1, elements / c.rows());
  Workers::for_each((c.cols() + columns - 1) / columns, [&](index_t piece) {
    const index_t first = piece * columns;
    scale_columns(beta, c, which, first, std::min(first + columns, c.cols()));
  });
}

#define CREEK_INSTANTIATE(letter, T)                                                              \
  template struct blocking<T>;                                                                    \
  template void multiply_packed<T>(index_t, index_t, index_t, const real<T>*, const real<T>*, T*, \
                                   index_t, part, index_t, bool) noexcept;                        \
  template void multiply_add_by<all_workers, T>(T, const strided<T>&, const strided<T>&, index_t, \
                                                matrix_view<T>, part);                            \
  template void multiply_add_by<this_thread, T>(T, const strided<T>&, const strided<T>&, index_t, \
                                                matrix_view<T>, part);                            \
  template void multiply_by<all_workers, T>(T, const strided<T>&, const strided<T>&, index_t,     \
                                            matrix_view<T>);                                      \
  template void multiply_by<this_thread, T>(T, const strided<T>&, const strided<T>&, index_t,     \
                                            matrix_view<T>);                                      \
  template bool multiply_in_place<all_workers, T>(T, const strided<T>&, const strided<T>&,        \
                                                  index_t, T, matrix_view<T>);                    \
  template bool multiply_in_place<this_thread, T>(T, const strided<T>&, const strided<T>&,        \
                                                  index_t, T, matrix_view<T>);                    \
  template void scale<T>(T, matrix_view<T>, part) noexcept;                                       \
  template void scale_by<all_workers, T>(T, matrix_view<T>, part);                                \
  template void scale_by<this_thread, T>(T, matrix_view<T>, part);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg::detail
