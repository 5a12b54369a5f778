// SPDX-License-Identifier: Apache-2.0
// Random programs on blocks whose contents reveal the order in which they were used: each task
// hashes what it reads into what it writes. In program order they give the right answer.
#pragma once

#include <creek/linalg/task_graph.hpp>

#include <cstdint>
#include <random>
#include <vector>

namespace creek::linalg::support {

constexpr std::uint64_t mix(std::uint64_t a, std::uint64_t b) noexcept {
  a = (a ^ b) * 0x9E3779B97F4A7C15u;
  return a ^ (a >> 29);
}

struct block_task {
  std::vector<std::size_t> blocks;
  std::vector<access> how;
  std::uint64_t salt;
  int priority;
  double flops;
  unsigned length;  ///< rounds of hashing that only take time
};

class hash_program {
 public:
  hash_program(std::uint64_t seed, std::size_t tasks, std::size_t blocks) : blocks_(blocks) {
    std::mt19937_64 random(seed);
    for (std::size_t i = 0; i < tasks; ++i) {
      block_task task{
          {}, {}, random(), static_cast<int>(random() % 3) - 1, static_cast<double>(random() % 100),
          0};
      task.length = random() % 16 == 0 ? static_cast<unsigned>(random() % 2000) : 0;
      for (auto operands = random() % 5; operands > 0; --operands) {
        task.blocks.push_back(random() % blocks);  // sometimes the same block twice
        task.how.push_back(static_cast<access>(1 + random() % 3));
      }
      tasks_.push_back(std::move(task));
    }
  }

  static void run(const block_task& task, std::vector<std::uint64_t>& values) {
    std::uint64_t hash = task.salt;
    for (unsigned i = 0; i < task.length; ++i) hash = mix(hash, i);
    for (std::size_t i = 0; i < task.blocks.size(); ++i) {
      if (task.how[i] != access::out) hash = mix(hash, values[task.blocks[i]]);
    }
    for (std::size_t i = 0; i < task.blocks.size(); ++i) {
      if (task.how[i] != access::in) values[task.blocks[i]] = mix(hash, i);
    }
  }

  std::vector<std::uint64_t> answer() const {
    std::vector<std::uint64_t> values(blocks_);
    for (const block_task& each : tasks_) run(each, values);
    return values;
  }

  static std::vector<operand> operands_of(const block_task& task,
                                          const std::vector<std::uint64_t>& values) {
    std::vector<operand> operands;
    for (std::size_t i = 0; i < task.blocks.size(); ++i) {
      operands.push_back({&values[task.blocks[i]], task.how[i]});
    }
    return operands;
  }
  void add_to(task_graph& graph, std::vector<std::uint64_t>& values) const {
    for (const block_task& each : tasks_) {
      graph.add({"hash", each.flops, each.priority}, operands_of(each, values),
                [&each, &values] { run(each, values); });
    }
  }
  const std::vector<block_task>& tasks() const { return tasks_; }
  std::size_t blocks() const { return blocks_; }

 private:
  std::size_t blocks_;
  std::vector<block_task> tasks_;
};

}  // namespace creek::linalg::support
