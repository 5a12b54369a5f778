// SPDX-License-Identifier: Apache-2.0
#include "job_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <creek/core/error.hpp>
#include <creek/tasking/runtime.hpp>

#include "command_line/command.hpp"
#include "options/runtime_choice.hpp"

namespace creek::tool {

void add_job_options(command_line::command& command, job_options& given, const char* quiet_text,
                     const std::vector<std::string>& also) {
  std::vector<std::string> places = backends();
  places.insert(places.end(), also.begin(), also.end());
  command.add_option("names", given.names, "Files and directories")->option_text("[FILE|DIR...]");
  command.add_option("--workers", given.workers, "Workers")
      ->range(1, scheduler_options::max_workers);
  command
      .add_option(
          "--backend", given.backend,
          fmt::format("Where to run: one of {}; scc is a simulated chip{}", fmt::join(places, ", "),
                      also.empty() ? "" : ", mpi the ranks that mpirun starts"))
      ->suggest(places);
  command
      .add_option("--scheduler", given.scheduler,
                  fmt::format("How tasks get to workers: {}", fmt::join(scheduler_choices, ", ")))
      ->suggest({scheduler_choices.begin(), scheduler_choices.end()});
  command
      .add_option("--idle", given.idle,
                  fmt::format("What workers without work do: {}", fmt::join(idle_choices, ", ")))
      ->suggest({idle_choices.begin(), idle_choices.end()});
  command.add_flag("--json", given.as_json, "Print a JSON object");
  command.add_flag("--quiet", given.quiet, quiet_text);
  command.add_flag("--skip-unreadable", given.skip_unreadable,
                   "Skip unreadable files instead of failing");
}

scheduler_options scheduling(const job_options& given) {
  if (backend_name(given) == "tbb" && !(given.scheduler.empty() && given.idle.empty())) {
    throw usage_error(fmt::format("{}: not with --backend tbb, where oneTBB schedules",
                                  given.scheduler.empty() ? "--idle" : "--scheduler"));
  }
  scheduler_options chosen = scheduler_options::from_environment();
  if (given.workers) chosen.workers = *given.workers;
  if (!given.scheduler.empty()) chosen.scheduler = parse_scheduler(given.scheduler);
  if (!given.idle.empty()) chosen.idle = parse_idle(given.idle);
  return chosen;
}

std::string backend_name(const job_options& given) {
  return given.backend.empty() ? backend_of_environment() : given.backend;
}

std::vector<std::string> input_names(const job_options& given) {
  return given.names.empty() ? std::vector<std::string>{"-"} : given.names;
}

void watch(std::optional<progress_bar>& bar, bool is_quiet, const mapreduce::progress& done,
           std::size_t splits) {
  if (!is_quiet && isatty(STDERR_FILENO) != 0) bar.emplace(done, splits);
}

void refuse(const command_line::command& command, std::initializer_list<const char*> options,
            const char* why) {
  for (const char* name : options) {
    if (command.count(name) > 0) {
      throw usage_error(fmt::format("{}: {}", name, why));
    }
  }
}

}  // namespace creek::tool
