// SPDX-License-Identifier: Apache-2.0
// A row or a column of a grid of processes, as a communicator over the one of the whole grid.
#pragma once

#include <cstddef>
#include <list>
#include <span>
#include <vector>

#include <creek/core/messages/collectives.hpp>
#include <creek/linalg/grid_matrix.hpp>

namespace creek::linalg::detail {

template <class Communicator>
class grid_line : public collectives<grid_line<Communicator>> {
 public:
  using memory_type = typename Communicator::memory_type;
  using request = typename Communicator::request;

  /// Rank i of the line is rank first + i * step of `all`.
  grid_line(Communicator& all, int rank, int size, int first, int step)
      : all_(&all), rank_(rank), size_(size), first_(first), step_(step) {}

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }
  template <class T>
  [[nodiscard]] request isend(std::span<const T> data, int to) {
    return all_->isend(data, whole(to));
  }
  template <class T>
  [[nodiscard]] request irecv(std::span<T> data, int from) {
    return all_->irecv(data, whole(from));
  }
  template <class T>
  void send(std::span<const T> data, int to) {
    all_->send(data, whole(to));
  }
  template <class T>
  void recv(std::span<T> data, int from) {
    all_->recv(data, whole(from));
  }
  template <class T>
  void exchange(std::span<const T> out, int to, std::span<T> in, int from) {
    all_->exchange(out, whole(to), in, whole(from));
  }

 private:
  int whole(int rank) const noexcept { return first_ + rank * step_; }
  Communicator* all_;
  int rank_, size_, first_, step_;
};

/// The process's own row of the grid.
template <class Communicator>
grid_line<Communicator> row_of_grid(Communicator& all, const process_grid& grid) {
  return {all, grid.col, grid.cols, grid.rank_at(grid.row, 0), 1};
}
template <class Communicator>
grid_line<Communicator> column_of_grid(Communicator& all, const process_grid& grid) {
  return {all, grid.row, grid.rows, grid.rank_at(0, grid.col), grid.cols};
}

/// Messages of a line that are on their way. Requests cannot be moved, so each has a node.
template <class Communicator>
class pending_messages {
 public:
  using line = grid_line<Communicator>;
  template <class T>
  void send(line& along, std::span<const T> data, int to) {
    if (!data.empty()) nodes_.emplace_back(along, data, to);
  }
  /// Sends to all others of the line.
  template <class T>
  void send_to_all(line& along, std::span<const T> data) {
    for (int to = 0; to < along.size(); ++to) {
      if (to != along.rank()) send(along, data, to);
    }
  }
  template <class T>
  void receive(line& along, std::span<T> data, int from) {
    if (!data.empty()) nodes_.emplace_back(along, data, from);
  }
  /// Lets MPI work on the messages. Returns whether any are still on their way.
  bool push() {
    bool any = false;
    for (node& each : nodes_) any = !each.pending.test() || any;
    return any;
  }
  void wait() {
    for (node& each : nodes_) each.pending.wait();
    nodes_.clear();
  }

 private:
  struct node {
    template <class T>
    node(line& along, std::span<const T> data, int to) : pending(along.isend(data, to)) {}
    template <class T>
    node(line& along, std::span<T> data, int from) : pending(along.irecv(data, from)) {}
    typename line::request pending;
  };
  std::list<node> nodes_;
};

}  // namespace creek::linalg::detail
