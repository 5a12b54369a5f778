// SPDX-License-Identifier: Apache-2.0
// Shared by the FastFlow peers. Each node has a thread, which polls by default; the peer
// ff_blocking lets threads sleep (its blocking mode). All threads together get as many
// processors as there are workers.
#pragma once
#include <sched.h>

#include <chrono>
#include <cstdlib>
#include <ff/ff.hpp>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "workload.hpp"

namespace bench {

/// Leaves the process the first `s.workers` of its processors.
inline void keep_to_processors(const settings& s) {
  static cpu_set_t all = [] {
    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
    return set;
  }();
  cpu_set_t some;
  CPU_ZERO(&some);
  unsigned taken = 0;
  for (std::size_t i = 0; i < CPU_SETSIZE && taken < s.workers; ++i) {
    if (!CPU_ISSET(i, &all)) continue;
    CPU_SET(i, &some);
    ++taken;
  }
  sched_setaffinity(0, sizeof some, &some);
}

/// Returns whether so many threads that poll have processors enough: others wait for the end of a
/// time slice again and again, for minutes in all.
inline bool can_run(const settings& s, int threads) {
  return BENCH_FASTFLOW_BLOCKS || s.workers >= static_cast<unsigned>(threads);
}

/// Runs a farm or pipeline to its end.
template <class Nodes>
void run_by_threads(const settings& s, Nodes& nodes) {
  keep_to_processors(s);
  nodes.no_mapping();  // threads may move, as those of the other peers
  nodes.blocking_mode(BENCH_FASTFLOW_BLOCKS);
  if (nodes.run_and_wait_end() < 0) std::abort();
}

/// A pipeline whose channels have a fixed capacity.
class pipeline_of_threads : public ff::ff_pipeline {
 public:
  pipeline_of_threads(const settings& s, std::size_t capacity)
      : ff_pipeline(false, static_cast<int>(capacity), static_cast<int>(capacity), true), s_(s) {}
  void run() { run_by_threads(s_, *this); }

 private:
  const settings& s_;
};

}  // namespace bench
