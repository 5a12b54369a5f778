// SPDX-License-Identifier: Apache-2.0
// Runs the first program of the README, and prints the source of the topology and why a backend of
// another component is missing.
#include <cstdio>
#include <string>

#include <creek/core/error.hpp>
#include <creek/host/topology.hpp>
#include <creek/tasking.hpp>

long fib(int n) {
  if (n < 2) return n;
  auto [a, b] = creek::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

int main() {
  creek::runtime rt;
  if (rt.run([] { return fib(20); }) != 6765) return 1;
  for (const std::string& name : creek::backends()) std::printf("has %s\n", name.c_str());
  std::printf("topology: %s\n", creek::host_backend::discover_topology().source().c_str());
  try {
    std::printf("%d cores\n", creek::host_backend::topology_from_synthetic("core:3 pu:1").cores());
  } catch (const creek::usage_error& refusal) {
    std::puts(refusal.what());
  }
  try {
    const creek::runtime simulated({}, "scc");
  } catch (const creek::usage_error& refusal) {
    std::puts(refusal.what());
  }
}
