// SPDX-License-Identifier: Apache-2.0
// creek::graph.
#include "config.hpp"
#include "harness/creek_runtime.hpp"

namespace bench::graph {
namespace {

sample run(const settings& s, const edges& before) {
  marks done(static_cast<std::int64_t>(before.size()));
  creek::graph kept;
  std::vector<creek::graph::node> nodes;
  for (std::size_t i = 0; i < before.size(); ++i) {
    nodes.push_back(
        kept.emplace([slot = done.slot(static_cast<std::int64_t>(i))] { count_run(slot); }));
    for (const std::int64_t from : before[i]) {
      nodes[i].succeed(nodes[static_cast<std::size_t>(from)]);
    }
  }
  sample result;
  inside(s, [&] { result = measure(done, before.size(), [&] { kept.run(); }); });
  return result;
}

const shapes<run> registered;

}  // namespace
}  // namespace bench::graph
