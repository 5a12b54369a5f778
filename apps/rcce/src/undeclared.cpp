// SPDX-License-Identifier: Apache-2.0
// Functions of RCCE's library that programs use although they are declared in its inner header, or
// not at all.
#include <cstdio>
#include <cstdlib>

#include "RCCE_lib.h"
#include "call.hpp"

using namespace creek::rcce;

extern "C" {

int id_compare(const void* a, const void* b) {
  return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}

void RCCE_qsort(char* items, size_t count, size_t size, int (*compare)(const void*, const void*)) {
  std::qsort(items, count, size, compare);
}

void print_dividers(void) {
  const auto dividers = call("print_dividers", {}, [](ue& self) { return self.dividers(); });
  int tile = 0;
  for (const int divider : dividers) {
    std::printf("Clock divider for tile %d is %d\n", tile++, divider);
  }
}

}  // extern "C"
