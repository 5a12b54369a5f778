// SPDX-License-Identifier: Apache-2.0
// The machine-readable report, described by docs/schemas/bench-peers.json. A change that breaks
// readers raises `schema_version`.

#include "json/json_value.hpp"
#include "report.hpp"

#include "output/energy.hpp"

namespace creek::tool::bench {
namespace {

using json = json_value;

json describe(const workload& w) {
  return {{"workload", w.name}, {"about", w.about}, {"unit", w.unit}};
}

json describe(const series& s, const series* base) {
  json result{{"peer", s.label}, {"version", s.version}, {"workers", s.workers}, {"n", s.n}};
  if (!s.ok()) {
    result["failure"] = s.failure;
    return result;
  }
  result.update({{"work", s.work},
                 {"runs", s.figures.size()},
                 {"median", s.median()},
                 {"min", s.min()},
                 {"max", s.max()},
                 {"spread", s.spread()},
                 {"answer", s.answer},
                 {"figures", s.figures}});
  if (base != nullptr && base->median() > 0) result["ratio"] = ratio(s, *base);
  return result;
}

/// Adds the best and the first call of a workload of calls.
void add_calls(json& result, const workload& w, const series& s) {
  if (!w.calls || !s.ok()) return;
  result["best_call"] = best_call(w, s);
  result["first_call"] = first_call(s);
  result["first_calls"] = s.first_calls;
}

/// Returns per number of workers the fastest contestant but creek, and creek's advantage over it.
json best_others(const comparison& c) {
  json list = json::array();
  for (const unsigned workers : workers_of(c.results)) {
    const series* creek = find_series(c.results, "creek", workers);
    const series* best = best_peer(c, workers);
    if (creek == nullptr || !creek->ok() || best == nullptr || creek->median() <= 0) continue;
    list.push_back({{"workers", workers},
                    {"peer", best->label},
                    {"creek_faster_by", advantage(c.what, *creek, *best)}});
  }
  return list;
}

json describe(const report& r, const std::vector<comparison>& all) {
  json list = json::array();
  for (const auto& c : all) {
    json entry = describe(c.what);
    entry["n"] = c.n;
    if (!c.what.bounds.empty()) entry["bounds"] = c.what.bounds;
    if (!c.what.share_of.empty()) entry["share_of"] = c.what.share_of;
    entry["results"] = json::array();
    for (const auto& s : c.results) {
      json result = describe(s, base_of(c.results, s.workers));
      add_calls(result, c.what, s);
      if (const double part = share(r, c, s); part > 0) result["share"] = part;
      entry["results"].push_back(std::move(result));
    }
    entry["best_other"] = best_others(c);
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace

json describe(const surroundings& a) {
  json git = nullptr;
  if (!a.commit.empty()) git = {{"commit", a.commit}, {"modified", a.modified}};
  return {{"cpu", a.cpu}, {"cpus", a.cpus}, {"kernel", a.kernel}, {"load", a.load}, {"git", git}};
}

std::string to_json(const report& r) {
  json whole{{"schema_version", 3}, {"command", "bench " + r.command},
             {"size", r.size},      {"rounds", r.rounds},
             {"grain", r.grain},    {"machine", describe(r.around)}};
  whole["limits"] = json::array();
  for (std::size_t i = 0; i < r.limits.size(); ++i) {
    json entry = describe(r.limit_workloads[i]);
    entry.update(describe(r.limits[i], nullptr));
    whole["limits"].push_back(std::move(entry));
  }
  whole["workloads"] = describe(r, r.comparisons);
  whole["schedulers"] = describe(r, r.schedulers);
  whole["missing"] = json::array();
  for (const auto& m : r.missing) whole["missing"].push_back({{"peer", m.name}, {"how", m.how}});
  return with_energy(whole).dump(2) + "\n";
}

}  // namespace creek::tool::bench
