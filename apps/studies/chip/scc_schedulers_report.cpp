// SPDX-License-Identifier: Apache-2.0
// Results of the task benchmarks on the simulated chip: tables, JSON, CSV and charts. All times are
// virtual.
#include <fmt/format.h>

#include "json/json_value.hpp"
#include "output/counted.hpp"
#include "output/drawing.hpp"
#include "output/energy.hpp"
#include "output/folder_output.hpp"
#include "scc_schedulers.hpp"

namespace creek::tool::bench {
namespace {

using json = json_value;

/// Calls visit(workload, scheduler) for each combination of the plan.
template <class Visitor>
void for_each_table(const scc_plan& plan, Visitor&& visit) {
  for (const std::string& workload : plan.workloads) {
    for (const scheduler_kind scheduler : plan.schedulers) visit(workload, scheduler);
  }
}

const scc_result* find(const std::vector<scc_result>& results, const std::string& workload,
                       scheduler_kind scheduler, unsigned length_us, unsigned cores) {
  for (const scc_result& each : results) {
    if (each.workload == workload && each.scheduler == scheduler && each.length_us == length_us &&
        each.cores == cores) {
      return &each;
    }
  }
  return nullptr;
}

std::uint64_t count_of(const scc_result& result, counter which) {
  return result.report.counters[which];
}

void print_counters(const scc_result& r, std::FILE* to) {
  fmt::print(to, "{:>6} us {:>6}{:>11.3f}{:>10.2f}{:>14}{:>10}{:>9}{:>9}{:>12}{:>10.3f}{:>10.3f}\n",
             r.length_us, r.cores, 1e3 * r.took.in_seconds().value, r.speedup(),
             count_of(r, counter::steals_tried), count_of(r, counter::steals_won),
             count_of(r, counter::inline_runs), r.report.memory_full, r.report.lock_waits,
             r.energy.value, r.serial_energy.value);
}

}  // namespace

void print_table(const scc_plan& plan, const std::vector<scc_result>& results, std::FILE* to) {
  fmt::print(to,
             "Chip {}, seed {}; virtual time. Speed-up: over the same work on one core without "
             "the runtime.\n",
             plan.chip.description.name, plan.seed);
  for_each_table(plan, [&](const std::string& workload, scheduler_kind scheduler) {
    std::size_t tasks = 0;
    for (const scc_result& each : results) {
      if (each.workload == workload) tasks = each.tasks;
    }
    fmt::print(to, "\n{}, {} tasks, {}\n{:>9} {:>6}", workload, tasks, to_string(scheduler),
               "speed-up", "cores");
    for (const unsigned cores : plan.cores) fmt::print(to, "{:>8}", cores);
    fmt::print(to, "\n");
    for (const unsigned length : plan.lengths_us) {
      fmt::print(to, "{:>6} us {:>6}", length, "");
      for (const unsigned cores : plan.cores) {
        const scc_result* r = find(results, workload, scheduler, length, cores);
        if (r != nullptr) fmt::print(to, "{:>8.2f}", r->speedup());
      }
      fmt::print(to, "\n");
    }
    fmt::print(to, "{:>9} {:>6}{:>11}{:>10}{:>14}{:>10}{:>9}{:>9}{:>12}{:>10}{:>10}\n", "tasks of",
               "cores", "ms", "speed-up", "steals tried", "won", "inline", "no room", "lock waits",
               "J", "J serial");
    for (const unsigned length : plan.lengths_us) {
      for (const unsigned cores : plan.cores) {
        const scc_result* r = find(results, workload, scheduler, length, cores);
        if (r != nullptr) print_counters(*r, to);
      }
    }
  });
}

std::string to_json(const scc_plan& plan, const std::vector<scc_result>& results) {
  json whole{{"schema_version", 2},
             {"command", "bench schedulers"},
             {"chip", plan.chip.description.name},
             {"seed", plan.seed},
             {"results", json::array()}};
  for (const scc_result& r : results) {
    whole["results"].push_back(
        {{"workload", r.workload},
         {"scheduler", std::string(to_string(r.scheduler))},
         {"task_us", r.length_us},
         {"cores", r.cores},
         {"tasks", r.tasks},
         {"virtual_s", r.took.in_seconds().value},
         {"serial_virtual_s", r.serial.in_seconds().value},
         {"speedup", r.speedup()},
         {"steals_tried", count_of(r, counter::steals_tried)},
         {"steals_won", count_of(r, counter::steals_won)},
         {"inline_runs", count_of(r, counter::inline_runs)},
         {"memory_full", r.report.memory_full},
         {"lock_waits", r.report.lock_waits},
         {"suspends", count_of(r, counter::suspends)},
         {"idle_virtual_s", 1e-9 * static_cast<double>(count_of(r, counter::idle_ns))},
         {"joules", r.energy.value},
         {"task_joules", r.report.tasks.energy.value},
         {"serial_joules", r.serial_energy.value},
         {"schedule", fmt::format("{:016x}", r.report.schedule)}});
  }
  return with_energy(whole).dump(2) + "\n";
}

std::string to_csv(const std::vector<scc_result>& results) {
  std::string text =
      "workload,scheduler,task_us,cores,tasks,virtual_s,serial_virtual_s,speedup,steals_tried,"
      "steals_won,inline_runs,memory_full,lock_waits,joules,task_joules,serial_joules\n";
  for (const scc_result& r : results) {
    text += fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", r.workload, to_string(r.scheduler),
        r.length_us, r.cores, r.tasks, r.took.in_seconds().value, r.serial.in_seconds().value,
        r.speedup(), count_of(r, counter::steals_tried), count_of(r, counter::steals_won),
        count_of(r, counter::inline_runs), r.report.memory_full, r.report.lock_waits,
        r.energy.value, r.report.tasks.energy.value, r.serial_energy.value);
  }
  return text;
}

void write_charts(const scc_plan& plan, const std::vector<scc_result>& results,
                  const std::string& folder) {
  folder_output charts(folder);
  for_each_table(plan, [&](const std::string& workload, scheduler_kind scheduler) {
    bar_chart chart{.title = fmt::format("{}, {}", workload, to_string(scheduler)),
                    .subtitle = fmt::format("simulated chip {}, seed {}",
                                            plan.chip.description.name, plan.seed),
                    .axis = "speed-up over one core without the runtime",
                    .groups = {}};
    for (const unsigned length : plan.lengths_us) {
      bar_group group{.heading = fmt::format("tasks of {} us", length), .bars = {}};
      for (const unsigned cores : plan.cores) {
        const scc_result* r = find(results, workload, scheduler, length, cores);
        if (r == nullptr) continue;
        group.bars.push_back({counted(cores, "core"), r->speedup(),
                              fmt::format("{:.2f}", r->speedup()), cores == plan.cores.back()});
      }
      chart.groups.push_back(std::move(group));
    }
    charts.write(fmt::format("scc-{}-{}.svg", workload, to_string(scheduler)), draw(chart));
  });
  charts.commit();
}

}  // namespace creek::tool::bench
