// SPDX-License-Identifier: Apache-2.0
// Builds the panels of a comparison.
#include <fmt/format.h>

#include "activity_classes.hpp"
#include "output/drawing.hpp"
#include "report.hpp"

namespace creek::tool::compare {
namespace {

void add_differences(metric what, const study& of, const std::string& size, drawing& to) {
  range_panel panel{.title = fmt::format("{}{}", size, title_of(what, of)),
                    .axis = fmt::format("% more than {}{}", of.policies.front().policy,
                                        of.facts.simulated ? ", exact" : ", 95 % intervals"),
                    .marks = {}};
  for (std::size_t i = 1; i < of.policies.size(); ++i) {
    const auto than = difference_of(what, of, i);
    if (!than) continue;
    range_mark mark{.label = of.policies[i].policy,
                    .value = 100 * than->estimate,
                    .text = fmt::format("{:+.2f} %", 100 * than->estimate)};
    if (than->range) {
      mark.low = 100 * than->range->low;
      mark.high = 100 * than->range->high;
      mark.text += fmt::format("  ({:+.2f} .. {:+.2f})", mark.low, mark.high);
    } else {
      mark.low = mark.high = mark.value;
    }
    panel.marks.push_back(std::move(mark));
  }
  if (!panel.marks.empty()) to.add(panel);
}

void add_activity(const study& of, const std::string& size, drawing& to) {
  stacked_panel panel{.title = size + "workers in tasks",
                      .axis = "% of the time from the first task to the last",
                      .parts = {},
                      .bars = {}};
  const auto classes = activity_classes(of.facts.workers);
  for (const activity_class& each : classes) panel.parts.push_back(each.label);
  for (const policy_runs& each : of.policies) {
    const std::vector<double> shares = mean_activity(each);
    if (shares.empty()) return;
    stacked_bar bar{.label = each.policy, .shares = {}};
    for (const activity_class& one : classes) bar.shares.push_back(share_of(one, shares));
    panel.bars.push_back(std::move(bar));
  }
  to.add(panel);
}

void add_energy(const study& of, const std::string& size, drawing& to) {
  line_panel panel{
      .title = fmt::format("{}energy over time, one run ({})", size, energy_source(of)),
      .x_axis = of.facts.simulated ? "simulated milliseconds" : "milliseconds",
      .y_axis = "J",
      .lines = {}};
  for (const policy_runs& each : of.policies) {
    if (!each.traced || each.traced->power.empty()) continue;
    line made{.label = each.policy, .points = {}};
    const std::vector<energy_point>& all = each.traced->power;
    const std::size_t step = all.size() / 400 + 1;  // more would not be visible
    const auto add = [&](const energy_point& point) {
      made.points.emplace_back(1e3 * point.seconds, point.joules);
    };
    for (std::size_t i = 0; i + 1 < all.size(); i += step) add(all[i]);
    add(all.back());
    panel.lines.push_back(std::move(made));
  }
  if (!panel.lines.empty()) to.add(panel);
}

}  // namespace

std::string draw(const setup& given, const std::vector<study>& studies) {
  const study& first = studies.front();
  drawing to(fmt::format("Power policies on {}", given.name),
             fmt::format("{}; {}", first.facts.machine,
                         first.facts.simulated ? "simulated, exact"
                                               : fmt::format("{} runs per policy", given.runs)));
  for (const study& of : studies) {
    const std::string size = fmt::format("n = {}: ", of.n);
    const bool has_energy = why_no_energy(of).empty();
    for (const metric what : metrics) {
      if (has_energy || !facts_of(what).of_energy) add_differences(what, of, size, to);
    }
    add_activity(of, size, to);
    if (has_energy) add_energy(of, size, to);
  }
  return to.svg();
}

}  // namespace creek::tool::compare
