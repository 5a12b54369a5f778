// SPDX-License-Identifier: Apache-2.0
// The texts of `creek wordcount`.
#include "report.hpp"

#include "energy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <creek/core/version.hpp>
#include <nlohmann/json.hpp>

namespace creek::tool {
namespace {

using json = nlohmann::ordered_json;

// Raised when a member of the JSON changes its meaning or goes; new members may come without.
constexpr int report_schema = 1;

/// Bytes of the UTF-8 character at the front of `text`, or 0 if there is none: overlong forms,
/// surrogates and values above U+10FFFF are none (Unicode 15, table 3-7).
std::size_t utf8_length(std::string_view text) {
  const auto at = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto tail = [&](std::size_t i) { return (at(i) & 0xC0) == 0x80; };
  const unsigned first = at(0);
  const unsigned second = at(1);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return tail(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool good = first == 0xE0 ? second >= 0xA0 : first != 0xED || second < 0xA0;
    return good && tail(1) && tail(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool good = first == 0xF0 ? second >= 0x90 : first != 0xF4 || second < 0x90;
    return good && tail(1) && tail(2) && tail(3) ? 4 : 0;
  }
  return 0;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t n = utf8_length(text);
    if (n == 0) return false;
    text.remove_prefix(n);
  }
  return true;
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr const char* units[] = {"B", "kB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1000 && unit + 1 < std::size(units); ++unit) value /= 1000;
  return fmt::format("{:.{}f} {}", value, unit == 0 ? 0 : 1, units[unit]);
}

double milliseconds(std::chrono::nanoseconds t) {
  return std::chrono::duration<double, std::milli>(t).count();
}

std::string stages_text(const wordcount_report& report) {
  std::string line;
  for (std::size_t i = 0; i < mapreduce::stage_count; ++i) {
    const auto spent = report.stages.spent[i];
    if (spent.count() == 0) continue;
    line += fmt::format("{}{} {:.1f}", line.empty() ? "" : ", ", mapreduce::stage_names[i],
                        milliseconds(spent));
  }
  return line;
}

double milliseconds(virtual_time t) {
  return 1e3 * t.in_seconds().value;
}

void print_simulated(std::FILE* to, const wordcount_report& report) {
  const simulated_count& on = *report.simulated;
  fmt::print(
      to,
      "simulated chip {}, {} core{}, seed {}: {:.3f} ms virtual time, {:.3f} mJ, {} sent{}{}\n\n",
      on.chip, on.cores, on.cores == 1 ? "" : "s", on.seed, milliseconds(on.length),
      1e3 * on.energy.value, bytes_text(on.sent_bytes), report.combined ? "" : ", without combiner",
      on.cycles_a_host_second > 0 ? ", computing measured" : "");
  fmt::print(to, "stage (virtual ms)    longest     median   shortest   mJ of cores\n");
  for (std::size_t i = 0; i < mapreduce::stage_count; ++i) {
    const stage_use& span = on.stages[i];
    if (span.longest == virtual_time{}) continue;
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

json word_json(const word_record& word) {
  json line = {{"word", std::string(word.key)}, {"count", word.value}};
  if (!is_utf8(word.key)) {  // JSON has no bytes: the text is then only a likeness
    std::string hex;
    for (const char c : word.key) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
    line["bytes"] = hex;
  }
  return line;
}

void print_top(std::FILE* to, const wordcount_report& report) {
  if (report.top.empty()) return;
  const auto width = static_cast<int>(fmt::formatted_size("{}", report.top.front().value));
  fmt::print(to, "\n");
  for (const word_record& word : report.top) {
    fmt::print(to, "{:>{}}  {}\n", word.value, std::max(width, 8), printable(word.key));
  }
}

std::string dump(const json& all) {
  return with_energy(all).dump(2, ' ', false, json::error_handler_t::replace);
}

json top_json(const wordcount_report& report) {
  json top = json::array();
  for (const word_record& word : report.top) top.push_back(word_json(word));
  return top;
}

}  // namespace

double rate(const wordcount_report& report) {
  const double seconds = std::chrono::duration<double>(report.elapsed).count();
  return seconds > 0 ? static_cast<double>(report.text_bytes) / seconds : 0;
}

std::string printable(std::string_view word) {
  constexpr std::size_t longest = 200;  // bytes shown
  std::string out;
  std::string_view rest = word.substr(0, longest);
  while (!rest.empty()) {
    const std::size_t n = utf8_length(rest);
    const auto first = static_cast<unsigned char>(rest[0]);
    // C1 controls (U+0080 to U+009F) steer terminals as well as C0 controls do.
    const bool control = first < 0x20 || first == 0x7F ||
                         (n == 2 && first == 0xC2 && static_cast<unsigned char>(rest[1]) < 0xA0);
    if (n == 0 || control) {
      out += fmt::format("\\x{:02x}", first);
      rest.remove_prefix(1);
    } else {
      out += rest.substr(0, n);
      rest.remove_prefix(n);
    }
  }
  if (word.size() > longest) out += fmt::format("... ({} bytes)", word.size());
  return out;
}

void print_text(std::FILE* to, const wordcount_report& report) {
  const double seconds = std::chrono::duration<double>(report.elapsed).count();
  fmt::print(to, "{} words, {} different, in {} of text from {} file{}\n", report.words,
             report.distinct, bytes_text(report.text_bytes), report.files,
             report.files == 1 ? "" : "s");
  if (report.simulated) {
    print_simulated(to, report);
    return print_top(to, report);
  }
  fmt::print(to, "{:.3f} s, {}/s with {} worker{} ({}, {}, {})\n", seconds,
             bytes_text(static_cast<std::uint64_t>(rate(report))), report.workers,
             report.workers == 1 ? "" : "s", report.backend, report.scheduler, report.idle);
  fmt::print(to, "stages (ms): {}\n", stages_text(report));
  print_top(to, report);
}

std::string to_json(const wordcount_report& report) {
  if (report.simulated) {
    return dump({{"schema_version", report_schema},
                 {"version", version()},
                 {"backend", report.backend},
                 {"combine", report.combined},
                 {"files", report.files},
                 {"skipped", report.skipped},
                 {"text_bytes", report.text_bytes},
                 {"words", report.words},
                 {"distinct", report.distinct},
                 {"simulated", simulated_json(*report.simulated)},
                 {"top", top_json(report)}});
  }
  json stages = json::object();
  for (std::size_t i = 0; i < mapreduce::stage_count; ++i) {
    stages[mapreduce::stage_names[i]] = milliseconds(report.stages.spent[i]);
  }
  const json all = {{"schema", report_schema},
                    {"version", version()},
                    {"backend", report.backend},
                    {"scheduler", report.scheduler},
                    {"idle", report.idle},
                    {"workers", report.workers},
                    {"combine", report.combined},
                    {"files", report.files},
                    {"skipped", report.skipped},
                    {"text_bytes", report.text_bytes},
                    {"mapped_bytes", report.mapped_bytes},
                    {"peak_resident_bytes", report.peak_bytes},
                    {"words", report.words},
                    {"distinct", report.distinct},
                    {"milliseconds", milliseconds(report.elapsed)},
                    {"bytes_per_second", rate(report)},
                    {"stages_ms", stages},
                    {"top", top_json(report)}};
  return dump(all);
}

}  // namespace creek::tool
