// SPDX-License-Identifier: Apache-2.0
#include "energy_of_ranks.hpp"

#include <fmt/format.h>

#include <cstddef>

namespace creek::tool::dense {
namespace {

/// Adds a part to a sum, whose source is empty before the first; without a figure of one part there
/// is none of the sum, for the reason of the first such part.
void add_figure(power::energy_figure& to, const power::energy_figure& part) {
  if (!to.reason.empty()) return;
  if (!part.available() || to.source.empty()) {
    to = part;
    return;
  }
  to.energy += part.energy;
  if (to.source.find(part.source) == std::string::npos) to.source += ", " + part.source;
}

power::energy_figure figure_of(const rank_figures& rank, std::size_t number) {
  if (rank.where_from() != energy_origin::unavailable) {
    return {units::joules{rank.joules}, rank.where_from(), rank.source, ""};
  }
  return {power::no_joules, energy_origin::unavailable, "",
          fmt::format("rank {} on {}: {}", number, rank.host, rank.reason)};
}

std::string parts_text(const total_energy& total) {
  const bool machines = total.figure.origin == energy_origin::measured;
  const char* const one = machines ? "machine" : "rank";
  std::string text = total.parts == 1 ? fmt::format("of one {}", one)
                                      : fmt::format("the sum of {} {}s", total.parts, one);
  return machines ? text + " with all processes there" : text;
}

}  // namespace

void add_reading(rank_figures& to, const power::meter_reading& run) {
  to.cpu_seconds += run.cpu.value;
  if (!to.reads || !to.reason.empty()) return;
  if (!run.energy.available()) {
    to.origin = static_cast<unsigned char>(energy_origin::unavailable);
    to.joules = power::no_joules.value;
    to.source.clear();
    to.reason = run.energy.reason;
    return;
  }
  const bool is_first = to.where_from() == energy_origin::unavailable;
  to.joules = run.energy.energy.value + (is_first ? 0 : to.joules);
  to.origin = static_cast<unsigned char>(run.energy.origin);
  to.source = run.energy.source;
}

total_energy total_of(const std::vector<rank_figures>& ranks) {
  total_energy made;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    made.cpu_seconds += ranks[i].cpu_seconds;
    if (!ranks[i].reads) continue;
    add_figure(made.figure, figure_of(ranks[i], i));
    ++made.parts;
  }
  return made;
}

std::string to_text(const total_energy& total) {
  const power::energy_figure& figure = total.figure;
  if (!figure.available()) return fmt::format("unavailable: {}", figure.reason);
  return fmt::format("{:.4g} J {} ({}), {}", figure.energy.value, to_string(figure.origin),
                     figure.source, parts_text(total));
}

}  // namespace creek::tool::dense
