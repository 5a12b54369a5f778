// SPDX-License-Identifier: Apache-2.0
// creek's own job, one of its rounds: the arrays were made by the first.
#include <creek/mapreduce.hpp>

#include "config.hpp"
#include "harness/creek_runtime.hpp"

namespace bench::kmeans_round {
namespace {

using namespace creek::mapreduce;

sample measure(const settings& s) {
  const std::vector<float> points = input_of(s);
  span_input<float> from(points, 8192 * dimensions);
  rounds<k_means_round, span_input<float>> iterate(from);
  sample result;
  inside(s, [&] {
    const k_means_round job{centres_of(points), dimensions};
    (void)iterate.run(job);
    result = timed_round(points, [&](auto, auto) { return iterate.run(job); });
  });
  return result;
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::kmeans_round
