// SPDX-License-Identifier: Apache-2.0
// oneTBB's pipeline with serial stages in order; as many items on their way as fit in the channels
// of the others.
#include <oneapi/tbb/parallel_pipeline.h>

#include "config.hpp"
#include "harness/tbb_runtime.hpp"

namespace bench::stream_stages {
namespace {

constexpr auto in_order = tbb::filter_mode::serial_in_order;

template <int Stages>
sample run(const settings& s) {
  sample result;
  inside(s, [&] {
    result = measure(s, Stages, [&](int stages, std::uint64_t& sum) {
      std::uint64_t next = 0;
      tbb::filter<void, std::uint64_t> all =
          tbb::make_filter<void, std::uint64_t>(in_order, [&](tbb::flow_control& control) {
            if (next == static_cast<std::uint64_t>(s.n)) control.stop();
            return next++;
          });
      for (int i = 2; i < stages; ++i) {
        all = all & tbb::make_filter<std::uint64_t, std::uint64_t>(
                        in_order, [](std::uint64_t each) { return each; });
      }
      tbb::parallel_pipeline(capacity,
                             all & tbb::make_filter<std::uint64_t, void>(
                                       in_order, [&](std::uint64_t each) { sum += each; }));
    });
  });
  return result;
}

const registration with_two{two, run<2>};
const registration with_four{four, run<4>};

}  // namespace
}  // namespace bench::stream_stages
