// SPDX-License-Identifier: Apache-2.0
// Charts of a report: one per workload, and one of creek and the best other contestant.
#include <fmt/format.h>

#include "output/counted.hpp"
#include "output/drawing.hpp"
#include "output/folder_output.hpp"
#include "report.hpp"

namespace creek::tool::bench {
namespace {

bar_group group_of(const comparison& c, unsigned workers, const std::string& headed) {
  bar_group group{.heading = headed, .bars = {}};
  for (const auto& label : labels_of({c})) {
    const series* s = find_series(c.results, label, workers);
    if (s == nullptr || !s->ok()) continue;
    group.bars.push_back(
        {label, s->median(), short_number(s->median()) + " " + c.what.unit, label == "creek"});
  }
  return group;
}

/// Returns the chart of one workload at all its sizes.
bar_chart chart_of(const std::vector<comparison>& sizes, const std::string& subtitle) {
  const workload& w = sizes.front().what;
  bar_chart chart{.title = w.name + ": " + w.about,
                  .subtitle = subtitle,
                  .axis = w.unit + ", median" + (w.rate ? "" : ", less is better"),
                  .groups = {}};
  for (const auto& c : sizes) {
    const std::string size = sizes.size() > 1 ? fmt::format("n = {}, ", c.n) : "";
    for (const unsigned workers : workers_of(c.results)) {
      chart.groups.push_back(group_of(c, workers, size + counted(workers, "worker")));
    }
  }
  return chart;
}

bar_chart chart_of_ratios(const report& r, const std::string& subtitle) {
  bar_chart chart{.title = "The fastest other library, relative to creek",
                  .subtitle = subtitle,
                  .axis = "how many times faster creek is; above 1 creek is faster",
                  .groups = {}};
  for (const auto& c : r.comparisons) {
    const bool several = c.what.full.size() > 1;
    bar_group group{.heading = several ? fmt::format("{} {}", c.what.name, c.n) : c.what.name,
                    .bars = {}};
    for (const unsigned workers : workers_of(c.results)) {
      const series* creek = find_series(c.results, "creek", workers);
      const series* best = best_peer(c, workers);
      if (creek == nullptr || !creek->ok() || best == nullptr || creek->median() <= 0) continue;
      const double times = advantage(c.what, *creek, *best);
      group.bars.push_back({counted(workers, "worker"), times,
                            short_number(times) + "x " + best->label, times >= 1});
    }
    if (!group.bars.empty()) chart.groups.push_back(std::move(group));
  }
  return chart;
}

}  // namespace

void write_charts(const report& r, const std::string& folder) {
  folder_output charts(folder);
  const std::string subtitle = fmt::format("{}, {} processors, {} sizes, {} rounds", r.around.cpu,
                                           r.around.cpus, r.size, r.rounds);
  for (const auto& sizes : by_workload(r.comparisons)) {
    charts.write(sizes.front().what.name + ".svg", draw(chart_of(sizes, subtitle)));
  }
  for (const auto& c : r.schedulers) charts.write("schedulers.svg", draw(chart_of({c}, subtitle)));
  const bar_chart ratios = chart_of_ratios(r, subtitle);
  if (!ratios.groups.empty()) charts.write("ratios.svg", draw(ratios));
  charts.commit();
}

}  // namespace creek::tool::bench
