// SPDX-License-Identifier: Apache-2.0
// Parallel loops over integers, random-access iterators and ranges. The division of the work is
// described in detail/lazy_loop.hpp.
#pragma once

#include <concepts>
#include <ranges>

#include <creek/tasking/detail/lazy_loop.hpp>
#include <creek/tasking/detail/linear_range.hpp>
#include <creek/tasking/parallel_options.hpp>

namespace creek {

namespace detail {

template <class Body, class Argument>
struct loop_body_requirements {
  static_assert(std::is_invocable_v<Body&, Argument>,
                "parallel_for calls body(i) with an index, or body(element) with an element");
  static constexpr bool met = true;
};

}  // namespace detail

/// Calls body(lo, hi) for chunks that together make up [first, last), each cursor in exactly one
/// chunk. `first` and `last` are integers of one type or random-access iterators.
/// Inside a runtime chunks run concurrently on its workers, and the call returns when all have
/// ended; outside one, in this thread. Chunks hold `options.grain` elements (the last of a piece
/// fewer) or, with grain 0, as many as take a few microseconds, beginning with one. Errors: once a
/// chunk throws or a stop is requested, chunks that have not begun are left out; the first
/// exception is rethrown here after the chunks that had begun have ended. Cost without thieves: one
/// fork per worker, about 10 ns per chunk.
template <detail::loop_cursor I, class Body>
void parallel_for_range(I first, I last, Body&& body, const parallel_options& options = {}) {
  static_assert(std::is_invocable_v<Body&, I, I>,
                "parallel_for_range calls body(lo, hi) with the two ends of a chunk");
  detail::loop_control control(options.stop);
  detail::drive_loop(
      detail::count_between(first, last), options.grain,
      [&](detail::position lo, detail::position hi) {
        body(detail::cursor_at(first, lo), detail::cursor_at(first, hi));
      },
      control);
}

/// Calls body(i) for each integer i of [first, last), or body(*it) for each iterator; no order is
/// promised between calls. The calls of a chunk form one plain loop that the compiler can
/// vectorise: capture by value what the body reads, and know that a small trivially copyable body
/// is copied. Threads, chunks, errors, cost: as parallel_for_range.
template <detail::loop_cursor I, class Body>
void parallel_for(I first, I last, Body&& body, const parallel_options& options = {}) {
  static_assert(detail::loop_body_requirements<Body, detail::loop_argument_t<I>>::met);
  parallel_for_range(
      first, last,
      [&body](I lo, I hi) {
        detail::with_local(body, [lo, hi](auto& local) { detail::for_each_cursor(lo, hi, local); });
      },
      options);
}

/// Does the same for ends of different integer types, as in parallel_for(0, v.size(), ...):
/// converts both to their common type. Throws usage_error if that changes the value of one of them.
template <detail::loop_index I, detail::loop_index J, class Body>
requires(!std::same_as<I, J>) void parallel_for(I first, J last, Body&& body,
                                                const parallel_options& options = {}) {
  const auto [lo, hi] = detail::common_ends(first, last);
  parallel_for(lo, hi, body, options);
}

/// Does the same for ends of different integer types, in chunks.
template <detail::loop_index I, detail::loop_index J, class Body>
requires(!std::same_as<I, J>) void parallel_for_range(I first, J last, Body&& body,
                                                      const parallel_options& options = {}) {
  const auto [lo, hi] = detail::common_ends(first, last);
  parallel_for_range(lo, hi, body, options);
}

/// Calls body(element) for each element of a range, as parallel_for over its iterators.
template <std::ranges::random_access_range Range, class Body>
requires std::ranges::sized_range<Range>
void parallel_for(Range&& range, Body&& body, const parallel_options& options = {}) {
  const auto first = std::ranges::begin(range);
  parallel_for(first, first + std::ranges::ssize(range), body, options);
}

}  // namespace creek
