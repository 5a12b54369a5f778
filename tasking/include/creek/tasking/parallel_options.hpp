// SPDX-License-Identifier: Apache-2.0
// Options for how a parallel algorithm divides its range, and what may end it early.
#pragma once

#include <cstddef>
#include <stop_token>

#include <creek/core/language.hpp>

namespace creek {

/// Options of `parallel_for`, `parallel_reduce` and `parallel_scan`, meant for designated
/// initialisers: `parallel_for(0, n, body, {.grain = 64})`.
struct parallel_options {
  /// Elements that one worker always does together; 0 lets the algorithm measure its own body (a
  /// chunk of a few microseconds: see detail/lazy_loop.hpp).
  std::size_t grain = 0;
  /// Once a stop is requested no further chunk begins; chunks that have begun are finished and the
  /// algorithm returns normally. Ask the token afterwards whether the range was cut short.
  std::stop_token stop = {};
  /// Makes the tree in which results are combined depend on the number of elements and on `grain`
  /// only, so floating-point results repeat to the bit on any number of workers. Used by
  /// `parallel_reduce` and `parallel_scan`; loops have nothing to combine.
  bool deterministic = false;
};

}  // namespace creek
