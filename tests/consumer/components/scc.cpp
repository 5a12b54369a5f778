// SPDX-License-Identifier: Apache-2.0
// Finds the backend by name, although this program refers to it in no other way, and prints a
// report of the coherence checker.
#include <iostream>

#include <creek/scc/spmd.hpp>
#include <creek/tasking.hpp>

/// Reads bytes that no core has written.
void read_unwritten(creek::scc_backend::memory& m) {
  int value = 0;
  if (m.self() == creek::core_id{0}) m.read(&value, m.at(m.self(), 64), sizeof value);
}

int main() {
  creek::runtime rt({.workers = 4}, "scc");
  const auto [a, b] = rt.run([] { return creek::fork_join([] { return 20; }, [] { return 22; }); });
  const auto report = creek::scc_backend::run_cores({.check = true}, &read_unwritten);
  print(std::cout, report.faults);
  return a + b == 42 && report.faults.size() == 1 ? 0 : 1;
}
