// SPDX-License-Identifier: Apache-2.0
// One rank's part of a factorization by blocks of columns. Panels travel from their rank to all
// others along a tree, in pieces that are forwarded as they arrive. A rank receives a panel as soon
// as it is available and forwards it. If the rank owns the next panel's block, it updates that
// first, factors it and sends it at once; then it updates its other blocks one by one, and checks
// for the next panel between two of them. So up to `ahead` panels besides the current one may wait
// at a rank (look-ahead), and the ranks need not run in lockstep.
//
// Termination: a rank waits for the next panel only when it has nothing to update, and to forward a
// panel until its child receives it. Panels are received in order, each along the edges of a tree;
// so the first of all panels in transit always makes progress.
#pragma once

#include <cassert>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <creek/linalg/detail/column_costs.hpp>
#include <creek/linalg/detail/column_steps.hpp>
#include <creek/linalg/detail/panel_route.hpp>
#include <creek/linalg/rank_columns.hpp>

namespace creek::linalg::detail {

/// Options for how panels travel and wait.
struct column_run_options {
  int ahead = 1;
  broadcast_kind route = broadcast_kind::chain;
  bool next_first = true;
  std::size_t piece_bytes = 8192;
};

template <class Communicator, scalar T>
class column_run {
 public:
  /// Sets `pivots` (LU) or `tau` (QR) on all ranks.
  column_run(Communicator& ranks, column_method how, rank_columns<T>& A, index_t* pivots, T* tau,
             const column_run_options& options)
      : ranks_{&ranks},
        how_{how},
        A_{&A},
        pivots_{pivots},
        tau_{tau},
        options_{options},
        costs_{ranks.memory()},
        steps_{std::min(A.rows(), A.cols())},
        panels_{A.blocks_over(steps_)},
        updated_(static_cast<std::size_t>(A.blocks())) {}

  /// Returns info, the same on all ranks.
  index_t run() {
    expect_next();
    while (info_stops_ == 0 && (next_ < panels_ || !waiting_.empty())) {
      if (next_ < panels_ && has_room() && can_take()) {
        take();
      } else if (!waiting_.empty()) {
        update_one();
      } else {
        take();  // blocks until the panel arrives
      }
    }
    if (how_ == column_method::lu) exchange_left();
    return info_;
  }

 private:
  /// Panel by which blocks of this rank are still to be updated.
  struct waiting_panel {
    std::unique_ptr<panel_message<T>> message;
    std::unique_ptr<column_update<T>> update;
    index_t number = 0;
    index_t next_block = 0;  ///< all own blocks before this one are updated
  };
  using request = typename Communicator::request;
  struct sending {
    sending(Communicator& ranks, std::span<const std::byte> piece, int to)
        : pending(ranks.isend(piece, to)) {}
    request pending;
  };
  struct receiving {
    receiving(Communicator& ranks, std::span<std::byte> piece, int from)
        : pending(ranks.irecv(piece, from)) {}
    request pending;
  };

  panel_place place_of(index_t k) const noexcept {
    const index_t first = A_->first_column(k);
    const index_t rows = A_->rows() - first;
    return {first, rows, std::min(rows, A_->width(k))};
  }
  bool has_room() const noexcept {
    return waiting_.size() <= static_cast<std::size_t>(options_.ahead);
  }
  std::unique_ptr<panel_message<T>> new_message(index_t k) const {
    return std::make_unique<panel_message<T>>(how_, place_of(k), k + 1 < A_->blocks());
  }
  std::span<std::byte> piece(panel_message<T>& of, std::size_t at) const noexcept {
    return of.bytes().subspan(at, std::min(options_.piece_bytes, of.size() - at));
  }

  /// Starts to receive the next panel if another rank owns it, so that can_take() can test it.
  void expect_next() {
    if (next_ >= panels_ || A_->owns(next_)) return;
    route_ = route_to(next_);
    coming_ = new_message(next_);
    first_piece_.emplace(*ranks_, piece(*coming_, 0), route_.parent);
  }
  panel_route route_to(index_t k) const {
    return route_of(options_.route, options_.next_first, A_->owner(k), ranks_->rank(),
                    ranks_->size());
  }
  bool can_take() {
    if (A_->owns(next_)) return updated_[static_cast<std::size_t>(next_)] == next_;
    return first_piece_->pending.test();
  }

  void take() {
    const index_t k = next_;
    std::unique_ptr<panel_message<T>> message;
    if (A_->owns(k)) {
      message = factor(k);
    } else {
      message = std::move(coming_);
      pass_on(*message);
    }
    note(*message);
    ++next_;
    if (info_stops_ != 0) return;
    expect_next();
    waiting_panel& panel = keep(std::move(message), k);
    if (panel.update == nullptr) {
      waiting_.pop_back();
    } else if (k + 1 < panels_ && A_->owns(k + 1)) {
      update_next_panel(k + 1);
    }
  }
  waiting_panel& keep(std::unique_ptr<panel_message<T>> message, index_t k) {
    waiting_panel& panel = waiting_.emplace_back();
    panel.message = std::move(message);
    panel.number = k;
    panel.next_block = A_->own_from(k + 1);
    if (panel.next_block < A_->blocks()) panel.update = make_update(*panel.message);
    return panel;
  }

  std::unique_ptr<panel_message<T>> factor(index_t k) {
    auto message = new_message(k);
    const panel_place& at = message->place();
    const matrix_view<T> block = A_->columns(k);
    T* const tau = how_ == column_method::qr ? tau_ + at.first : nullptr;
    factor_panel_of(block.block(at.first, 0, at.rows, block.cols()), tau, *message);
    costs_.factored(how_, at);
    if (at.order < block.cols()) {
      costs_.flops(update_flops(how_, at.rows, block.cols() - at.order, at.order));
    }
    const panel_route route = route_to(k);
    std::list<sending> out;
    for (std::size_t done = 0; done < message->size() && !route.children.empty();) {
      const auto part = piece(*message, done);
      costs_.sent(part.size(), message->size());
      send_to_children(route, part, out);
      done += part.size();
    }
    finish(out, 0);
    return message;
  }

  /// Receives the rest of a panel after its first piece, and forwards each piece to the children.
  void pass_on(panel_message<T>& message) {
    first_piece_->pending.wait();
    first_piece_.reset();
    std::list<sending> out;
    std::span<std::byte> part = piece(message, 0);
    for (std::size_t done = 0;;) {
      costs_.received(part.size(), message.size());
      send_to_children(route_, part, out);
      done += part.size();
      if (done == message.size()) break;
      part = piece(message, done);
      receiving(*ranks_, part, route_.parent).pending.wait();
    }
    finish(out, 0);
  }
  void send_to_children(const panel_route& route, std::span<const std::byte> part,
                        std::list<sending>& out) {
    for (const int child : route.children) out.emplace_back(*ranks_, part, child);
    finish(out, route.children.size());
  }
  /// Blocks until at most `left` of the sends, which complete in order, are in progress.
  static void finish(std::list<sending>& out, std::size_t left) {
    while (out.size() > left) {
      out.front().pending.wait();
      out.pop_front();
    }
  }

  /// Records info, pivots or tau of a panel; every rank does, even if it has no block to update.
  void note(panel_message<T>& message) {
    const panel_place& at = message.place();
    if (info_ == 0) info_ = message.info();
    if (how_ == column_method::cholesky) info_stops_ = message.info();
    for (index_t i = 0; i < at.order && how_ == column_method::lu; ++i) {
      pivots_[at.first + i] = message.pivots()[i] + at.first;
    }
    for (index_t i = 0; i < at.order && how_ == column_method::qr; ++i) {
      tau_[at.first + i] = message.triangle()(i, i);
    }
  }

  /// Updates this rank's block of the next panel by all waiting panels.
  void update_next_panel(index_t j) {
    for (waiting_panel& panel : waiting_) {
      if (updated_[static_cast<std::size_t>(j)] == panel.number) update(panel, j);
    }
  }
  void update_one() {
    waiting_panel& oldest = waiting_.front();
    // The next panel's block may already be updated by this panel.
    while (oldest.next_block < A_->blocks() &&
           updated_[static_cast<std::size_t>(oldest.next_block)] > oldest.number) {
      oldest.next_block += A_->ranks();
    }
    if (oldest.next_block < A_->blocks()) {
      update(oldest, oldest.next_block);
      oldest.next_block += A_->ranks();
    }
    if (oldest.next_block >= A_->blocks()) waiting_.pop_front();
  }
  void update(const waiting_panel& panel, index_t j) {
    const panel_place& at = panel.message->place();
    const bool lower = how_ == column_method::cholesky;
    const index_t top = lower ? A_->first_column(j) : at.first;
    const matrix_view<T> block = A_->columns(j);
    const matrix_view<T> C = block.block(top, 0, A_->rows() - top, block.cols());
    panel.update->apply(C, lower ? top - at.first - at.order : 0);
    costs_.updated(how_, C.rows(), C.cols(), at.order, C.rows() * A_->own_columns_from(j));
    assert(updated_[static_cast<std::size_t>(j)] == panel.number);
    updated_[static_cast<std::size_t>(j)] = panel.number + 1;
  }

  /// Applies later row exchanges to the columns left of each panel, all at once at the end.
  void exchange_left() {
    for (index_t j = A_->own_from(0); j < panels_; j += A_->ranks()) {
      const index_t first = A_->first_column(j + 1);
      if (first >= steps_) return;
      const matrix_view<T> block = A_->columns(j);
      const index_t rows = A_->rows() - first;
      exchange_rows_of(block.block(first, 0, rows, block.cols()), pivots_ + first, steps_ - first,
                       first);
      costs_.exchanged(rows, block.cols());
    }
  }

  Communicator* ranks_;
  column_method how_;
  rank_columns<T>* A_;
  index_t* pivots_;
  T* tau_;
  column_run_options options_;
  column_costs<typename Communicator::memory_type, T> costs_;
  index_t steps_;
  index_t panels_;
  std::vector<index_t> updated_;       // per block: number of panels it was updated by
  std::deque<waiting_panel> waiting_;  // oldest first
  index_t next_ = 0;                   // next panel to receive or factor
  std::unique_ptr<panel_message<T>> coming_;
  panel_route route_;  // route of the panel being received
  std::optional<receiving> first_piece_;
  index_t info_ = 0;
  index_t info_stops_ = 0;  // like info_, if the factorization ends there
};

}  // namespace creek::linalg::detail
