// SPDX-License-Identifier: Apache-2.0
#include "chip_run.hpp"

#include <fmt/format.h>

namespace creek::tool::compare {

scc_backend::machine_options chip_options_of(const setup& given) {
  chip_options options;
  options.chip = given.chip;
  scc_backend::machine_options made = to_machine_options(options);
  made.blocks = given.moves;
  return made;
}

unsigned chip_workers(const setup& given, const scc_backend::machine_options& on) {
  chip_options options;
  options.chip = given.chip;
  options.cores = static_cast<int>(given.workers.value_or(0));
  (void)to_machine_options(options);  // refuses more cores than the chip has
  return static_cast<unsigned>(participating_cores(options, on));
}

backend_facts chip_facts(const scc_backend::machine_options& on, unsigned workers) {
  return {.name = "scc",
          .simulated = true,
          .workers = workers,
          .machine = fmt::format("simulated chip {}, {} of {} cores", on.description.name, workers,
                                 on.description.cores())};
}

void note_awake(const scc_backend::usage_report& usage, unsigned workers, double in_tasks,
                measured_run& into) {
  double awake = 0;
  for (std::size_t i = 0; i < usage.cores.size() && i < workers; ++i) {
    awake += (usage.cores[i].busy + usage.cores[i].waiting).in_seconds().value;
  }
  into.cpu_seconds = awake;
  into.idle_cpu_seconds = awake - in_tasks;
}

void chip_sampler::start() {
  meter_.emplace();
  energy_.push_back({0, 0});
}

void chip_sampler::stop() noexcept {
  if (meter_) note(true);
  meter_.reset();
}

// Cores run ahead of each other by their turns: an event that comes too late is left out.
void chip_sampler::note(bool at_the_end) noexcept {
  if (!meter_) return;
  constexpr double every = 100e-6;  // simulated seconds
  const power::meter_reading now = meter_->read();
  const energy_point& last = energy_.back();
  const double passed = now.wall.value - last.seconds;
  if (!now.energy.available() || passed <= 0 || (!at_the_end && passed < every)) return;
  if (now.energy.energy.value < last.joules) return;
  energy_.push_back({now.wall.value, now.energy.energy.value});
}

}  // namespace creek::tool::compare
