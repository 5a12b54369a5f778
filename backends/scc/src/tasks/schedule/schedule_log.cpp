// SPDX-License-Identifier: Apache-2.0
// Hashing and tracing of the steps of a schedule.
#include "schedule_log.hpp"

namespace creek::scc_backend {

/// Hashes every step of a schedule (FNV-1a [FNV]); runs are traced as well.
void schedule_log::note(task_worker& worker, step what, std::uint64_t detail) noexcept {
  for (const std::uint64_t part :
       {static_cast<std::uint64_t>(what), static_cast<std::uint64_t>(worker.core.value), detail,
        now().count}) {
    hash_.add(part);
  }
  trace::track* track = worker.track.load(std::memory_order_relaxed);
  if (track == nullptr) return;
  constexpr const char* names[] = {"task", "steal", "inline", "suspend", "resume", "halt", "woken"};
  const auto kind = what == step::run ? trace::event_kind::begin : trace::event_kind::instant;
  track->record(kind, now(), names[static_cast<int>(what)],
                what == step::steal ? static_cast<std::int64_t>(detail) : trace::no_argument);
}

void schedule_log::ended(task_worker& worker) const noexcept {
  if (trace::track* track = worker.track.load(std::memory_order_relaxed)) {
    track->record(trace::event_kind::end, now(), nullptr, trace::no_argument);
  }
}

ticks schedule_log::now() const noexcept {
  return ticks{static_cast<std::uint64_t>(workers_.now().femtoseconds)};
}

}  // namespace creek::scc_backend
