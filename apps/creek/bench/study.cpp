// SPDX-License-Identifier: Apache-2.0
#include "study.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include <creek/core/error.hpp>
#include <creek/tasking/options.hpp>

#include "options/distinct.hpp"
#include "output/output_file.hpp"
#include "output/progress_line.hpp"
#include "report.hpp"

namespace creek::tool::bench {
namespace {

const char* name_of(size_class size) {
  return size == size_class::full ? "full" : size == size_class::quick ? "quick" : "smoke";
}

plan make_plan(const bench_options& o, const surroundings& around, progress_line& line) {
  plan how;
  how.size = o.quick ? size_class::quick : o.size;
  how.sizes = o.sizes;
  how.workers = o.workers;
  if (o.workers.empty()) {
    how.workers = {around.cpus};
    if (o.one_worker_too && around.cpus > 1) how.workers.insert(how.workers.begin(), 1);
  }
  how.rounds = o.rounds > 0 ? o.rounds : how.size == size_class::full ? 5 : 3;
  how.limit = std::chrono::seconds(o.limit_s);
  how.progress = [&line](const std::string& text) { line.show(text); };
  return how;
}

/// Requires all names to be known, so that a typo does not look like an empty result.
template <class Known>
void require_known(const std::vector<std::string>& names, const Known& is_known, const char* what) {
  for (const auto& name : names) {
    if (!is_known(name))
      throw creek::usage_error(std::string("unknown ") + what + " '" + name + "'");
  }
}

bool chosen(const std::vector<std::string>& names, const std::string& name) {
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

void check_names(const bench_options& o, const catalogue& found) {
  require_known(
      o.workloads, [&](const auto& name) { return found.workloads.contains(name); }, "workload");
  require_known(
      o.peers,
      [&](const auto& name) {
        const auto same = [&](const auto& p) { return p.name == name; };
        return std::any_of(found.peers.begin(), found.peers.end(), same) ||
               std::any_of(found.missing.begin(), found.missing.end(), same);
      },
      "peer");
}

/// Returns creek's settings. Checks them here, so that a wrong one is bad usage, not a failed peer.
std::vector<std::string> creek_settings(const bench_options& o) {
  std::vector<std::string> options;
  const auto add = [&](const char* option, const std::string& value, const auto& parse) {
    if (value.empty()) return;
    parse(value);
    options.insert(options.end(), {option, value});
  };
  add("--scheduler", o.scheduler, creek::parse_scheduler);
  add("--deque", o.deque, creek::parse_deque);
  add("--idle", o.idle, creek::parse_idle);
  return options;
}

void measure_limits(const bench_options& o, const catalogue& found, const plan& how, report& r) {
  if (!found.machine) {
    const auto has_bounds = [](const auto& each) { return !each.second.bounds.empty(); };
    if (std::any_of(found.workloads.begin(), found.workloads.end(), has_bounds)) {
      r.missing.push_back({"machine", "the limits: build the target bench_limits"});
    }
    return;
  }
  const auto bounds_what_is_chosen = [&](const std::string& limit) {
    return std::any_of(found.workloads.begin(), found.workloads.end(), [&](const auto& each) {
      const auto& bounds = each.second.bounds;
      return chosen(o.workloads, each.first) &&
             std::find(bounds.begin(), bounds.end(), limit) != bounds.end();
    });
  };
  for (const auto& [name, w] : found.workloads) {
    if (!w.limit || !(chosen(o.workloads, name) || bounds_what_is_chosen(name))) continue;
    plan here = how;
    if (!w.all_workers) here.workers = {w.min_workers};
    for (auto& s : compare(w, sizes_of(w, here).front(), {{"machine", *found.machine}}, here)) {
      r.limits.push_back(std::move(s));
      r.limit_workloads.push_back(w);
    }
  }
}

void measure_workloads(const bench_options& o, const catalogue& found, const plan& how, report& r) {
  std::vector<contestant> contestants;
  for (const auto& p : found.peers) {
    if (!chosen(o.peers, p.name)) continue;
    contestants.push_back(
        {p.name, p, p.name == "creek" ? creek_settings(o) : std::vector<std::string>{}});
  }
  for (const auto& [name, w] : found.workloads) {
    if (w.limit || !chosen(o.workloads, name)) continue;
    for (const std::int64_t n : sizes_of(w, how)) {
      comparison c{w, n, compare(w, n, contestants, how)};
      if (!c.results.empty()) r.comparisons.push_back(std::move(c));
    }
  }
  for (const auto& m : found.missing) {
    if (chosen(o.peers, m.name)) r.missing.push_back(m);
  }
}

/// Measures all schedulers with both deques, on fib.
void measure_schedulers(const catalogue& found, const plan& how, report& r) {
  const auto creek = std::find_if(found.peers.begin(), found.peers.end(),
                                  [](const peer& p) { return p.name == "creek"; });
  const auto fib = found.workloads.find("fib");
  if (creek == found.peers.end() || fib == found.workloads.end()) return;
  std::vector<contestant> contestants;
  for (const auto scheduler :
       {creek::scheduler_kind::stealing_random, creek::scheduler_kind::stealing_last_victim,
        creek::scheduler_kind::stealing_latency, creek::scheduler_kind::sharing}) {
    for (const auto deque : {creek::deque_kind::host, creek::deque_kind::mpb}) {
      const std::string s(to_string(scheduler));
      const std::string d(to_string(deque));
      contestants.push_back({s + ", " + d + " deque", *creek, {"--scheduler", s, "--deque", d}});
    }
  }
  const std::int64_t n = sizes_of(fib->second, how).front();
  r.schedulers.push_back({fib->second, n, compare(fib->second, n, contestants, how)});
}

bool anything_failed(const report& r) {
  const auto failed = [](const comparison& c) {
    return std::any_of(c.results.begin(), c.results.end(),
                       [](const series& s) { return !s.failure.empty() && !s.unmeasurable; });
  };
  return std::any_of(r.comparisons.begin(), r.comparisons.end(), failed) ||
         std::any_of(r.schedulers.begin(), r.schedulers.end(), failed);
}

}  // namespace

int run_study(const bench_options& o, part which) {
  require_distinct("--workers", o.workers);
  require_distinct("-n", o.sizes);
  creek_settings(o);
  const auto limit = std::chrono::seconds(o.limit_s);
  const catalogue found = find_peers(o.folder, limit, o.group);
  check_names(o, found);
  output_file json(o.json);
  report r;
  r.around = look_around();
  r.command = which == part::schedulers ? "schedulers"
              : o.group == "sections"   ? "invoke"  // --sections
                                        : o.group;
  {
    progress_line line;
    plan how = make_plan(o, r.around, line);
    r.size = name_of(how.size);
    r.rounds = how.rounds;
    r.grain = how.grain = calibrate_grain(found, how);
    if (which != part::schedulers) {
      measure_limits(o, found, how, r);
      measure_workloads(o, found, how, r);
    }
    if (which != part::workloads) measure_schedulers(found, how, r);
  }
  json.write(to_json(r));
  if (!o.svg.empty()) write_charts(r, o.svg);
  print_report(r, stdout);
  return anything_failed(r) ? 1 : 0;
}

}  // namespace creek::tool::bench
