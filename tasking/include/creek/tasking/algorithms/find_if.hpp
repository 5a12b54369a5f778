// SPDX-License-Identifier: Apache-2.0
// find_if in parallel, by the standard library's name.
#pragma once

#include <algorithm>
#include <atomic>

#include <creek/tasking/detail/projected_call.hpp>
#include <creek/tasking/parallel_for.hpp>

namespace creek {

namespace detail {

struct find_if_function : projecting_algorithm<find_if_function> {
  template <class I, class Pred, class Proj>
  static I run(I first, I last, Pred& pred, Proj& proj, const parallel_options& options) {
    static_assert(predicate_requirements<Pred, projected_t<Proj, I>>::met);
    const position count = count_between(first, last);
    // The first match so far. Relaxed: it only spares work until the loop has been joined.
    std::atomic<position> found{count};
    const auto search = [&](position lo, position hi) {
      hi = std::min(hi, found.load(std::memory_order_relaxed));
      if (lo >= hi) return;  // chunks behind a match grow quickly, as they take no time
      const I begin = cursor_at(first, lo);
      const I match =
          std::ranges::find_if(begin, cursor_at(first, hi), projected_call<Pred, Proj>{pred, proj});
      const position at = lo + static_cast<position>(match - begin);
      if (at == hi) return;
      position before = found.load(std::memory_order_relaxed);
      while (at < before && !found.compare_exchange_weak(before, at, std::memory_order_relaxed)) {
      }
    };
    // In windows that double, so that all workers search near a match that comes early.
    for (position begin = 0, end; begin < count && found.load(std::memory_order_relaxed) == count;
         begin = end) {
      end = begin + std::min(count - begin, std::max(first_window, begin));
      parallel_for_range(begin, end, search, options);
    }
    return cursor_at(first, found.load(std::memory_order_relaxed));
  }

 private:
  static constexpr position first_window = 16384;  // elements; an estimate
};

}  // namespace detail

/// find_if(first, last, pred, proj = {}, options = {}), find_if(range, pred, proj = {},
/// options = {}): returns the first element for which pred(proj(x)) is true, or the end. `proj` may
/// be left out before `options`. `pred` is called from several workers at once, also for elements
/// behind the match, but no chunk behind a known match begins. A match at element k ends the search
/// before element 2 k + 16384.
/// Errors: an exception of any call of `pred` is rethrown, also where a match lies before it. After
/// a requested stop the result is the first match among the chunks that were done, or the end.
/// Threads, chunks: as parallel_for.
inline constexpr detail::find_if_function find_if{};

}  // namespace creek
