// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <creek/core/version.hpp>
#include <creek/linalg/blas3.hpp>
#include <creek/linalg/blas_library.hpp>
#include <creek/linalg/refine.hpp>
#include <support/median.hpp>

#include "flops.hpp"
#include "json/json_value.hpp"
#include "output/energy.hpp"

namespace creek::tool::dense {
namespace {

using json = json_value;

// Raised when a member of the JSON changes its meaning or is removed; new members do not raise it.
constexpr int report_schema = 1;

/// Returns whether the routine completed; if the matrix stopped it, its time means nothing.
bool was_completed(const report& found) noexcept {
  return found.info == 0 || found.what.goes_on_when_singular();
}

double rate(double flops, double seconds) noexcept {
  return seconds > 0 ? flops / seconds * 1e-9 : 0;
}

/// Returns GFLOP/s; the fastest run is the shortest.
spread rates(double flops, const std::vector<double>& seconds) {
  const spread time = spread_of(seconds);
  return {rate(flops, time.median), rate(flops, time.max), rate(flops, time.min)};
}

spread own_rates(const report& found) {
  return rates(flops_of(found.what), found.seconds);
}

spread gemm_rates(const report& found) {
  return rates(gemm_flops(found.what.gemm_size(), is_complex(found.what.type)), found.gemm_seconds);
}

/// Returns whether there is a rate; an empty matrix needs no operations.
bool has_rate(const report& found) {
  return was_completed(found) && flops_of(found.what) > 0;
}

/// Returns the share of gemm's rate, or nullopt if there is nothing to compare.
std::optional<double> share(const report& found) {
  const double gemm = gemm_rates(found).median;
  const double own = own_rates(found).median;
  if (!was_completed(found) || gemm <= 0 || own <= 0) return std::nullopt;
  return own / gemm;
}

std::string seconds_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.1f} us", seconds * 1e6);
  return seconds < 1 ? fmt::format("{:.2f} ms", seconds * 1e3) : fmt::format("{:.3f} s", seconds);
}

std::string name_of(const problem& what) {
  std::string name = what.how == method::lu     ? "LU factorization"
                     : what.how == method::chol ? "Cholesky factorization"
                                                : "QR factorization";
  if (what.solves) {
    const bool exactly = what.how != method::qr || what.rows == what.cols;
    name = (exactly ? "solution by " : "least squares by ") + name;
  }
  if (what.how == method::lu) {
    name += what.pivots == pivoting::none
                ? " without pivoting"
                : fmt::format(" with {} pivoting", to_string(what.pivots));
  }
  if (what.layout == form::column) return name;
  name += ", by blocks";
  return what.how == method::qr ? fmt::format("{}, {} tree", name, to_string(what.tree)) : name;
}

/// Returns the meaning of info for this method, or an empty text for 0.
std::string info_text(const report& found) {
  const auto i = found.info;
  if (i == 0) return {};
  switch (found.what.how) {
    case method::lu:
      return fmt::format("singular: U({},{}) is exactly zero", i, i);
    case method::chol:
      return fmt::format("not positive definite: the leading block of order {} is not", i);
    case method::qr:
      return fmt::format("rank deficient: R({},{}) is exactly zero", i, i);
  }
  return {};
}

void print_line(const char* label, const std::string& text) {
  fmt::print("{:<11}{}\n", label, text);
}

void print_times(const report& found) {
  const spread time = spread_of(found.seconds);
  const auto count = found.seconds.size();
  std::string text = seconds_text(time.median);
  if (count > 1) {
    text += fmt::format(", median of {} runs, {} .. {}", count, seconds_text(time.min),
                        seconds_text(time.max));
  }
  print_line("time", text);
  if (!was_completed(found)) return;
  if (!has_rate(found)) {
    print_line("rate", "none, an empty matrix takes no operations");
    return;
  }
  const spread own = own_rates(found);
  text = fmt::format("{:.4g} GFLOP/s", own.median);
  if (count > 1) text += fmt::format(" ({:.4g} .. {:.4g})", own.min, own.max);
  if (const auto part = share(found)) {
    text += fmt::format(", {:.1f} % of gemm's {:.4g} at n = {}", 100 * *part,
                        gemm_rates(found).median, found.what.gemm_size());
  }
  print_line("rate", text);
}

/// Returns why factors in float could not be used; empty if they were, or not asked for.
std::string fallback_text(const report& found) {
  using linalg::mixed_result;
  switch (found.corrections.value_or(0)) {
    case mixed_result::overflow:
      return "a number is too large for float";
    case mixed_result::factorization:
      return "there is no factorization in float";
    case mixed_result::convergence:
      return "corrections do not converge";
    default:
      return {};
  }
}

void print_refinement(const report& found) {
  if (!found.corrections) return;
  const std::string why = fallback_text(found);
  const int count = *found.corrections;
  print_line("refine", fmt::format("{}: {}", to_string(found.what.refine),
                                   !why.empty() ? "fell back to double, " + why
                                   : count == 1 ? "1 correction"
                                                : fmt::format("{} corrections", count)));
}

/// Returns how many workers were busy on average; for few workers also each number's duration.
std::string activity_text(const report& found) {
  const std::vector<double>& shares = found.activity;
  double mean = 0;
  for (std::size_t busy = 0; busy < shares.size(); ++busy) {
    mean += static_cast<double>(busy) * shares[busy];
  }
  std::string text = fmt::format("{:.2f} of {} workers on average, {} tasks", mean,
                                 shares.size() - 1, found.tasks);
  constexpr std::size_t few = 8;
  if (shares.size() > few + 1) {
    return text + fmt::format("; all of them {:.1f} % of the time", 100 * shares.back());
  }
  for (std::size_t busy = 0; busy < shares.size(); ++busy) {
    text += fmt::format("{} {} for {:.1f} %", busy == 0 ? ";" : ",", busy, 100 * shares[busy]);
  }
  return text;
}

void print_judgements(const report& found) {
  for (const judgement& one : found.judgements) {
    print_line("residual", fmt::format("{:.3g}, at most {:g}: {}   {}", one.value, one.threshold,
                                       one.passed() ? "pass" : "fail", one.formula));
  }
  if (found.rcond) {
    print_line("rcond", fmt::format("{:.2g}, estimate of 1 / (|{}| |{}^-1|)", *found.rcond,
                                    found.what.how == method::qr ? "R" : "A",
                                    found.what.how == method::qr ? "R" : "A"));
  }
}

/// Returns the library that computes whole products; empty if that is creek.
std::string blas_text() {
  const auto chosen = linalg::blas_in_use();
  return chosen ? fmt::format(" and {} {}", chosen->name, chosen->version) : "";
}

json spread_json(const spread& of) {
  return {{"median", of.median}, {"min", of.min}, {"max", of.max}};
}

json source_json(const std::string& file, const std::string& text, std::uint64_t seed) {
  json source = {{"description", text}};
  if (file.empty()) {
    source["seed"] = seed;
  } else {
    source["file"] = file;
  }
  return source;
}

json problem_json(const problem& what) {
  json all = {{"schema_version", report_schema},
              {"version", version()},
              {"command", what.command},
              {"method", to_string(what.how)},
              {"rows", what.rows},
              {"cols", what.cols},
              {"type", std::string(1, static_cast<char>(what.type))},
              {"matrix", source_json(what.input, what.matrix_source, what.seed)}};
  if (what.solves) {
    all["rhs"] = what.rhs;
    all["right_hand_sides"] = source_json(what.rhs_file, what.rhs_source, what.seed);
  }
  all["form"] = to_string(what.layout);
  if (what.how == method::lu) all["pivoting"] = to_string(what.pivots);
  if (what.how == method::qr && what.layout == form::blocks) all["tree"] = to_string(what.tree);
  all["block"] = what.block == 0 ? json(nullptr) : json(what.block);  // null: chosen by the size
  return all;
}

json number_or_null(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? json(*value) : json(nullptr);
}

json check_json(const report& found) {
  if (found.judgements.empty()) return nullptr;
  json residuals = json::array();
  for (const judgement& one : found.judgements) {
    residuals.push_back({{"formula", one.formula},
                         {"value", number_or_null(one.value)},
                         {"threshold", one.threshold},
                         {"passed", one.passed()}});
  }
  return {{"passed", std::ranges::all_of(found.judgements, &judgement::passed)},
          {"residuals", residuals}};
}

json refine_json(const report& found) {
  if (!found.corrections) return nullptr;
  const std::string why = fallback_text(found);
  return {{"precision", to_string(found.what.refine)},
          {"corrections", why.empty() ? json(*found.corrections) : json(nullptr)},
          {"fell_back", why.empty() ? json(nullptr) : json(why)}};
}

json outputs_json(const report& found) {
  json names = json::array();
  if (!failure(found).empty() || found.what.output.empty()) return names;
  const output_names outputs = outputs_of(found.what);
  names.push_back(outputs.matrix);
  if (!outputs.beside.empty()) names.push_back(outputs.beside);
  return names;
}

}  // namespace

spread spread_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  return {::bench::quantile(values, 0.5), values.front(), values.back()};
}

std::string failure(const report& found) {
  if (found.info != 0) return info_text(found);
  for (const judgement& one : found.judgements) {
    if (one.passed()) continue;
    return fmt::format("residual {:.3g} is not at most {:g}, the answer is wrong", one.value,
                       one.threshold);
  }
  return {};
}

void print_text(const report& found) {
  const problem& what = found.what;
  print_line(what.command.c_str(), name_of(what));
  print_line("matrix",
             fmt::format("{} x {} {} ({}): {}", what.rows, what.cols, to_string(what.type),
                         static_cast<char>(what.type), what.matrix_source));
  if (what.solves) print_line("rhs", fmt::format("{}: {}", what.rhs, what.rhs_source));
  print_line("workers",
             fmt::format("{} ({}), {}{}, block {}", found.workers, found.backend,
                         linalg::kernel_instructions(), blas_text(),
                         what.block == 0 ? "chosen by the size" : std::to_string(what.block)));
  print_times(found);
  if (found.info != 0) print_line("info", fmt::format("{}, {}", found.info, info_text(found)));
  if (!found.activity.empty()) print_line("activity", activity_text(found));
  print_refinement(found);
  print_judgements(found);
}

std::string to_json(const report& found) {
  json all = problem_json(found.what);
  all["workers"] = found.workers;
  all["backend"] = found.backend;
  all["instructions"] = linalg::kernel_instructions();
  const auto chosen = linalg::blas_in_use();
  all["blas"] = chosen ? json(chosen->path) : json(nullptr);
  json time = spread_json(spread_of(found.seconds));
  time["runs"] = found.seconds;
  all["seconds"] = time;
  all["flops"] = flops_of(found.what);
  all["gflops"] = has_rate(found) ? spread_json(own_rates(found)) : json(nullptr);
  json gemm = spread_json(gemm_rates(found));
  gemm["n"] = found.what.gemm_size();
  all["gemm_gflops"] = gemm;
  const auto part = share(found);
  all["share_of_gemm"] = part ? json(*part) : json(nullptr);
  all["tasks"] = found.tasks;
  all["activity"] = found.activity.empty() ? json(nullptr) : json(found.activity);
  all["info"] = found.info;
  const std::string why = failure(found);
  all["failure"] = why.empty() ? json(nullptr) : json(why);
  if (found.what.solves) {
    all["refine"] = refine_json(found);
    all["rcond"] = number_or_null(found.rcond);
  }
  all["check"] = check_json(found);
  all["output"] = outputs_json(found);
  return with_energy(std::move(all)).dump(2);
}

}  // namespace creek::tool::dense
