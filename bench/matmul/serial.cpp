// SPDX-License-Identifier: Apache-2.0
// Serial matrix multiply: forks are calls.
#include "config.hpp"
#include "harness/serial_runtime.hpp"

namespace bench::matmul {
namespace {

sample measure(const settings& s) {
  return run(
      s, [](const settings& with, auto&& f) { inside(with, f); }, fork);
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::matmul
