// SPDX-License-Identifier: Apache-2.0
// A program of somebody who has only the installed headers and library.
#include <creek/core/asymmetric_fence.hpp>
#include <creek/core/error.hpp>
#include <iostream>

int main() {
  try {
    creek::heavy_fence();
    throw creek::usage_error("nothing to do: give the program some work");
  } catch (const creek::usage_error& misuse) {
    std::cout << misuse.what() << '\n';
  }
}
