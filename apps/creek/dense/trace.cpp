// SPDX-License-Identifier: Apache-2.0
#include "trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace creek::tool::dense {
namespace {

using linalg::task_run;

/// Records nested slices: while a task waited, its worker may have run other tasks.
void record(std::vector<task_run> runs, trace::session& session, trace::track& track) {
  std::ranges::sort(runs, [](const task_run& a, const task_run& b) {
    return a.start != b.start ? a.start < b.start : a.end > b.end;
  });
  std::vector<ticks> open;
  ticks last{};
  const auto close = [&] {
    last = std::max(last, open.back());
    track.record(trace::event_kind::end, last, nullptr, trace::no_argument);
    open.pop_back();
  };
  for (const task_run& each : runs) {
    while (!open.empty() && open.back() <= each.start) close();
    last = std::max(last, each.start);
    track.record(trace::event_kind::begin, last, session.intern(each.name).c_str(),
                 static_cast<std::int64_t>(each.number));
    open.push_back(each.end);
  }
  while (!open.empty()) close();
}

}  // namespace

void write_trace(atomic_file& file, const linalg::graph_report& graph, trace::session& session) {
  std::vector<std::vector<task_run>> of_worker(std::max(graph.workers, 1U));
  for (const task_run& each : graph.runs) {
    if (each.skipped) continue;
    const auto worker = static_cast<std::size_t>(std::max(each.worker, 0));
    of_worker[std::min(worker, of_worker.size() - 1)].push_back(each);
  }
  for (std::size_t i = 0; i < of_worker.size(); ++i) {
    record(std::move(of_worker[i]), session, session.add_track(fmt::format("worker {}", i)));
  }
  session.write_to(file);
}

}  // namespace creek::tool::dense
