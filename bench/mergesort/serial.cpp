// SPDX-License-Identifier: Apache-2.0
// Serial merge sort: forks are calls.
#include "config.hpp"
#include "harness/serial_runtime.hpp"

namespace bench::mergesort {
namespace {

const registration registered{what, [](const settings& s) {
                                return run(
                                    s, [](const settings& with, auto&& f) { inside(with, f); },
                                    fork);
                              }};

}  // namespace
}  // namespace bench::mergesort
