// SPDX-License-Identifier: Apache-2.0
// A loop.
#include "config.hpp"

namespace bench::uneven_stage {
namespace {

sample measure(const settings& s) {
  std::uint64_t digest = 0;
  const double ns = timed([&] {
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(s.n); ++i)
      digest = with(digest, work_on(s, i));
  });
  return {ns, static_cast<double>(s.n), digest};
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::uneven_stage
