// SPDX-License-Identifier: Apache-2.0
// Runs a problem on threads of this machine, each time in a new runtime, so that the policy is in
// force from the first worker to the last and no other idle workers exist.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <creek/core/error.hpp>
#include <creek/core/io/atomic_file.hpp>
#include <creek/power/accounting.hpp>
#include <creek/power/linux_clocks.hpp>
#include <creek/power/meter.hpp>
#include <creek/tasking/runtime.hpp>

#include "dense/trace.hpp"
#include "host_work.hpp"
#include "measured_run.hpp"
#include "options/runtime_choice.hpp"
#include "run_sampler.hpp"
#include "watched_policy.hpp"

namespace creek::tool::compare {
namespace {

double wall_seconds() noexcept {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

power::meter_options meter_options_of(const setup& given) {
  power::meter_options options = power::meter_options::from_environment();
  if (!given.meter.empty()) options.source = power::parse_meter_source(given.meter);
  return options;
}

/// Lets workers read the meter at events while it lives; else only the meter's thread does.
class sampled_span {
 public:
  sampled_span(run_sampler* sampler, power::meter& meter, const watched_policy& watch)
      : sampler_(sampler) {
    meter.restart();
    if (sampler_ != nullptr) sampler_->start(meter, watch);
  }
  ~sampled_span() { stop(); }
  sampled_span(const sampled_span&) = delete;
  sampled_span& operator=(const sampled_span&) = delete;
  void stop() const noexcept {
    if (sampler_ != nullptr) sampler_->stop();
  }

 private:
  run_sampler* sampler_;
};

class host_runner final : public runner {
 public:
  host_runner(const setup& given, long long n)
      : given_(given), metering_(meter_options_of(given)), work_(make_host_work(given, n)) {
    scheduling_ = scheduler_options::from_environment();
    if (given.workers) scheduling_.workers = static_cast<unsigned>(*given.workers);
    make_plan();
    for (const std::string& policy : given.policies) try_policy(policy);
  }

  const backend_facts& facts() const noexcept override { return facts_; }
  std::string about() const override { return work_->about(); }

  measured_run run(const run_request& what) override {
    const bool sampled = what.sampled;
    trace::session session({.process_name = fmt::format("creek compare, {}", what.policy)});
    std::optional<run_sampler> sampler;
    if (sampled) sampler.emplace(session, facts_.workers);
    std::shared_ptr<power_policy> policy = make_policy(what.policy);
    std::shared_ptr<power::accounting> account;  // tells a power model what workers did
    if (metering_.source == power::meter_source::model) {
      account = std::make_shared<power::accounting>(std::move(policy), metering_.model);
      policy = account;
    }
    const auto watch =
        std::make_shared<watched_policy>(std::move(policy), sampled ? &*sampler : nullptr);
    measured_run got;
    {
      runtime workers = make_runtime(watch, what.policy);
      workers.run([&] { measure(*watch, account.get(), sampled ? &*sampler : nullptr, got); });
      if (controls_clocks(what.policy)) got.control = watch->control_failure();
    }
    if (sampled) got.power = sampler->take_energy();
    if (!what.trace.empty()) write_trace(what.trace, session);
    return got;
  }

 private:
  runtime make_runtime(std::shared_ptr<power_policy> policy, std::string_view name) const {
    scheduler_options options = scheduling_;
    options.policy = std::move(policy);
    if (controls_clocks(name)) {
      options.clocks =
          power::linux_clocks({.workers = scheduling_.workers, .pinned = scheduling_.pin});
    }
    return runtime(options, "host");
  }

  std::shared_ptr<power_policy> make_policy(std::string_view name) const {
    return policy_named(name, given_.limits, plan_);
  }
  /// Tries a policy, so that one that cannot work fails before the first run is measured.
  void try_policy(const std::string& name) {
    const runtime workers = make_runtime(make_policy(name), name);
    facts_ = {.name = "host",
              .simulated = false,
              .workers = workers.worker_count(),
              .machine = fmt::format("host, {} {}", workers.worker_count(),
                                     workers.worker_count() == 1 ? "worker" : "workers")};
  }

  /// Makes a plan from a run that is not measured: the graph, and the duration of its tasks.
  void make_plan() {
    if (std::ranges::find(given_.policies, "slack_reduction") == given_.policies.end()) return;
    runtime workers(scheduling_, "host");
    workers.run([this] {
      work_->prepare();
      work_->run();
      plan_ = work_->plan();
    });
  }

  void measure(const watched_policy& watch, const power::activity_source* activity,
               run_sampler* sampler, measured_run& into) {
    work_->prepare();
    power::meter_options metering = metering_;
    metering.activity = activity;
    metering.cores = facts_.workers;
    power::meter meter(metering);
    const sampled_span sampled(sampler, meter, watch);
    const double idle = watch.idle_cpu_seconds(), cpu = watch.cpu_seconds();
    const double start = wall_seconds();
    work_->run();
    into.seconds = wall_seconds() - start;
    into.cpu_seconds = watch.cpu_seconds() - cpu;
    into.idle_cpu_seconds = watch.idle_cpu_seconds() - idle;
    sampled.stop();
    note_energy(meter.read_energy(), into);
    note_graph(into);
    into.wrong = work_->judge();
  }

  static void note_energy(const power::energy_figure& figure, measured_run& into) {
    into.origin = figure.origin;
    into.source = figure.source;
    into.reason = figure.reason;
    if (figure.available()) into.joules = figure.energy.value;
  }

  void note_graph(measured_run& into) const {
    const linalg::graph_report* graph = work_->graph();
    if (graph == nullptr) return;
    into.tasks = graph->tasks;
    into.activity = linalg::activity(graph->runs, facts_.workers);
  }

  void write_trace(const std::string& name, trace::session& session) const {
    atomic_file file(name, atomic_file::targets::regular);  // the tool chose the name
    if (const linalg::graph_report* graph = work_->graph()) {
      dense::write_trace(file, *graph, session);
    } else {
      session.write_to(file);
    }
    file.commit();
  }

  setup given_;
  power::meter_options metering_;
  std::unique_ptr<host_work> work_;
  scheduler_options scheduling_;
  backend_facts facts_;
  work_graph plan_;
};

}  // namespace

std::unique_ptr<runner> make_host_runner(const setup& given, long long n) {
  return std::make_unique<host_runner>(given, n);
}

}  // namespace creek::tool::compare
