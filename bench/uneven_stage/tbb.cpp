// SPDX-License-Identifier: Apache-2.0
// oneTBB's pipeline with a parallel stage.
#include <oneapi/tbb/parallel_pipeline.h>

#include "config.hpp"
#include "harness/tbb_runtime.hpp"

namespace bench::uneven_stage {
namespace {

sample measure(const settings& s) {
  std::uint64_t next = 0, digest = 0;
  double ns = 0;
  inside(s, [&] {
    const auto source = [&](tbb::flow_control& control) {
      if (next == static_cast<std::uint64_t>(s.n)) control.stop();
      return next++;
    };
    ns = timed([&] {
      tbb::parallel_pipeline(
          max_items,
          tbb::make_filter<void, std::uint64_t>(tbb::filter_mode::serial_in_order, source) &
              tbb::make_filter<std::uint64_t, std::uint64_t>(
                  tbb::filter_mode::parallel,
                  [&](std::uint64_t item) { return work_on(s, item); }) &
              tbb::make_filter<std::uint64_t, void>(
                  tbb::filter_mode::serial_in_order,
                  [&](std::uint64_t item) { digest = with(digest, item); }));
    });
  });
  return {ns, static_cast<double>(s.n), digest};
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::uneven_stage
