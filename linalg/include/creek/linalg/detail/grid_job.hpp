// SPDX-License-Identifier: Apache-2.0
// A rank's own part of a routine on a grid: pieces of work without messages, for the workers of a
// runtime. The thread that calls the routine keeps the messages going meanwhile.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

#include <creek/linalg/matrix.hpp>
#include <creek/tasking/parallel_for.hpp>
#include <creek/tasking/runtime.hpp>

namespace creek::linalg::detail {

/// Calls piece(i) for all i < pieces: on workers, from now on, or without any in finish(). Ends
/// after the pieces.
template <class Piece>
class grid_job {
 public:
  grid_job(runtime* workers, index_t pieces, Piece piece) : pieces_(pieces), piece_(piece) {
    if (workers == nullptr || pieces == 0) return;
    running_ = workers->async(
        [this] { parallel_for(index_t{0}, pieces_, std::cref(piece_), {.grain = 1}); });
  }
  grid_job(const grid_job&) = delete;
  grid_job& operator=(const grid_job&) = delete;
  ~grid_job() {
    if (running_.valid()) running_.wait();
  }

  /// Returns when all pieces have ended; rethrows what one has thrown. `push` lets MPI work on
  /// messages, and returns whether there are any.
  template <class Push>
  void finish(Push push) {
    if (!running_.valid()) {
      for (index_t i = 0; i < pieces_; ++i) {
        piece_(i);
        (void)push();
      }
      return;
    }
    // MPI copies long messages in parts of some 10 us, one a call. An estimate.
    constexpr std::chrono::microseconds pause{50};
    while (!running_.ready() && push()) (void)running_.wait_for(pause);
    running_.get();
  }
  void finish() {
    finish([] { return false; });
  }

 private:
  index_t pieces_;
  Piece piece_;
  future<void> running_;
};

/// Calls f on the workers, if there are any, and waits for it.
template <class F>
void run_on(runtime* workers, F f) {
  if (workers == nullptr) return f();
  workers->run(f);
}

/// Strips of at most `width` columns.
constexpr index_t strips_of(index_t cols, index_t width) noexcept {
  return (cols + width - 1) / width;
}
template <class T>
matrix_view<T> strip_of(matrix_view<T> C, index_t i, index_t width) noexcept {
  return C.columns(i * width, std::min(width, C.cols() - i * width));
}

}  // namespace creek::linalg::detail
