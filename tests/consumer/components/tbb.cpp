// SPDX-License-Identifier: Apache-2.0
// The backend is found by name, though nothing here names it otherwise.
#include <creek/tasking.hpp>

int main() {
  creek::runtime rt({}, "tbb");
  const auto [a, b] = rt.run([] { return creek::fork_join([] { return 20; }, [] { return 22; }); });
  return a + b == 42 ? 0 : 1;
}
