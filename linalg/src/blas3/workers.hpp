// SPDX-License-Identifier: Apache-2.0
// Execution policies for the parts of an operation: on all workers, or on the calling thread, as in
// tasks on tiles.
#pragma once

#include <creek/linalg/matrix.hpp>
#include <creek/tasking/parallel_for.hpp>
#include <creek/tasking/this_worker.hpp>

namespace creek::linalg::detail {

/// Runs on the workers of the current runtime; outside of one, on the calling thread.
struct all_workers {
  static index_t count() { return static_cast<index_t>(worker_count()); }
  template <class Body>
  static void for_each(index_t pieces, const Body& body) {
    if (pieces == 1) return body(index_t{0});
    parallel_for(index_t{0}, pieces, body, {.grain = 1});
  }
};

struct this_thread {
  static index_t count() { return 1; }
  template <class Body>
  static void for_each(index_t pieces, const Body& body) {
    for (index_t i = 0; i < pieces; ++i) body(i);
  }
};

}  // namespace creek::linalg::detail
