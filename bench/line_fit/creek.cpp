// SPDX-License-Identifier: Apache-2.0
// creek's own job, which fills an array.
#include <creek/mapreduce.hpp>

#include "config.hpp"
#include "harness/creek_sums.hpp"

namespace bench::line_fit {
namespace {

using creek::mapreduce::byte_point;

const registration registered{
    what, [](const settings& s) {
      return creek_sums<creek::mapreduce::line_fit<byte_point>, byte_point>(
          s, input_of<byte_point>(s));
    }};

}  // namespace
}  // namespace bench::line_fit
