// SPDX-License-Identifier: Apache-2.0
// A runtime whose worker 0 runs a test of calls, an exception and an object for such tests.
#pragma once

#include <vector>

#include <creek/host.hpp>
#include <creek/tasking.hpp>

namespace creek::tests {

struct failure {
  int number;
};

/// Runs `body` on worker 0 of a runtime of so many workers.
template <class F>
void on_worker_0(unsigned workers, F body) {
  runtime rt{host{workers}};
  rt.run([&] { call_on(core_id{0}, body); });
}

struct log {
  std::vector<int> entries;
  void add(int entry) { entries.push_back(entry); }
  std::vector<int> all() const { return entries; }
};

}  // namespace creek::tests
