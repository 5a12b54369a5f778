// SPDX-License-Identifier: Apache-2.0
// Serial merge sort: forks are calls.
#include "config.hpp"
#include "harness/serial_runtime.hpp"

namespace bench::mergesort {
namespace {

sample measure(const settings& s) {
  return run(
      s, [](const settings& with, auto&& f) { inside(with, f); }, fork);
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::mergesort
