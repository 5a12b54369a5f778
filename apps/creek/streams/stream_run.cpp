// SPDX-License-Identifier: Apache-2.0
#include "stream_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <creek/core/error.hpp>
#include <creek/core/version.hpp>
#include <creek/power/meter.hpp>
#include <creek/scc.hpp>
#include <creek/tasking/runtime.hpp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <optional>

#include "command_line/command.hpp"
#include "jobs/job_options.hpp"
#include "jobs/job_report.hpp"
#include "options/runtime_choice.hpp"
#include "output/counted.hpp"
#include "output/text_output.hpp"

namespace creek::tool {
namespace {

/// Maximum number of tasks in the message-passing memory of a core, beside the messages of
/// channels. A stage that fills its deque runs its next item itself, and others get none meanwhile.
constexpr std::size_t max_tasks_in_deque = 36;

std::string backend_name(const stream_options& given) {
  return given.backend.empty() ? backend_of_environment() : given.backend;
}

scheduler_options scheduling(const stream_options& given) {
  scheduler_options chosen = scheduler_options::from_environment();
  if (given.workers) chosen.workers = *given.workers;
  return chosen;
}

/// Calls `work` on the runtime; the failure of a stage becomes its cause.
void call(runtime& workers, const stream_work& work, const pipeline_options& options) {
  try {
    workers.run([&] { work(workers.worker_count(), options); });
  } catch (const pipeline_error& failure) {
    std::rethrow_exception(failure.cause());
  }
}

void run_on_workers(const stream_options& given, const stream_work& work,
                    const pipeline_options& options, stream_facts& facts) {
  runtime workers(scheduling(given), facts.backend);
  facts.workers = workers.worker_count();
  call(workers, work, options);
  workers.shut_down();
}

/// Returns the draw of a core while it runs tasks.
units::watts draw_of(const scc_backend::account_usage& tasks) {
  const units::seconds time = (tasks.busy + tasks.waiting).in_seconds();
  return time.value > 0 ? tasks.energy / time : units::watts{};
}

void run_on_chip(const stream_options& given, const stream_work& work,
                 const pipeline_options& options, stream_facts& facts) {
  scc chip;
  chip.machine = to_machine_options(given.chip);
  const std::uint64_t seed = chip.machine.seed;
  chip.machine.seed = 0;                                     // the runtime's options have it
  chip.machine.blocks = scc_backend::block_moves::combined;  // items are large
  chip.options.seed = seed;
  chip.options.deque_capacity = max_tasks_in_deque;
  chip.options.workers = static_cast<unsigned>(participating_cores(given.chip, chip.machine));
  scc_backend::task_report report;
  chip.report = &report;
  runtime workers{chip};
  facts.workers = workers.worker_count();
  call(workers, work, options);
  workers.shut_down();
  facts.simulated = simulated_stream{.chip = chip.machine.description.name,
                                     .seed = seed,
                                     .is_measured = chip.machine.cycles_a_host_second > 0,
                                     .length = report.ended,
                                     .energy = report.energy,
                                     .active = draw_of(report.tasks)};
}

power::core_activity activity_of(const stream::network_report& report) {
  power::core_activity made;
  made.cores = report.workers;
  for (const stream::process_figures& each : report.processes)
    made.computing += units::seconds{each.active_s + each.tasks_s};
  made.wall = units::seconds{report.elapsed_s};
  return made;
}

/// Collects what a pipeline does, as far as the options ask for it.
class watched_run {
 public:
  explicit watched_run(const stream_options& given)
      : given_(given), metering_(power::meter_options::from_environment()) {
    if (reports() && !is_on_chip(given)) meter_.emplace(metering_);
    if (traces()) session_.emplace(trace::options{});
    if (!given.dot.empty()) dot_.emplace(given.dot);
    // Not committed: these fail now if they could not be written at the end.
    if (!given.chip.trace.empty()) text_output(given.chip.trace);
    if (!given.chip.heatmap.empty()) text_output(given.chip.heatmap);
  }
  [[nodiscard]] pipeline_options options() {
    return {.report = reports() ? &report_ : nullptr, .trace = session_ ? &*session_ : nullptr};
  }
  /// Shares the energy of a run on the chip, or what the meter has read, among the stages.
  void share_energy(const stream_facts& facts) {
    if (facts.simulated) {
      const simulated_stream& on = *facts.simulated;
      return stream::share_energy(report_, on.energy.value, on.active.value);
    }
    if (!meter_) return;
    const power::energy_figure used = meter_->read_energy();
    if (!used.available()) return;
    // The model knows what an active core draws beside an idle one; its figures are scaled.
    const power::core_activity activity = activity_of(report_);
    const double share = used.energy / metering_.model.energy(activity);
    stream::share_energy(report_, used.energy.value,
                         share * metering_.model.core_computing({}).value);
  }
  void write() {
    if (given_.report) std::fputs(to_string(report_).c_str(), stderr);
    if (dot_) {
      dot_->write(to_dot(report_));
      dot_->done();
    }
    if (session_) session_->write(given_.chip.trace);
  }

 private:
  [[nodiscard]] bool reports() const { return given_.report || !given_.dot.empty(); }
  /// The chip writes a trace of its own.
  [[nodiscard]] bool traces() const { return !is_on_chip(given_) && !given_.chip.trace.empty(); }

  const stream_options& given_;
  power::meter_options metering_;
  std::optional<power::meter> meter_;
  stream::network_report report_;
  std::optional<trace::session> session_;
  std::optional<text_output> dot_;  ///< opened first: a bad path fails before the run
};

double milliseconds(std::chrono::nanoseconds t) {
  return std::chrono::duration<double, std::milli>(t).count();
}

}  // namespace

void add_stream_options(command_line::command& command, stream_options& given,
                        const char* quiet_text) {
  command.add_option("--workers", given.workers, "Workers")
      ->range(1, scheduler_options::max_workers);
  command
      .add_option("--backend", given.backend,
                  fmt::format("Where to run: one of {}; scc is a simulated chip",
                              fmt::join(backends(), ", ")))
      ->suggest(backends());
  command.add_flag("--json", given.as_json, "Print a JSON object");
  command.add_flag("--quiet", given.quiet, quiet_text);
  command.add_flag(
      "--report", given.report,
      "Print to standard error who was active, who waited, what would help, and joules "
      "(CREEK_METER)");
  command.add_option("--dot", given.dot, "Draw the stages, with rates, into FILE for Graphviz")
      ->type_name("FILE");
  add_chip_options(command, given.chip, {.clock = true, .traces_stages = true});
}

void check_stream_options(const command_line::command& command, const stream_options& given) {
  if (is_on_chip(given)) {
    refuse(command, {"--workers"}, "not with --backend scc, where programs run on --cores");
  } else {
    refuse(command, {"--chip", "--cores", "--clock", "--seed", "--check", "--heatmap"},
           "needs --backend scc");
  }
}

void check_standard_output(const stream_options& given, const char* output) {
  if (given.as_json) {
    throw usage_error(
        fmt::format("--json: needs --output, as the {} goes to standard output otherwise", output));
  }
  if (isatty(STDOUT_FILENO) == 1)
    throw usage_error("--output: standard output is a terminal; name a file, or use a pipe");
}

bool is_on_chip(const stream_options& given) {
  return backend_name(given) == "scc";
}

std::size_t items_at_once(const stream_options& given, unsigned workers) {
  const std::size_t spare = workers;
  return workers + (is_on_chip(given) ? std::min(spare, max_tasks_in_deque) : spare);
}

stream_facts run_stream(const stream_options& given, const stream_work& work) {
  stream_facts facts;
  facts.backend = backend_name(given);
  std::signal(SIGPIPE, SIG_IGN);
  watched_run watched(given);
  const auto start = std::chrono::steady_clock::now();
  is_on_chip(given) ? run_on_chip(given, work, watched.options(), facts)
                    : run_on_workers(given, work, watched.options(), facts);
  facts.elapsed = std::chrono::steady_clock::now() - start;
  watched.share_energy(facts);
  watched.write();
  return facts;
}

std::string run_text(const stream_facts& facts) {
  std::string text = fmt::format("{:.3f} s with {} ({})", milliseconds(facts.elapsed) / 1e3,
                                 counted(facts.workers, "worker"), facts.backend);
  if (!facts.simulated) return text;
  const simulated_stream& on = *facts.simulated;
  return text + fmt::format("\nsimulated chip {}, {}, seed {}: {:.3f} ms virtual time, {:.3f} mJ{}",
                            on.chip, counted(facts.workers, "core"), on.seed,
                            1e3 * on.length.in_seconds().value, 1e3 * on.energy.value,
                            on.is_measured ? ", computing measured" : "");
}

json_value run_json(const stream_facts& facts) {
  json_value all{{"version", version()},
                 {"backend", facts.backend},
                 {"workers", facts.workers},
                 {"milliseconds", milliseconds(facts.elapsed)},
                 {"peak_resident_bytes", peak_resident_bytes()}};
  if (!facts.simulated) return all;
  const simulated_stream& on = *facts.simulated;
  all["simulated"] = json_value{{"chip", on.chip},
                                {"cores", facts.workers},
                                {"seed", on.seed},
                                {"clock", on.is_measured ? "measured" : "charged"},
                                {"virtual_ms", 1e3 * on.length.in_seconds().value},
                                {"joules", on.energy.value}};
  return all;
}

}  // namespace creek::tool
