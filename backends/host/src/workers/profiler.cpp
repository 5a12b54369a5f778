// SPDX-License-Identifier: Apache-2.0
// Puts the profiles of the workers together. Arrays and qsort(), because vectors, maps and
// std::sort() of these types would add some kilobytes to every program.
#include "profiler.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace creek::host_backend {

namespace {

using tasks = std::unique_ptr<profile::task[]>;

/// Orders by name.
int compare_names(const void* left, const void* right) noexcept {
  return std::strcmp(static_cast<const profile::task*>(left)->name,
                     static_cast<const profile::task*>(right)->name);
}

/// Orders by time, the longest first, and tasks of equal times by name.
int compare_times(const void* left, const void* right) noexcept {
  const auto a = static_cast<const profile::task*>(left)->total;
  const auto b = static_cast<const profile::task*>(right)->total;
  return a != b ? (a > b ? -1 : 1) : compare_names(left, right);
}

profile::worker times_of(const recorder& record) {
  const auto spent = [&](recorder::idle what) {
    return tick_clock::to_nanoseconds(record.spent(what));
  };
  return {.running = tick_clock::to_nanoseconds(record.ran()),
          .searching = spent(recorder::idle::searching),
          .sleeping = spent(recorder::idle::sleeping),
          .waiting = spent(recorder::idle::waiting)};
}

profile::task times_of(const task_kind& kind) {
  return {.name = kind.key != nullptr && *kind.name != '\0' ? kind.name : "(unnamed)",
          .count = kind.count,
          .total = tick_clock::to_nanoseconds(kind.ran),
          .longest = tick_clock::to_nanoseconds(kind.longest),
          .waited = tick_clock::to_nanoseconds(kind.waited)};
}

/// Adds up the tasks of equal names, since a name may have an address per library and worker.
/// Returns how many names there are.
std::size_t merge_names(profile::task* all, std::size_t count) {
  std::qsort(all, count, sizeof *all, &compare_names);
  std::size_t names = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (names == 0 || compare_names(&all[names - 1], &all[i]) != 0) {
      all[names++] = all[i];
    } else {
      all[names - 1].add(all[i]);
    }
  }
  std::qsort(all, names, sizeof *all, &compare_times);
  return names;
}

}  // namespace

profiler::profiler() : output_(profile_output::from_environment()) {}
profiler::~profiler() = default;

void profiler::begin(worker_set& workers) {
  if (!output_) return;
  begin_ = tick_clock::now();
  workers.make_recorders();
  for (const worker& each : workers) {
    each.recording()->profile_from(
        begin_, each.begins_asleep ? recorder::idle::sleeping : recorder::idle::searching);
  }
}

std::exception_ptr profiler::end(worker_set& workers) noexcept {
  if (!output_) return nullptr;
  try {
    (void)tick_clock::scale();  // the rate is the better the later it is measured
    const ticks now = tick_clock::now();
    std::size_t kinds = 0;
    for (const worker& each : workers) kinds += each.recording()->kinds().entries().size() + 1;
    const auto tasks = std::make_unique<profile::task[]>(kinds);
    const auto times = std::make_unique<profile::worker[]>(workers.size());
    std::size_t used = 0;
    const auto add = [&](const task_kind& kind) {
      if (kind.count != 0) tasks[used++] = times_of(kind);
    };
    for (const worker& each : workers) {
      recorder& record = *each.recording();
      record.finish(now);
      times[each.index] = times_of(record);
      std::ranges::for_each(record.kinds().entries(), add);
      add(record.kinds().unnamed());
    }
    output_->write({.backend = "host",
                    .duration = tick_clock::to_nanoseconds(now - begin_),
                    .tasks = {tasks.get(), merge_names(tasks.get(), used)},
                    .workers = {times.get(), workers.size()}});
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

}  // namespace creek::host_backend
