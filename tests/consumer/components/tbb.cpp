// SPDX-License-Identifier: Apache-2.0
// Finds the backend by name, although this program refers to it in no other way.
#include <creek/tasking.hpp>

int main() {
  creek::runtime rt({}, "tbb");
  const auto [a, b] = rt.run([] { return creek::fork_join([] { return 20; }, [] { return 22; }); });
  return a + b == 42 ? 0 : 1;
}
