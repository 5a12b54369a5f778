// SPDX-License-Identifier: Apache-2.0
// The driver under the parallel loops: divide once over the workers, then split only on demand.
//
// A range is first cut into one contiguous piece per worker (neighbouring data stay together, as in
// a static OpenMP schedule). The owner of a piece works through it in chunks and, between chunks,
// checks if an idle worker asks it for work; only then does it give away the upper half of what is
// left. Without demand a loop thus costs one fork per worker and one flag read per chunk, however
// many elements it has. Source of lazy splitting: [Tzannes 2010].
// Different here: the size of a chunk follows from the time that chunks take, not from a
// fixed threshold.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <stop_token>

#include <creek/core/function_ref.hpp>
#include <creek/core/measuring/clock.hpp>
#include <creek/tasking/detail/linear_range.hpp>
#include <creek/tasking/parallel_options.hpp>
#include <creek/tasking/this_worker.hpp>

namespace creek::detail {

/// Finds the number of elements that make a chunk of a few microseconds: long against the price of
/// looking for idle workers (some nanoseconds), short against the time such a worker can wait. A
/// split copies it to the other half, which so starts with what has been learnt.
class pace {
 public:
  /// A fixed chunk if `grain` > 0, else one that starts at a single element and is measured.
  explicit pace(std::size_t grain) noexcept : chunk_(grain == 0 ? 1 : grain), fixed_(grain != 0) {}

  position chunk() const noexcept { return chunk_; }
  ticks start() const noexcept { return fixed_ ? ticks{} : tick_clock::now(); }

  /// Returns whether to give away half of the `left` elements that are more than a chunk. Answering
  /// also shows thieves the larger pieces that were forked before, so it is done even if this half
  /// is small.
  bool worth_splitting(position left) const noexcept { return settled() && left > chunk_; }

  /// Learns from a chunk that began at `started`. A counter that ran backwards, as after a
  /// migration between unsynchronised cores, reads as a very long chunk and costs one halving.
  void finish(ticks started) noexcept {
    if (fixed_) return;
    const std::uint64_t took = (tick_clock::now() - started).count;
    settled_ = took >= worth_a_steal;
    if (took < worth_a_steal / 8) {
      chunk_ *= 8;
    } else if (took < 2 * worth_a_steal) {
      chunk_ *= 2;
    } else if (took > longest) {
      chunk_ = std::max<position>(1, chunk_ / 2);
    }
  }

 private:
  bool settled() const noexcept { return fixed_ || settled_; }

  static constexpr std::uint64_t worth_a_steal = 2048;  // ticks: 0.4-1 us
  static constexpr std::uint64_t longest = 32768;       // ticks: 6-16 us

  position chunk_;
  bool fixed_;
  bool settled_ = false;
};

/// Ends a loop before its range does: on a requested stop or an exception in some chunk. Lives in
/// the frame of the algorithm; read between chunks by every worker, written at most once.
class loop_control {
 public:
  explicit loop_control(const std::stop_token& stop) noexcept : stop_(stop) {}

  bool ended() const noexcept {
    return failed_.load(std::memory_order_relaxed) || stop_.stop_requested();
  }

  /// Returns f(). Rethrows its exception, after which chunks that have not begun do not begin.
  template <class F>
  decltype(auto) guard(F&& f) {
    try {
      return f();
    } catch (...) {
      failed_.store(true, std::memory_order_relaxed);
      throw;
    }
  }

 private:
  const std::stop_token& stop_;
  std::atomic<bool> failed_{false};
};

/// Processes positions [lo, hi). A call through a pointer costs a nanosecond or two per chunk; a
/// driver of its own for every loop of a program would cost seconds of compile time.
using chunk_reference = function_ref<void(position, position)>;

/// Returns the pieces to first divide `count` elements into: one per worker, none below the grain.
inline position first_pieces(position count, std::size_t grain) noexcept {
  const position most = count / std::max<position>(1, grain);
  return std::clamp<position>(most, 1, worker_count());
}

/// Runs chunk(lo, hi) over positions [0, count), at least one, under a control that the caller
/// shares with more work.
void drive_chunks(position count, std::size_t grain, const chunk_reference& chunk,
                  loop_control& control);

/// Like drive_chunks, but `count` may be 0.
inline void drive_loop(position count, std::size_t grain, const chunk_reference& chunk,
                       loop_control& control) {
  if (count != 0) drive_chunks(count, grain, chunk, control);
}

}  // namespace creek::detail
