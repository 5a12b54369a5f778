// SPDX-License-Identifier: Apache-2.0
// What the programs expect of their results; plain, for a test framework would be instrumented too.
#pragma once

#include <cstdio>
#include <cstdlib>

inline void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "wrong: %s\n", what);
  std::exit(1);
}
