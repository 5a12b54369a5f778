// SPDX-License-Identifier: Apache-2.0
// The plain loop over a share per thread.
#include "config.hpp"
#include "harness/omp_sums.hpp"

namespace bench::colour_histogram {
namespace {

const registration registered{
    what, [](const settings& s) {
      return timed_sums(input_of(s), [&](auto data) { return omp_sums<sums>(s, data, unit, add); });
    }};

}  // namespace
}  // namespace bench::colour_histogram
