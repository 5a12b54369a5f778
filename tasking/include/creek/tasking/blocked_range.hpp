// SPDX-License-Identifier: Apache-2.0
// Two-dimensional index ranges and the parallel loop over their tiles.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>

#include <creek/tasking/detail/lazy_loop.hpp>
#include <creek/tasking/detail/linear_range.hpp>
#include <creek/tasking/fork_join.hpp>

namespace creek {

/// The integers from `first` to `last - 1`, for loops over them. std::views::iota would do, but
/// that of libstdc++ does not compile with Clang before 16.
template <std::integral Index>
class index_range {
 public:
  class iterator {
   public:
    using value_type = Index;
    using difference_type = std::ptrdiff_t;

    constexpr iterator() = default;
    constexpr explicit iterator(Index at) noexcept : at_(at) {}
    constexpr Index operator*() const noexcept { return at_; }
    constexpr iterator& operator++() noexcept {
      ++at_;
      return *this;
    }
    constexpr iterator operator++(int) noexcept { return iterator(at_++); }
    friend constexpr bool operator==(const iterator&, const iterator&) = default;

   private:
    Index at_{};
  };

  /// Holds no integers if `last` is not above `first`.
  constexpr index_range(Index first, Index last) noexcept
      : first_(first), last_(std::max(first, last)) {}
  [[nodiscard]] constexpr iterator begin() const noexcept { return iterator(first_); }
  [[nodiscard]] constexpr iterator end() const noexcept { return iterator(last_); }

 private:
  Index first_, last_;
};

/// The rectangle [row_first, row_last) x [col_first, col_last) and the size of its tiles. A tile
/// that a body receives is a blocked_range_2d too.
template <std::integral Index>
struct blocked_range_2d {
  Index row_first{}, row_last{}, col_first{}, col_last{};
  /// Rows and columns of a tile, at least 1; 0 counts as 1. Tiles at the lower and right edges are
  /// smaller.
  std::size_t tile_rows = 64, tile_cols = 64;

  /// For loops: `for (auto i : tile.rows()) for (auto j : tile.cols()) ...`.
  constexpr auto rows() const noexcept { return index_range<Index>(row_first, row_last); }
  constexpr auto cols() const noexcept { return index_range<Index>(col_first, col_last); }
  constexpr bool empty() const noexcept { return row_last <= row_first || col_last <= col_first; }
};

namespace detail {

/// Returns the number of tiles along one side.
constexpr position tiles_along(position extent, std::size_t tile) noexcept {
  const position side = tile == 0 ? 1 : tile;
  return extent / side + (extent % side != 0);
}

/// The loop of one parallel_for over tiles: recursion over rectangles counted in tiles.
template <class Index, class Body>
class tile_loop {
 public:
  tile_loop(const blocked_range_2d<Index>& whole, Body& body, const std::stop_token& stop)
      : whole_(whole), body_(body), control_(stop) {}

  void run() {
    const position rows = tiles_along(count_between(whole_.row_first, whole_.row_last), height());
    const position cols = tiles_along(count_between(whole_.col_first, whole_.col_last), width());
    if (rows != 0 && cols != 0) split(0, rows, 0, cols);
  }

 private:
  std::size_t height() const noexcept { return whole_.tile_rows == 0 ? 1 : whole_.tile_rows; }
  std::size_t width() const noexcept { return whole_.tile_cols == 0 ? 1 : whole_.tile_cols; }

  // Halving the longer side keeps rectangles near square, so that what a worker (or a cache level)
  // holds has the least border. A fork costs nanoseconds and a tile thousands of them: always fork.
  void split(position r0, position r1, position c0, position c1) {
    if (control_.ended()) return;
    if (r1 - r0 == 1 && c1 - c0 == 1) return call(r0, c0);
    if (r1 - r0 >= c1 - c0) {
      const position mid = r0 + (r1 - r0) / 2;
      both([&] { split(r0, mid, c0, c1); }, [&] { split(mid, r1, c0, c1); });
    } else {
      const position mid = c0 + (c1 - c0) / 2;
      both([&] { split(r0, r1, c0, mid); }, [&] { split(r0, r1, mid, c1); });
    }
  }

  template <class F, class G>
  void both(F&& f, G&& g) {
    if (alone_) {
      f();
      g();
    } else {
      fork_join(f, g);
    }
  }

  void call(position row, position col) {
    const auto rows = side(whole_.row_first, whole_.row_last, row, height());
    const auto cols = side(whole_.col_first, whole_.col_last, col, width());
    control_.guard([&] {
      body_(blocked_range_2d<Index>{rows.first, rows.second, cols.first, cols.second,
                                    whole_.tile_rows, whole_.tile_cols});
    });
  }

  static std::pair<Index, Index> side(Index first, Index last, position tile, position extent) {
    const position lo = tile * extent;
    const position hi = lo + std::min(extent, count_between(first, last) - lo);
    return {cursor_at(first, lo), cursor_at(first, hi)};
  }

  const blocked_range_2d<Index>& whole_;
  Body& body_;
  loop_control control_;
  const bool alone_ = worker_count() == 1;
};

}  // namespace detail

/// Calls body(tile) for each tile of the rectangle, each index pair in exactly one tile;
/// neighbouring tiles tend to run on one worker one after another. Use it where two dimensions
/// share data: a transpose, a stencil, a matrix product. Threads, stop and errors: as
/// parallel_for_range, with a tile for a chunk (`options.grain` is not used). Cost without thieves:
/// one fork per tile.
template <detail::loop_index Index, class Body>
requires std::invocable<Body&, blocked_range_2d<Index>>
void parallel_for(const blocked_range_2d<Index>& space, Body&& body,
                  const parallel_options& options = {}) {
  detail::tile_loop<Index, std::remove_reference_t<Body>>(space, body, options.stop).run();
}

}  // namespace creek
