// SPDX-License-Identifier: Apache-2.0
// Puts the profiles of the workers together.
#include "profiler.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace creek::host_backend {

namespace {

profile::worker times_of(const worker_profile& record) {
  const auto spent = [&](worker_profile::idle what) {
    return tick_clock::to_nanoseconds(record.spent(what));
  };
  return {.running = tick_clock::to_nanoseconds(record.ran()),
          .searching = spent(worker_profile::idle::searching),
          .sleeping = spent(worker_profile::idle::sleeping),
          .waiting = spent(worker_profile::idle::waiting)};
}

/// Adds up the tasks of equal names: a name may have an address per library.
std::vector<profile::task> tasks_of(const worker_set& workers) {
  std::map<std::string, profile::task> by_name;
  for (const worker& each : workers) {
    each.profile->for_each_kind([&](const worker_profile::totals& sum) {
      const std::string name = sum.name.empty() ? "(unnamed)" : sum.name;
      profile::task& task = by_name[name];
      task.name = name;
      task.count += sum.count;
      task.total += tick_clock::to_nanoseconds(sum.ran);
      task.longest = std::max(task.longest, tick_clock::to_nanoseconds(sum.longest));
      task.waited += tick_clock::to_nanoseconds(sum.waited);
    });
  }
  std::vector<profile::task> tasks;
  for (auto& [name, task] : by_name) tasks.push_back(std::move(task));
  std::stable_sort(tasks.begin(), tasks.end(),
                   [](const auto& a, const auto& b) { return a.total > b.total; });
  return tasks;
}

}  // namespace

void profiler::begin(worker_set& workers) {
  if (!output_) return;
  begin_ = tick_clock::now();
  for (worker& each : workers) {
    const auto first =
        each.begins_asleep ? worker_profile::idle::sleeping : worker_profile::idle::searching;
    each.profile = std::make_unique<worker_profile>(begin_, first);
  }
}

std::exception_ptr profiler::end(worker_set& workers) noexcept {
  if (!output_) return nullptr;
  try {
    (void)tick_clock::scale();  // the rate is the better the later it is measured
    const ticks now = tick_clock::now();
    profile times{.backend = "host", .duration = tick_clock::to_nanoseconds(now - begin_)};
    for (worker& each : workers) {
      each.profile->finish(now);
      times.workers.push_back(times_of(*each.profile));
    }
    times.tasks = tasks_of(workers);
    output_->write(times);
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

}  // namespace creek::host_backend
