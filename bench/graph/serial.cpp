// SPDX-License-Identifier: Apache-2.0
// The nodes in the order of their numbers.
#include "config.hpp"

namespace bench::graph {
namespace {

sample run(const settings&, const edges& before) {
  const auto n = static_cast<std::int64_t>(before.size());
  marks done(n);
  return measure(done, before.size(), [&] {
    for (std::int64_t i = 0; i < n; ++i) count_run(done.slot(i));
  });
}

const shapes<run> registered;

}  // namespace
}  // namespace bench::graph
