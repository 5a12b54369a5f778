// SPDX-License-Identifier: Apache-2.0
// Runtimes and tasks for the tests of reports of waits.
#pragma once

#include <atomic>
#include <string>
#include <thread>

#include <creek/host.hpp>
#include <creek/tasking.hpp>

namespace creek::support {

inline runtime make(unsigned workers, bool dump_on_sigquit = false) {
  scheduler_options options;
  options.workers = workers;
  options.hang_limit = {};
  options.dump_on_sigquit = dump_on_sigquit;
  return runtime{host(options)};
}

inline void spin_until(const std::atomic<bool>& flag) {
  while (!flag) std::this_thread::yield();
}

/// Returns the report as soon as it has `text`.
inline std::string report_with(const runtime& rt, const char* text) {
  for (;;) {
    std::string report = to_string(rt.waiting());
    if (report.find(text) != report.npos) return report;
    std::this_thread::yield();
  }
}

// Tasks with a name; closures of one function share theirs.
struct waits_for_future {
  future<int> awaited;
  int operator()() { return awaited.get(); }
};
struct busy_task {
  std::atomic<bool>* begun;
  std::atomic<bool>* may_end;
  int operator()() const {
    *begun = true;
    spin_until(*may_end);
    return 1;
  }
};

}  // namespace creek::support
