// SPDX-License-Identifier: Apache-2.0
// oneTBB's flow graph: a continue_node per node.
#include <oneapi/tbb/flow_graph.h>

#include <deque>

#include "config.hpp"
#include "harness/tbb_runtime.hpp"

namespace bench::graph {
namespace {

namespace flow = tbb::flow;

sample run(const settings& s, const edges& before) {
  marks done(static_cast<std::int64_t>(before.size()));
  sample result;
  inside(s, [&] {
    flow::graph kept;
    std::deque<flow::continue_node<flow::continue_msg>> nodes;
    std::vector<std::size_t> sources;
    for (std::size_t i = 0; i < before.size(); ++i) {
      nodes.emplace_back(kept, [slot = done.slot(static_cast<std::int64_t>(i))](
                                   const flow::continue_msg& message) {
        count_run(slot);
        return message;
      });
      for (const std::int64_t from : before[i]) {
        flow::make_edge(nodes[static_cast<std::size_t>(from)], nodes[i]);
      }
      if (before[i].empty()) sources.push_back(i);
    }
    result = measure(done, before.size(), [&] {
      for (const std::size_t source : sources) nodes[source].try_put({});
      kept.wait_for_all();
    });
  });
  return result;
}

const shapes<run> registered;

}  // namespace
}  // namespace bench::graph
