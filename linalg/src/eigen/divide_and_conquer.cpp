// SPDX-License-Identifier: Apache-2.0
#include "divide_and_conquer.hpp"

#include <algorithm>
#include <cmath>

#include "blas3/workers.hpp"
#include "eigen_merge.hpp"
#include "kernels/product.hpp"

namespace creek::linalg::detail {
namespace {

/// Largest matrix that one worker solves.
constexpr index_t shared_order = 96;

}  // namespace

template <class R>
divide_and_conquer<R>::divide_and_conquer(index_t n)
    : n_(n),
      memory_(3 * n * n),
      Q_(memory_.data(), n, n, n),
      copies_(memory_.data() + n * n, n, n, n),
      S_(memory_.data() + 2 * n * n, n, n, n),
      order_(static_cast<std::size_t>(n)) {}

template <class R>
divide_and_conquer<R>::~divide_and_conquer() = default;

template <class R>
index_t divide_and_conquer<R>::solve_leaf(const tridiagonal<R>& t, index_t first) {
  const matrix_view<R> Q = Q_.block(first, first, t.n, t.n);
  set_identity(Q);
  R scratch[2 * small_eigen];
  const index_t info = implicit_ql(t, columns_of(Q), scratch);
  index_t* const order = order_.data() + first;
  for (index_t j = 0; j < t.n; ++j) order[j] = j;
  std::sort(order, order + t.n,
            [&](index_t a, index_t b) { return t.d[a] < t.d[b] || (t.d[a] == t.d[b] && a < b); });
  return info;
}

template <class R>
index_t divide_and_conquer<R>::solve(const tridiagonal<R>& t, index_t first, bool is_last) {
  if (t.n <= small_eigen) return solve_leaf(t, first);
  const index_t half = t.n / 2;
  const R coupling = t.e[half - 1];
  t.d[half - 1] -= std::abs(coupling);
  t.d[half] -= std::abs(coupling);
  index_t infos[2];
  const auto solve_half = [&](index_t which) {
    infos[which] = which == 0 ? solve(t.part(0, half), first, false)
                              : solve(t.part(half, t.n - half), first + half, false);
  };
  t.n > shared_order ? all_workers::for_each(2, solve_half) : this_thread::for_each(2, solve_half);
  if (infos[0] + infos[1] > 0) return infos[0] + infos[1];
  const merged_part<R> part{Q_.block(first, first, t.n, t.n), copies_.block(0, first, n_, t.n),
                            S_.block(first, first, t.n, t.n), t.d, order_.data() + first};
  auto merge = std::make_unique<eigen_merge<R>>(part, half, coupling);
  merge->find_values();
  if (is_last) {
    last_ = std::move(merge);
    return 0;
  }
  merge->find_vectors(0, t.n);
  return 0;
}

template <class R>
index_t divide_and_conquer<R>::find_sorted(const tridiagonal<R>& t) {
  const index_t info = solve(t, 0, true);
  if (info != 0) return info;
  std::vector<R> sorted;
  sorted.reserve(order_.size());
  for (const index_t column : order_) sorted.push_back(t.d[column]);
  std::copy(sorted.begin(), sorted.end(), t.d);
  return 0;
}

template <class R>
void divide_and_conquer<R>::find_vectors(index_t first, index_t count) {
  first_ = first;
  count_ = last_ == nullptr ? n_ : count;
  if (last_ != nullptr) last_->find_vectors(first, count);
}

template <class R>
index_t divide_and_conquer<R>::column_of(index_t k) const noexcept {
  return last_ == nullptr ? order_[at(first_ + k)] : last_->column_of(first_ + k);
}

#define CREEK_INSTANTIATE(letter, R) template class divide_and_conquer<R>;
CREEK_FOR_EACH_REAL(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg::detail
