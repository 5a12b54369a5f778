// SPDX-License-Identifier: Apache-2.0
// Expectations of the programs; plain, because a test framework would be instrumented too.
#pragma once

#include <cstdio>
#include <cstdlib>

inline void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "wrong: %s\n", what);
  std::exit(1);
}
