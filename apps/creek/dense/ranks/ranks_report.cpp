// SPDX-License-Identifier: Apache-2.0
#include "ranks_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <creek/core/version.hpp>
#include <creek/linalg/residual.hpp>

#include "dense/flops.hpp"
#include "dense/report.hpp"
#include "json/json_value.hpp"

namespace creek::tool::dense {
namespace {

using json = json_value;

double gflops(const ranks_report& found) {
  const double time = spread_of(found.seconds).median;
  const double flops = factoring(found.how, found.n, found.n).flops(false);
  return found.info == 0 && time > 0 ? flops / time * 1e-9 : 0;
}

std::string plural(std::size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

unsigned workers_of(const ranks_report& found) {
  unsigned sum = 0;
  for (const rank_figures& each : found.ranks) sum += each.workers;
  return sum;
}

void print_times(const ranks_report& found) {
  const spread time = spread_of(found.seconds);
  fmt::print("time            {:.5g} s", time.median);
  if (found.seconds.size() > 1) {
    fmt::print(", median of {} runs, {:.5g} .. {:.5g}", found.seconds.size(), time.min, time.max);
  }
  if (const double rate = gflops(found); rate > 0) fmt::print(", {:.4g} GFLOP/s", rate);
  fmt::print("\n");
}

void print_clocks(const ranks_report& found) {
  const auto fails = [](const rank_figures& each) { return !each.clocks.empty(); };
  const auto first = std::find_if(found.ranks.begin(), found.ranks.end(), fails);
  if (first == found.ranks.end()) return;
  fmt::print("clocks          not controlled on {} of {}; rank {} on {}: {}\n",
             std::count_if(found.ranks.begin(), found.ranks.end(), fails),
             plural(found.ranks.size(), "rank"), first - found.ranks.begin(), first->host,
             first->clocks);
}

json number_or_null(double value) {
  return std::isfinite(value) ? json(value) : json(nullptr);
}
json text_or_null(const std::string& text) {
  return text.empty() ? json(nullptr) : json(text);
}

json rank_json(const rank_figures& rank) {
  const bool has_figure = rank.where_from() != energy_origin::unavailable;
  return {{"host", rank.host},
          {"workers", rank.workers},
          {"cpu_seconds", rank.cpu_seconds},
          {"joules", has_figure ? number_or_null(rank.joules) : json(nullptr)},
          {"reason", text_or_null(rank.reason)},
          {"clocks", text_or_null(rank.clocks)}};
}

json energy_json(const total_energy& total) {
  const power::energy_figure& figure = total.figure;
  const bool measured = figure.origin == energy_origin::measured;
  return {{"origin", to_string(figure.origin)},
          {"source", text_or_null(figure.source)},
          {"joules", number_or_null(figure.energy.value)},
          {"sum_of", !figure.available() ? json(nullptr) : json(measured ? "machines" : "ranks")},
          {"parts", figure.available() ? json(total.parts) : json(nullptr)},
          {"cpu_seconds", total.cpu_seconds},
          {"reason", text_or_null(figure.reason)}};
}

}  // namespace

std::string failure(const ranks_report& found) {
  if (found.info != 0) {
    return fmt::format("the matrix is singular or not positive definite (info {})", found.info);
  }
  if (!found.residual || linalg::passes(*found.residual)) return {};
  return fmt::format("residual {:.3g} is not at most {:g}, the answer is wrong", *found.residual,
                     linalg::lapack_threshold);
}

void print_text(const ranks_report& found) {
  fmt::print("{} of order {} in blocks of {}, {}, {}, {}\n", found.command, found.n, found.block,
             plural(found.ranks.size(), "rank"), plural(workers_of(found), "worker"),
             found.policy.empty() ? "no policy" : "policy " + found.policy);
  print_times(found);
  const total_energy total = total_of(found.ranks);
  fmt::print("energy          {}\n", to_text(total));
  fmt::print("CPU time        {:.4g} s, the sum of {}\n", total.cpu_seconds,
             plural(found.ranks.size(), "rank"));
  print_clocks(found);
  if (found.residual) fmt::print("residual        {:.3g}, scaled\n", *found.residual);
}

std::string to_json(const ranks_report& found) {
  json ranks = json::array();
  for (const rank_figures& each : found.ranks) ranks.push_back(rank_json(each));
  const spread time = spread_of(found.seconds);
  const double rate = gflops(found);
  const json whole{
      {"schema_version", 1},
      {"command", found.command},
      {"version", version()},
      {"backend", "mpi"},
      {"n", found.n},
      {"block", found.block},
      {"policy", text_or_null(found.policy)},
      {"workers", workers_of(found)},
      {"seconds",
       {{"median", time.median}, {"min", time.min}, {"max", time.max}, {"runs", found.seconds}}},
      {"gflops", rate > 0 ? json(rate) : json(nullptr)},
      {"energy", energy_json(total_of(found.ranks))},
      {"ranks", ranks},
      {"info", found.info},
      {"residual", found.residual ? number_or_null(*found.residual) : json(nullptr)}};
  return whole.dump(2);
}

}  // namespace creek::tool::dense
