// SPDX-License-Identifier: Apache-2.0
// Prints the results of `creek wordcount`.
#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <creek/core/version.hpp>
#include <utility>

#include "jobs/byte_text.hpp"
#include "output/counted.hpp"

namespace creek::tool {
namespace {

using json = json_value;

// Raised when a member of the JSON changes its meaning or is removed; new members do not raise it.
constexpr int report_schema = 1;

double milliseconds(exact_time t) {
  return 1e3 * t.in_seconds().value;
}

void print_simulated(std::FILE* to, const wordcount_report& report) {
  const simulated_count& on = *report.simulated;
  fmt::print(
      to, "simulated chip {}, {}, seed {}: {:.3f} ms virtual time, {:.3f} mJ, {} sent{}{}\n\n",
      on.chip, counted(on.cores, "core"), on.seed, milliseconds(on.length), 1e3 * on.energy.value,
      bytes_text(on.sent_bytes), report.combined ? "" : ", without combiner",
      on.cycles_a_host_second > 0 ? ", computing measured" : "");
  fmt::print(to, "stage (virtual ms)    longest     median   shortest   mJ of cores\n");
  for (std::size_t i = 0; i < mapreduce::stage_count; ++i) {
    const stage_use& span = on.stages[i];
    if (span.longest == exact_time{}) continue;
    fmt::print(to, "{:<18} {:>10.3f} {:>10.3f} {:>10.3f} {:>13.3f}\n", mapreduce::stage_names[i],
               milliseconds(span.longest), milliseconds(span.median), milliseconds(span.shortest),
               1e3 * span.energy.value);
  }
}

json simulated_json(const simulated_count& on) {
  json stages = json::object();
  for (std::size_t i = 0; i < mapreduce::stage_count; ++i) {
    const stage_use& span = on.stages[i];
    stages[mapreduce::stage_names[i]] = {{"longest", milliseconds(span.longest)},
                                         {"median", milliseconds(span.median)},
                                         {"shortest", milliseconds(span.shortest)},
                                         {"joules", span.energy.value}};
  }
  json all = {{"chip", on.chip},
              {"cores", on.cores},
              {"seed", on.seed},
              {"clock", on.cycles_a_host_second > 0 ? "measured" : "charged"},
              {"virtual_ms", milliseconds(on.length)},
              {"joules", on.energy.value},
              {"stages_virtual_ms", stages},
              {"sent_bytes", on.sent_bytes}};
  if (on.cycles_a_host_second > 0) all["cycles_a_host_second"] = on.cycles_a_host_second;
  return all;
}

void print_top(std::FILE* to, const wordcount_report& report) {
  if (report.top.empty()) return;
  const auto width = static_cast<int>(fmt::formatted_size("{}", report.top.front().value));
  fmt::print(to, "\n");
  for (const word_record& word : report.top) {
    fmt::print(to, "{:>{}}  {}\n", word.value, std::max(width, 8), printable(word.key));
  }
}

json top_json(const wordcount_report& report) {
  json top = json::array();
  for (const word_record& word : report.top) {
    json line;
    add_text(line, "word", word.key);
    line["count"] = word.value;
    top.push_back(std::move(line));
  }
  return top;
}

}  // namespace

void print_text(std::FILE* to, const wordcount_report& report) {
  fmt::print(to, "{} words, {} different, {}\n", report.words, report.distinct,
             input_text(report.run, " of text"));
  if (report.simulated) {
    print_simulated(to, report);
  } else {
    print_run(to, report.run);
  }
  if (report.run.ranks != 0) {
    fmt::print(to, "{}, {} sent\n", counted(report.run.ranks, "rank"),
               bytes_text(report.sent_bytes));
  }
  print_top(to, report);
}

std::string to_json(const wordcount_report& report) {
  if (report.simulated) {
    return dump({{"schema_version", report_schema},
                 {"command", "wordcount"},
                 {"version", version()},
                 {"backend", report.run.backend},
                 {"combine", report.combined},
                 {"files", report.run.files},
                 {"skipped", report.run.skipped},
                 {"text_bytes", report.run.bytes},
                 {"words", report.words},
                 {"distinct", report.distinct},
                 {"simulated", simulated_json(*report.simulated)},
                 {"top", top_json(report)}});
  }
  json all = {{"schema_version", report_schema}, {"command", "wordcount"}};
  all.update(run_json(report.run));
  all.update(json{{"combine", report.combined},
                  {"text_bytes", report.run.bytes},
                  {"words", report.words},
                  {"distinct", report.distinct},
                  {"top", top_json(report)}});
  if (report.run.ranks != 0) all["sent_bytes"] = report.sent_bytes;
  return dump(all);
}

}  // namespace creek::tool
