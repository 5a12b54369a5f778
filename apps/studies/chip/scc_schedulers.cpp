// SPDX-License-Identifier: Apache-2.0
// The workloads: in SPC worker 0 makes all consumers; in BPC each producer makes the next one and a
// number of consumers; a tree like Fibonacci's has leaves that compute. Tasks state their computing
// in cycles.
#include "scc_schedulers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <creek/core/charge.hpp>
#include <creek/core/error.hpp>
#include <creek/tasking.hpp>
#include <tuple>
#include <utility>

namespace creek::tool::bench {
namespace {

constexpr std::size_t published_tasks = 100'000;
constexpr int published_tree = 25;  ///< 242 784 tasks below the root [Prell 2011]
constexpr std::size_t consumers_of_a_producer = 99;
constexpr std::size_t fewest_tasks = 100;

/// One workload of one size: its number of tasks, and how many of them compute.
struct job {
  std::string workload;
  std::size_t tasks = 0;
  std::size_t computing = 0;
  int tree = 0;
  cycles length{};
};

/// Returns the tasks below the root of the tree of `n`, and its leaves.
std::pair<std::size_t, std::size_t> tree_size(int n) {
  // Numbers of calls and leaves for n - 2 and n - 1.
  std::size_t calls_2 = 1, calls_1 = 1, leaves_2 = 1, leaves_1 = 1;
  for (int i = 2; i <= n; ++i) {
    calls_2 = std::exchange(calls_1, 1 + calls_1 + calls_2);
    leaves_2 = std::exchange(leaves_1, leaves_1 + leaves_2);
  }
  return {calls_1 - 1, leaves_1};
}

job make_job(const scc_plan& plan, const std::string& workload, unsigned length_us) {
  job made{.workload = workload};
  const double frequency = plan.chip.description.clocks.core.frequency().value;
  made.length = cycles{static_cast<std::int64_t>(length_us * 1e-6 * frequency + 0.5)};
  const std::size_t wanted = plan.tasks != 0 ? plan.tasks : published_tasks;
  if (workload == "spc") {
    made.tasks = made.computing = wanted;
  } else if (workload == "bpc") {
    const std::size_t producers = wanted / (consumers_of_a_producer + 1);
    made.tasks = producers * (consumers_of_a_producer + 1);
    made.computing = producers * consumers_of_a_producer;
  } else {
    made.tree = plan.tasks != 0 ? 2 : published_tree;
    while (plan.tasks != 0 && tree_size(made.tree + 1).first <= plan.tasks) ++made.tree;
    std::tie(made.tasks, made.computing) = tree_size(made.tree);
  }
  return made;
}

void produce(std::size_t producers, cycles length, std::atomic<std::size_t>& done) {
  if (producers > 1) {
    creek::spawn([=, &done] { produce(producers - 1, length, done); });
  }
  for (std::size_t i = 0; i < consumers_of_a_producer; ++i) {
    creek::spawn([=, &done] {
      creek::charge(length);
      ++done;
    });
  }
}

void grow(int n, cycles length, std::atomic<std::size_t>& done) {
  if (n < 2) {
    creek::charge(length);
    ++done;
    return;
  }
  creek::spawn([=, &done] { grow(n - 1, length, done); });
  creek::spawn([=, &done] { grow(n - 2, length, done); });
  creek::taskwait();
}

/// Runs a job on a worker. Returns the number of tasks that have computed.
std::size_t run_here(const job& what) {
  std::atomic<std::size_t> done{0};
  if (what.workload == "spc") {
    for (std::size_t i = 0; i < what.tasks; ++i) {
      creek::spawn([&done, length = what.length] {
        creek::charge(length);
        ++done;
      });
    }
  } else if (what.workload == "bpc") {
    const std::size_t producers = what.tasks / (consumers_of_a_producer + 1);
    creek::spawn([=, &done, length = what.length] { produce(producers, length, done); });
  } else {
    grow(what.tree, what.length, done);
  }
  creek::taskbarrier();
  return done;
}

/// Runs the work of all tasks on one core, one after the other.
void run_serially(const job& what, scc_result& into, const scc_plan& plan) {
  const auto report = creek::simulate(1,
                                      [&](creek::scc_communicator&) {
                                        for (std::size_t i = 0; i < what.computing; ++i)
                                          creek::charge(what.length);
                                      },
                                      {.description = plan.chip.description});
  into.serial = report.length();
  into.serial_energy = report.usage.total;
}

void run_on_cores(const job& what, scc_result& into, const scc_plan& plan) {
  creek::scc on({}, plan.chip);
  on.machine.seed = 0;  // the schedule's seed is used
  on.options.workers = into.cores;
  on.options.scheduler = into.scheduler;
  on.options.seed = plan.seed;
  on.options.deque_capacity = plan.deque_capacity;
  on.report = &into.report;
  {
    creek::runtime rt{on};
    const std::size_t done = rt.run([&] {
      const virtual_time began = *scc_backend::simulated_now();
      const std::size_t computed = run_here(what);
      into.took = *scc_backend::simulated_now();
      into.took.femtoseconds -= began.femtoseconds;
      return computed;
    });
    if (done != what.computing) {
      throw creek::error(std::make_error_code(std::errc::result_out_of_range),
                         fmt::format("{} on {} cores ran {} tasks of {}", what.workload, into.cores,
                                     done, what.computing));
    }
    rt.shut_down();  // throws if a record cannot be written
  }
  into.energy = into.report.energy;
}

void check(const scc_plan& plan) {
  for (const std::string& name : plan.workloads) {
    if (name != "spc" && name != "bpc" && name != "tree") {
      throw creek::usage_error("unknown workload '" + name + "'; valid on scc: spc, bpc, tree");
    }
  }
  const int there = plan.chip.description.cores();
  for (const unsigned cores : plan.cores) {
    if (cores > static_cast<unsigned>(there)) {
      throw creek::usage_error(
          fmt::format("chip '{}' has {} cores, not {}", plan.chip.description.name, there, cores));
    }
  }
  const std::size_t runs =
      plan.workloads.size() * plan.lengths_us.size() * plan.schedulers.size() * plan.cores.size();
  if (runs != 1 && !(plan.chip.trace_file.empty() && plan.chip.heatmap_file.empty())) {
    throw creek::usage_error(
        fmt::format("--trace and --heatmap show a single run, but these are {}: give one value "
                    "each for --workload, --lengths, --scheduler and --cores",
                    runs));
  }
  if (plan.tasks != 0 && plan.tasks < fewest_tasks) {
    throw creek::usage_error(
        fmt::format("--tasks must be at least {}, got {}", fewest_tasks, plan.tasks));
  }
}

}  // namespace

std::vector<scc_result> run_scc_schedulers(const scc_plan& plan) {
  check(plan);
  std::vector<scc_result> results;
  for (const std::string& workload : plan.workloads) {
    for (const unsigned length : plan.lengths_us) {
      const job what = make_job(plan, workload, length);
      scc_result serial;
      run_serially(what, serial, plan);
      for (const scheduler_kind scheduler : plan.schedulers) {
        for (const unsigned cores : plan.cores) {
          if (plan.progress) {
            plan.progress(fmt::format("{} of {} us, {}, {} cores", workload, length,
                                      to_string(scheduler), cores));
          }
          scc_result result = serial;
          result.workload = workload;
          result.scheduler = scheduler;
          result.length_us = length;
          result.cores = cores;
          result.tasks = what.tasks;
          run_on_cores(what, result, plan);
          results.push_back(std::move(result));
        }
      }
    }
  }
  return results;
}

}  // namespace creek::tool::bench
