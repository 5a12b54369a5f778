// SPDX-License-Identifier: Apache-2.0
#include "column_plan.hpp"

#include <creek/linalg/task_graph.hpp>
#include <vector>

namespace creek::tool::dense {

using linalg::in;
using linalg::inout;

work_graph plan_of_columns(std::size_t tasks) {
  linalg::task_graph graph({.dry_run = true});
  std::size_t blocks = 0;
  while (blocks * (blocks + 1) / 2 < tasks) ++blocks;
  const std::vector<char> keys(blocks);  // task graphs identify blocks by address
  for (std::size_t k = 0; k < blocks; ++k) {
    graph.add({"panel"}, {inout(&keys[k])}, [] {});
    for (std::size_t j = k + 1; j < blocks; ++j) {
      graph.add({"update"}, {in(&keys[k]), inout(&keys[j])}, [] {});
    }
  }
  (void)graph.wait();
  return graph.plan();
}

}  // namespace creek::tool::dense
