// SPDX-License-Identifier: Apache-2.0
#include <creek/core/version.hpp>

#include "json/json_value.hpp"
#include "output/energy.hpp"
#include "report.hpp"

namespace creek::tool::compare {
namespace {

using json = json_value;

// Raised when a member changes its meaning or is removed; new members do not raise it.
constexpr int schema = 1;

json difference_json(const std::optional<difference>& of, bool simulated) {
  if (!of) return nullptr;
  json all = {{"relative", of->estimate}};
  if (simulated) {
    all["exact"] = true;
    return all;
  }
  all["interval"] = nullptr;
  if (of->range) {
    all["interval"] = {{"low", of->range->low},
                       {"high", of->range->high},
                       {"confidence", of->range->confidence},
                       {"excludes_zero", of->range->excludes_zero()}};
  }
  return all;
}

json metric_json(metric what, const study& of, std::size_t policy) {
  const std::vector<double> values = values_of(what, of.policies[policy]);
  if (values.empty()) return nullptr;
  const bool simulated = of.facts.simulated;
  json all;
  if (simulated) {
    all["value"] = values.front();
  } else {
    const summary found = summary_of(values);
    all = {{"median", found.median},
           {"min", found.min},
           {"max", found.max},
           {"spread", found.spread},
           {"runs", values}};
  }
  all["difference"] = difference_json(difference_of(what, of, policy), simulated);
  return all;
}

json energy_json(const study& of) {
  const measured_run& first = of.policies.front().runs.front();
  const std::string why = why_no_energy(of);
  const energy_origin origin = why.empty() ? first.origin : energy_origin::unavailable;
  return {{"origin", to_string(origin)},
          {"source", why.empty() ? json(first.source) : json(nullptr)},
          {"reason", why.empty() ? json(nullptr) : json(why)}};
}

json policy_json(const study& of, std::size_t place) {
  const policy_runs& each = of.policies[place];
  json all = {{"policy", each.policy}};
  for (const metric what : metrics) {
    const metric_facts& facts = facts_of(what);
    all[of.facts.simulated ? facts.simulated_name : facts.name] = metric_json(what, of, place);
  }
  const std::vector<double> activity = mean_activity(each);
  all["activity"] = activity.empty() ? json(nullptr) : json(activity);
  all["tasks"] = each.runs.back().tasks;
  const std::string& control = each.runs.front().control;
  all["without_control"] = control.empty() ? json(nullptr) : json(control);
  return all;
}

json study_json(const study& of) {
  json policies = json::array();
  for (std::size_t i = 0; i < of.policies.size(); ++i) policies.push_back(policy_json(of, i));
  return {{"n", of.n},
          {"about", of.about},
          {"backend", of.facts.name},
          {"simulated", of.facts.simulated},
          {"machine", of.facts.machine},
          {"workers", of.facts.workers},
          {"energy", energy_json(of)},
          {"order", of.order},
          {"policies", policies}};
}

}  // namespace

std::string to_json(const setup& given, const std::vector<study>& studies) {
  json all = {{"schema_version", schema},
              {"version", version()},
              {"command", "compare"},
              {"problem", given.name},
              {"baseline", given.policies.front()},
              {"method",
               "median of Walsh averages of relative differences; interval of Wilcoxon's signed "
               "rank test, exact"},
              {"seed", given.seed},
              {"runs", studies.front().policies.front().runs.size()},
              {"warmup", studies.front().facts.simulated ? 0 : given.warmup},
              {"sizes", json::array()}};
  for (const study& of : studies) all["sizes"].push_back(study_json(of));
  return with_energy(std::move(all)).dump(2);
}

}  // namespace creek::tool::compare
