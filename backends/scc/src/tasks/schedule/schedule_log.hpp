// SPDX-License-Identifier: Apache-2.0
// Log of a schedule: a hash by which two runs are compared, and the trace of each worker.
#pragma once

#include <cstdint>

#include <creek/core/fnv.hpp>

#include "tasks/worker_set.hpp"

namespace creek::scc_backend {

/// Kinds of step that the log tells apart.
enum class step : std::uint8_t { run, steal, inline_run, suspend, resume, halt, woken };

/// Two runs have equal hashes if their steps, with cores and times, are equal. Every `run` of a
/// trace is followed by an ended() of the same worker.
class schedule_log {
 public:
  explicit schedule_log(const worker_set& workers) noexcept : workers_(workers) {}

  /// Records a step at the running core's time; `detail` is the victim of a steal.
  void note(task_worker& worker, step what, std::uint64_t detail = 0) noexcept;
  /// Records the end of what the worker has run.
  void ended(task_worker& worker) const noexcept;
  std::uint64_t hash() const noexcept { return hash_.value(); }

 private:
  ticks now() const noexcept;

  const worker_set& workers_;
  fnv1a hash_;
};

}  // namespace creek::scc_backend
