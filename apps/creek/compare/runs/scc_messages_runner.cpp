// SPDX-License-Identifier: Apache-2.0
// Runs a factorization on cores of the simulated chip, each of which holds some columns of the
// matrix in its own memory; the cores send each other panels.
#include "chip_run.hpp"

#include <fmt/format.h>

#include <creek/tasking/runtime.hpp>

#include "dense/jobs/jobs.hpp"
#include "host_work.hpp"
#include "studies/chip/scc_messages.hpp"

namespace creek::tool::compare {
namespace {

class messages_runner final : public runner {
 public:
  messages_runner(const setup& given, long long n)
      : given_(given),
        machine_(chip_options_of(given)),
        workers_(chip_workers(given, machine_)),
        facts_(chip_facts(machine_, workers_)),
        what_(dense_problem(given, n)),
        whole_(what_.rows, what_.cols) {
    host_.run([this] { dense::generated_matrix<double>(what_).put(whole_.view()); });
  }

  const backend_facts& facts() const noexcept override { return facts_; }
  std::string about() const override {
    return fmt::format(
        "{} {} x {} double, {}, block {}, columns in private memory, sent in messages",
        what_.command, what_.rows, what_.cols, what_.matrix_source, what_.block);
  }

  measured_run run(const run_request& what) override {
    scc_backend::machine_options on = machine_;
    on.trace_file = what.trace;
    on.records_may_be = atomic_file::targets::regular;  // the tool chose the name
    chip_sampler sampler;
    on.waits.policy = policy_named(what.policy, given_.limits);
    if (what.sampled) {
      on.waits.policy = std::make_shared<watched_policy>(on.waits.policy, &sampler);
    }
    rank_factors result{linalg::matrix<double>(what_.rows, what_.cols), {}, {}, 0};
    const scc_backend::run_report report = creek::simulate(
        static_cast<int>(workers_),
        [&](scc_communicator& ranks) {
          if (what.sampled && ranks.rank() == 0) sampler.start();
          factor_on_ranks(ranks, what_.how, {}, what_.block, whole_, result);
          if (what.sampled && ranks.rank() == 0) sampler.stop();
        },
        on);
    measured_run got = noted(report);
    if (what.sampled) got.power = sampler.take_energy();
    got.wrong = host_.run(
        [&] { return what_is_wrong(result.info, judge_factors(what_.how, whole_, result)); });
    return got;
  }

 private:
  measured_run noted(const scc_backend::run_report& report) const {
    measured_run got;
    got.seconds = report.length().in_seconds().value;
    got.joules = report.usage.total.value;
    got.origin = energy_origin::by_backend;
    got.source = "simulation";
    double busy = 0;
    for (std::size_t i = 0; i < workers_; ++i) {
      busy += report.usage.cores[i].busy.in_seconds().value;
    }
    note_awake(report.usage, workers_, busy, got);
    return got;
  }

  setup given_;
  scc_backend::machine_options machine_;
  unsigned workers_;
  backend_facts facts_;
  runtime host_{scheduler_options{}, "host"};
  dense::problem what_;
  linalg::matrix<double> whole_;
};

}  // namespace

std::unique_ptr<runner> make_messages_runner(const setup& given, long long n) {
  return std::make_unique<messages_runner>(given, n);
}

}  // namespace creek::tool::compare
