// SPDX-License-Identifier: Apache-2.0
// creek's pipeline with a parallel stage.
#include <creek/stream/pipeline.hpp>

#include "config.hpp"
#include "harness/creek_runtime.hpp"

namespace bench::uneven_stage {
namespace {

sample measure(const settings& s) {
  std::uint64_t next = 0, digest = 0;
  double ns = 0;
  inside(s, [&] {
    ns = timed([&] {
      creek::pipeline(
          [&] {
            return next < static_cast<std::uint64_t>(s.n) ? std::optional(next++) : std::nullopt;
          },
          creek::parallel_stage([&](std::uint64_t item) { return work_on(s, item); }, max_items),
          [&](std::uint64_t item) { digest = with(digest, item); });
    });
  });
  return {ns, static_cast<double>(s.n), digest};
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::uneven_stage
