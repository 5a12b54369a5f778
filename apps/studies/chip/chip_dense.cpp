// SPDX-License-Identifier: Apache-2.0
#include "chip_dense.hpp"

#include <algorithm>
#include <creek/core/error.hpp>
#include <creek/power/meter.hpp>
#include <creek/tasking.hpp>
#include <optional>
#include <string>

#include "dense/generated_job.hpp"
#include "scc_messages.hpp"

namespace creek::tool {
namespace {

/// Capacity of a worker's deque: more tasks than a worker spawns at once for a graph.
constexpr std::uint32_t deque_capacity = 24;

dense::problem problem_of(dense::method how, long long n) {
  return {.command = dense::to_string(how),
          .how = how,
          .layout = dense::form::blocks,
          .rows = n,
          .cols = n,
          .check = true,
          .input = {},
          .rhs_file = {},
          .output = {},
          .trace = {}};
}

/// Returns the problem in the form whose tasks work on blocks.
dense::problem problem_by_blocks(const chip_dense_problem& given) {
  dense::problem made = problem_of(given.how, given.n);
  if (given.how == dense::method::lu) made.layout = dense::form::column;
  made.updates = linalg::update_tasks::blocks;
  made.block = given.block;
  made.seed = given.seed;
  return made;
}

/// Returns the tasks to come if the policy needs them; prepare the work afterwards.
work_graph plan_for(const chip_dense_problem& given, dense::generated_job& work) {
  if (given.policy != "slack_reduction") return {};
  work.prepare();
  work_graph plan = work.plan();
  return given.before != nullptr ? linalg::measured(std::move(plan), given.before->runs) : plan;
}

double largest(const std::vector<dense::judgement>& judgements) {
  return std::ranges::max_element(judgements, {}, &dense::judgement::value)->value;
}

void require_sense(const chip_dense_problem& given) {
  if (given.n < 1) throw usage_error("--backend scc: -n N is required: the size of the matrix");
  if (given.by_messages) return;  // run_messages() checks the rest
  require_chip_memory(given.how, given.n);
  if (given.block < std::min<long long>(8, given.n) || given.block > given.n) {
    throw usage_error("--block must be between 8 and n = " + std::to_string(given.n) + ", got " +
                      std::to_string(given.block));
  }
}

chip_dense_run run_by_messages(const chip_dense_problem& given) {
  message_settings chosen;
  chosen.n = given.n;
  chosen.block = given.block;
  chosen.cores = static_cast<int>(given.cores);
  chosen.policy = given.policy;
  chosen.matrix_seed = given.seed;
  chosen.check = given.check;
  const message_run run = run_messages(given.how, chosen, given.on);
  chip_dense_run found;
  found.time = run.time.in_seconds();
  found.energy = run.energy;
  found.info = run.info;
  found.checked = given.check && run.info == 0;
  found.residual = run.residual;
  found.report.ended = run.time;
  found.report.energy = run.energy;
  found.report.faults = run.report.faults;
  return found;
}

}  // namespace

void require_chip_memory(dense::method how, long long n) {
  dense::require_memory(problem_of(how, n));
}

chip_dense_run run_on_chip(const chip_dense_problem& given) {
  require_sense(given);
  if (given.by_messages) return run_by_messages(given);
  runtime host{scheduler_options{}, "host"};  // makes the matrix and judges the answer
  dense::generated_job work(problem_by_blocks(given));
  chip_dense_run found;
  scc chosen{given.cores};
  chosen.machine = given.on;
  chosen.machine.seed = 0;  // the options hold the seed of the schedule
  if (given.on.seed != 0) chosen.options.seed = given.on.seed;
  chosen.options.deque_capacity = deque_capacity;
  chosen.options.policy =
      host.run([&] { return policy_named(given.policy, given.limits, plan_for(given, work)); });
  chosen.report = &found.report;
  host.run([&] { work.prepare(); });
  {
    runtime rt{chosen};
    rt.run([&] {
      power::meter meter;
      // The time of QR includes the conversion to tiles, by tasks of the chip.
      if (given.how == dense::method::qr) work.prepare();
      found.info = work.run();
      const power::meter_reading reading = meter.read();
      found.time = reading.wall;
      found.energy = reading.energy.energy;
    });
    rt.shut_down();  // throws if the trace cannot be written
  }
  found.graph = work.graph();
  if (given.check && found.info == 0) {
    found.residual = host.run([&] { return largest(work.judge()); });
    found.checked = true;
  }
  return found;
}

}  // namespace creek::tool
