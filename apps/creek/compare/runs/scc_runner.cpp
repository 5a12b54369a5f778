// SPDX-License-Identifier: Apache-2.0
// Runs a problem on the cores of the simulated chip, as tasks on blocks of shared memory. The
// matrix is made and the answer judged on threads of this machine: neither costs the chip anything.
#include <fmt/format.h>

#include <algorithm>
#include <creek/core/error.hpp>
#include <creek/scc.hpp>
#include <creek/tasking/runtime.hpp>

#include "chip_run.hpp"
#include "host_work.hpp"

namespace creek::tool::compare {
namespace {

class shared_runner final : public runner {
 public:
  shared_runner(const setup& given, long long n)
      : given_(given),
        machine_(chip_options_of(given)),
        workers_(chip_workers(given, machine_)),
        facts_(chip_facts(machine_, workers_)),
        work_(make_host_work(given, n)) {
    make_plan();
    for (const std::string& policy : given.policies) {
      const runtime tried{on_chip(policy_named(policy, given_.limits, plan_), {}, nullptr)};
    }
  }

  const backend_facts& facts() const noexcept override { return facts_; }
  std::string about() const override {
    return fmt::format("{}, blocks in shared memory, {}", work_->about(),
                       machine_.blocks == scc_backend::block_moves::uncached ? "moved word by word"
                                                                             : "moved in lines");
  }

  measured_run run(const run_request& what) override {
    chip_sampler sampler;
    measured_run got = simulate(policy_named(what.policy, given_.limits, plan_), what.trace,
                                what.sampled ? &sampler : nullptr);
    if (what.sampled) got.power = sampler.take_energy();
    got.wrong = host_.run([this] { return work_->judge(); });
    return got;
  }

 private:
  creek::scc on_chip(std::shared_ptr<power_policy> policy, const std::string& trace,
                     scc_backend::task_report* report) const {
    creek::scc chosen({}, machine_);
    chosen.options.workers = workers_;
    chosen.options.policy = std::move(policy);
    chosen.machine.trace_file = trace;
    chosen.machine.records_may_be = atomic_file::targets::regular;  // the tool chose the name
    chosen.report = report;
    return chosen;
  }

  measured_run simulate(std::shared_ptr<power_policy> policy, const std::string& trace,
                        chip_sampler* sampler) {
    host_.run([this] { work_->prepare(); });
    if (sampler != nullptr) policy = std::make_shared<watched_policy>(std::move(policy), sampler);
    measured_run got;
    scc_backend::task_report report;
    {
      runtime chip{on_chip(std::move(policy), trace, &report)};
      chip.run([&] { measure(sampler, got); });
      chip.shut_down();  // throws if the trace cannot be written
    }
    const double in_tasks = (report.tasks.busy + report.tasks.waiting).in_seconds().value;
    note_awake(report.usage, workers_, in_tasks, got);
    if (const linalg::graph_report* graph = work_->graph()) {
      got.tasks = graph->tasks;
      got.activity = linalg::activity(graph->runs, workers_);
    }
    return got;
  }

  void measure(chip_sampler* sampler, measured_run& into) {
    if (sampler != nullptr) sampler->start();
    power::meter meter;
    work_->run();
    const power::meter_reading found = meter.read();
    if (sampler != nullptr) sampler->stop();
    into.seconds = found.wall.value;
    into.origin = found.energy.origin;
    into.source = found.energy.source;
    into.reason = found.energy.reason;
    if (found.energy.available()) into.joules = found.energy.energy.value;
  }

  /// Makes a plan from an extra run on the same cores.
  void make_plan() {
    if (std::ranges::find(given_.policies, "slack_reduction") == given_.policies.end()) return;
    (void)simulate(policy_named("blocking", given_.limits), {}, nullptr);
    plan_ = host_.run([this] { return work_->plan(); });
  }

  setup given_;
  scc_backend::machine_options machine_;
  unsigned workers_;
  backend_facts facts_;
  runtime host_{scheduler_options{}, "host"};
  std::unique_ptr<host_work> work_;
  work_graph plan_;
};

}  // namespace

std::unique_ptr<runner> make_scc_runner(const setup& given, long long n) {
  if (given.memory == chip_memory::messages) return make_messages_runner(given, n);
  return std::make_unique<shared_runner>(given, n);
}

}  // namespace creek::tool::compare
