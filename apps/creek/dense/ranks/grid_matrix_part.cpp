// SPDX-License-Identifier: Apache-2.0
#include "grid_matrix_part.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>

#include <creek/linalg/grids.hpp>

namespace creek::tool::dense {
namespace {

using linalg::cyclic_axis;
using linalg::matrix_kind;
using linalg::process_grid;

index_t columns_of(const mpi_communicator& ranks, index_t n, index_t block) {
  return cyclic_axis{n, block, 0, ranks.size(), ranks.rank()}.local_size();
}

}  // namespace

grid_matrix_part::grid_matrix_part(mpi_communicator& ranks, method how, index_t n, index_t block,
                                   std::uint64_t seed)
    : ranks_(ranks),
      how_(how),
      n_(n),
      block_(block),
      recipe_{.kind = how == method::chol ? matrix_kind::positive_definite : matrix_kind::uniform,
              .seed = seed},
      columns_(static_cast<std::size_t>(n * columns_of(ranks, n, block))),
      view_(process_grid::of(1, ranks.size(), ranks.rank()), n, n, block, block, columns_.data(),
            n),
      pivots_(static_cast<std::size_t>(n)),
      tau_(static_cast<std::size_t>(n)) {}

void grid_matrix_part::fill() {
  const linalg::matrix_generator<double> made(recipe_, n_, n_);
  const cyclic_axis& axis = view_.cols();
  for (index_t j = 0; j < axis.local_size(); j += block_) {
    const index_t width = std::min(block_, axis.local_size() - j);
    made.fill({column(j), n_, width, n_}, 0, axis.global(j));
  }
}

void grid_matrix_part::factor(runtime* workers) {
  const linalg::grid_options options{workers};
  if (how_ == method::lu) {
    info_ = getrf_on_grid(ranks_, view_, std::span<index_t>(pivots_), options);
  } else if (how_ == method::chol) {
    info_ = potrf_on_grid(ranks_, linalg::triangle::lower, view_, options);
  } else {
    geqrf_on_grid(ranks_, view_, std::span<double>(tau_), options);
  }
}

void grid_matrix_part::collect(rank_factors& whole) {
  const cyclic_axis& axis = view_.cols();
  for (index_t j = 0; j < n_; ++j) {
    const int owner = axis.owner(j);
    const auto length = static_cast<std::size_t>(n_);
    if (ranks_.rank() == 0) {
      const std::span<double> there(whole.matrix.view().columns(j, 1).data(), length);
      if (owner != 0) {
        ranks_.recv(there, owner);
      } else {
        std::copy_n(column(axis.before(j)), length, there.data());
      }
    } else if (owner == ranks_.rank()) {
      ranks_.send(std::span<const double>(column(axis.before(j)), length), 0);
    }
  }
}

judgement grid_matrix_part::judge() {
  const bool is_first = ranks_.rank() == 0;
  const index_t order = is_first ? n_ : 0;
  rank_factors whole{linalg::matrix<double>(order, order), pivots_, tau_, info_};
  collect(whole);
  if (!is_first) return {"", 0, linalg::lapack_threshold};
  const linalg::matrix<double> a = linalg::generate<double>(recipe_, n_, n_);
  const std::vector<judgement> all = judge_factors(how_, a, whole);
  // One that is not a number is the worst.
  const auto by_value = [](const judgement& x, const judgement& y) {
    return x.value < y.value || (std::isnan(y.value) && !std::isnan(x.value));
  };
  return *std::max_element(all.begin(), all.end(), by_value);
}

}  // namespace creek::tool::dense
