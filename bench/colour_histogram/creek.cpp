// SPDX-License-Identifier: Apache-2.0
// creek's own job, which fills an array.
#include <creek/mapreduce.hpp>

#include "config.hpp"
#include "harness/creek_sums.hpp"

namespace bench::colour_histogram {
namespace {

using creek::mapreduce::pixel;

const registration registered{what, [](const settings& s) {
                                return creek_sums<creek::mapreduce::colour_histogram, pixel>(
                                    s, input_of<pixel>(s));
                              }};

}  // namespace
}  // namespace bench::colour_histogram
