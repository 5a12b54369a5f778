// SPDX-License-Identifier: Apache-2.0
// The merge sort on OpenMP: a fork is a task and a taskwait.
#include "config.hpp"
#include "harness/omp_runtime.hpp"

namespace bench::mergesort {
namespace {

const registration registered{what, [](const settings& s) {
                                return run(
                                    s, [](const settings& with, auto&& f) { inside(with, f); },
                                    fork);
                              }};

}  // namespace
}  // namespace bench::mergesort
