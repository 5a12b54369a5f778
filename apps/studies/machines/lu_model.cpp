// SPDX-License-Identifier: Apache-2.0
#include "lu_model.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include <creek/core/messages/collectives.hpp>

namespace creek::tool::machines {

using linalg::cyclic_axis;
using linalg::index_t;
using linalg::process_grid;

lu_problem::lu_problem(index_t order, index_t columns, int grid_rows, int grid_cols,
                       const std::function<index_t(index_t)>& pivot)
    : n(order), block(columns), rows(grid_rows), cols(grid_cols) {
  const cyclic_axis axis{n, block, 0, rows, 0};
  for (index_t first = 0; first < n; first += block) {
    const index_t top = std::min(n, first + block);
    std::map<index_t, index_t> at;  // which row is at a place, where that is another one
    const auto row_at = [&](index_t place) {
      const auto found = at.find(place);
      return found == at.end() ? place : found->second;
    };
    for (index_t i = first; i < top; ++i) {
      const index_t other = pivot(i), here = row_at(i), there = row_at(other);
      at[i] = there;
      at[other] = here;
    }
    moves made{std::vector<index_t>(static_cast<std::size_t>(rows)),
               std::vector<index_t>(static_cast<std::size_t>(rows))};
    for (index_t i = first; i < top; ++i) {
      ++made.up[static_cast<std::size_t>(axis.owner(row_at(i)))];
    }
    for (const auto& [place, row] : at) {
      if (place >= top && row != place) ++made.down[static_cast<std::size_t>(axis.owner(place))];
    }
    moves_.push_back(std::move(made));
  }
}

index_t random_pivot(index_t i, index_t n) {
  auto x = static_cast<std::uint64_t>(i) + 0x9e3779b97f4a7c15U;  // SplitMix64's finaliser
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  x ^= x >> 31U;
  return i + static_cast<index_t>(x % static_cast<std::uint64_t>(n - i));
}

namespace {

constexpr std::size_t element = sizeof(double);

/// A row or a column of the grid.
class line : public collectives<line> {
 public:
  line(model_communicator& all, int rank, int size, int first, int step)
      : all_(&all), rank_(rank), size_(size), first_(first), step_(step) {}
  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }
  [[nodiscard]] auto isend(blank data, int to) { return all_->isend(data, whole(to)); }
  [[nodiscard]] auto irecv(blank data, int from) { return all_->irecv(data, whole(from)); }
  template <class T>
  void send(T data, int to) {
    all_->send(data, whole(to));
  }
  template <class T>
  void recv(T data, int from) {
    all_->recv(data, whole(from));
  }

 private:
  [[nodiscard]] int whole(int rank) const noexcept { return first_ + rank * step_; }
  model_communicator* all_;
  int rank_, size_, first_, step_;
};

class lu_of_a_rank {
 public:
  lu_of_a_rank(model_communicator& c, const constants& costs, const lu_problem& problem)
      : c_(&c),
        costs_(costs),
        problem_(&problem),
        grid_(process_grid::of(problem.rows, problem.cols, c.rank())),
        rows_{problem.n, problem.block, 0, grid_.rows, grid_.row},
        cols_{problem.n, problem.block, 0, grid_.cols, grid_.col},
        row_(c, grid_.col, grid_.cols, grid_.rank_at(grid_.row, 0), 1),
        column_(c, grid_.row, grid_.rows, grid_.rank_at(0, grid_.col), grid_.cols) {}

  void run() {
    const index_t n = problem_->n, block = problem_->block;
    pass_on(0);
    for (index_t first = 0; first < n; first += block) {
      wait();
      const index_t following = first + block;
      index_t from = first + order_of(first);
      exchange(first, from, n, true);
      if (following < n) {
        if (cols_.owns(following)) {
          const index_t end = std::min(following + block, n);
          update(first, from, end);
          from = end;
        }
        pass_on(following);
      }
      update(first, from, n);
    }
    wait();
    for (index_t first = block; first < n; first += block) exchange(first, 0, first, false);
  }

 private:
  [[nodiscard]] index_t order_of(index_t first) const {
    return std::min(problem_->block, problem_->n - first);
  }
  /// Local rows from a row of the matrix on.
  [[nodiscard]] index_t below(index_t row) const { return rows_.local_size() - rows_.before(row); }
  static std::size_t bytes(index_t elements) {
    return static_cast<std::size_t>(elements) * element;
  }
  void compute(double operations, double giga_per_second) {
    c_->compute(units::seconds{operations / (giga_per_second * 1e9)});
  }
  /// Whether this rank's part of the matrix stays in its cache.
  [[nodiscard]] bool is_cached() const {
    return static_cast<double>(bytes(rows_.local_size() * cols_.local_size())) <=
           costs_.cache_MiB * 1024 * 1024;
  }
  [[nodiscard]] double gemm_rate() const {
    return is_cached() ? costs_.cached_gemm_GFs : costs_.gemm_GFs;
  }
  /// Reads or writes rows of the matrix here and there.
  void move_rows(index_t elements) {
    if (is_cached()) return move_cached_rows(elements);
    compute(static_cast<double>(bytes(elements)), costs_.rows_GBs);
  }
  void move_cached_rows(index_t elements) {
    compute(static_cast<double>(bytes(elements)), costs_.cached_rows_GBs);
  }
  /// Copies consecutive rows, or what is in a message.
  void copy(index_t elements) { compute(static_cast<double>(bytes(elements)), costs_.copy_GBs); }

  void wait() {
    for (auto& each : begun_) each.wait();
    begun_.clear();
  }
  void begin_send(line& along, std::size_t size, int to) {
    if (size != 0) begun_.push_back(along.isend(blank{size}, to));
  }

  /// Factors the panel and begins to send it, or begins to receive it.
  void pass_on(index_t first) {
    const index_t order = order_of(first), rest = below(first + order);
    const std::size_t numbers = sizeof(index_t) * static_cast<std::size_t>(order + 1);
    const std::size_t elements = bytes((order + rest) * order);
    const int root = cols_.owner(first);
    if (root != row_.rank()) {
      begun_.push_back(row_.irecv(blank{numbers}, root));
      begun_.push_back(row_.irecv(blank{elements}, root));
      return;
    }
    factor(first, order);
    copy((order + rest) * order);
    for (const std::size_t size : {numbers, elements}) {
      for (int to = 0; to < row_.size(); ++to) {
        if (to != row_.rank()) begin_send(row_, size, to);
      }
    }
  }

  /// Factors a panel whose rows are at the ranks of this column: per column of the panel a
  /// reduction of the best pivot row and a broadcast of it and of the row that it replaces.
  void factor(index_t first, index_t order) {
    const double per_column = static_cast<double>(below(first)) * static_cast<double>(order);
    if (column_.size() == 1)
      return compute(per_column * static_cast<double>(order), costs_.panel_GFs);
    const std::size_t head = 2 * element;
    const auto width = bytes(order);
    const int root = rows_.owner(first);
    std::vector<std::byte> best(head + 2 * width);
    for (index_t j = 0; j < order; ++j) {
      reduce(root, head + width);
      column_.bcast(std::span<std::byte>(best), root);
      compute(per_column, costs_.split_panel_GFs);
    }
  }
  void reduce(int root, std::size_t candidate) {
    const int size = column_.size(), me = (column_.rank() - root + size) % size;
    for (int step = 1; step < size; step *= 2) {
      if ((me & step) != 0) return column_.send(blank{candidate}, (me - step + root) % size);
      if (me + step < size) column_.recv(blank{candidate}, (me + step + root) % size);
    }
  }

  /// Updates the local part of the columns [from, to) by the panel.
  void update(index_t first, index_t from, index_t to) {
    const index_t order = order_of(first), columns = cols_.before(to) - cols_.before(from);
    compute(2.0 * static_cast<double>(below(first + order)) * static_cast<double>(order) *
                static_cast<double>(columns),
            gemm_rate());
  }

  /// Exchanges rows of the local part of the columns [from, to) by the pivots of a panel; with
  /// `solves` every rank gets the top rows, times L11^-1.
  void exchange(index_t first, index_t from, index_t to, bool solves) {
    const index_t columns = cols_.before(to) - cols_.before(from);
    if (columns == 0) return;
    const lu_problem::moves& moves = problem_->moves_of(first);
    const index_t order = order_of(first), shared = solves ? order : 0;
    const int root = rows_.owner(first);
    const auto me = static_cast<std::size_t>(column_.rank());
    if (column_.rank() != root) {
      move_rows(moves.up[me] * columns);
      if (moves.up[me] > 0) column_.send(blank{bytes(moves.up[me] * columns)}, root);
      if (shared + moves.down[me] > 0) {
        column_.recv(blank{bytes((shared + moves.down[me]) * columns)}, root);
      }
      copy(shared * columns);
      move_rows(moves.down[me] * columns);
      return;
    }
    copy(order * columns);
    move_rows(moves.up[me] * columns);
    move_cached_rows(moves.down[me] * columns);  // to where these came from
    for (int p = 0; p < column_.size(); ++p) {
      const index_t count = moves.up[static_cast<std::size_t>(p)];
      if (p == root || count == 0) continue;
      column_.recv(blank{bytes(count * columns)}, p);
      copy(count * columns);
    }
    if (solves) {
      compute(
          static_cast<double>(order) * static_cast<double>(order) * static_cast<double>(columns),
          gemm_rate());
    }
    copy(shared * columns);
    std::vector<model_communicator::request> out;
    for (int p = 0; p < column_.size(); ++p) {
      const index_t count = shared + moves.down[static_cast<std::size_t>(p)];
      if (p == root || count == 0) continue;
      copy(count * columns);
      out.push_back(column_.isend(blank{bytes(count * columns)}, p));
    }
    copy(order * columns);
    for (auto& each : out) each.wait();
  }

  model_communicator* c_;
  constants costs_;
  const lu_problem* problem_;
  process_grid grid_;
  cyclic_axis rows_, cols_;
  line row_, column_;
  std::vector<model_communicator::request> begun_;  ///< messages of the next panel
};

}  // namespace

void lu_rank(model_communicator& c, const constants& costs, const lu_problem& problem) {
  lu_of_a_rank(c, costs, problem).run();
}

}  // namespace creek::tool::machines
