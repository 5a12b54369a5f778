// SPDX-License-Identifier: Apache-2.0
#include "column_plans.hpp"

#include <creek/linalg/task_graph.hpp>
#include <vector>

namespace creek::tool::compare {
namespace {

using linalg::in;
using linalg::inout;

/// An address per block, since task graphs identify blocks by address.
class block_keys {
 public:
  explicit block_keys(std::size_t blocks) : blocks_(blocks), keys_(blocks * blocks) {}
  const char* operator()(std::size_t i, std::size_t j) const { return &keys_[i + j * blocks_]; }

 private:
  std::size_t blocks_;
  std::vector<char> keys_;
};

}  // namespace

work_graph plan_of_columns(std::size_t tasks) {
  linalg::task_graph graph({.dry_run = true});
  std::size_t blocks = 0;
  while (blocks * (blocks + 1) / 2 < tasks) ++blocks;
  const std::vector<char> keys(blocks);
  for (std::size_t k = 0; k < blocks; ++k) {
    graph.add({"panel"}, {inout(&keys[k])}, [] {});
    for (std::size_t j = k + 1; j < blocks; ++j) {
      graph.add({"update"}, {in(&keys[k]), inout(&keys[j])}, [] {});
    }
  }
  (void)graph.wait();
  return graph.plan();
}

work_graph plan_of_blocks(std::size_t blocks) {
  linalg::task_graph graph({.dry_run = true});
  const block_keys key(blocks);
  std::vector<linalg::operand> operands;
  const auto change_column = [&](std::size_t from, std::size_t j) {
    for (std::size_t i = from; i < blocks; ++i) operands.push_back(inout(key(i, j)));
  };
  for (std::size_t k = 0; k < blocks; ++k) {
    operands.clear();
    change_column(k, k);
    graph.add({"panel"}, operands, [] {});
    for (std::size_t j = k + 1; j < blocks; ++j) {
      operands.assign({in(key(k, k)), inout(key(k, j))});
      change_column(k + 1, j);
      graph.add({"trsm"}, operands, [] {});
      for (std::size_t i = k + 1; i < blocks; ++i) {
        graph.add({"gemm"}, {in(key(i, k)), in(key(k, j)), inout(key(i, j))}, [] {});
      }
    }
  }
  for (std::size_t j = 0; j + 1 < blocks; ++j) {
    operands.clear();
    for (std::size_t k = j + 1; k < blocks; ++k) operands.push_back(in(key(k, k)));
    change_column(j + 1, j);
    graph.add({"exchange"}, operands, [] {});
  }
  (void)graph.wait();
  return graph.plan();
}

}  // namespace creek::tool::compare
