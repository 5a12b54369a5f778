// SPDX-License-Identifier: Apache-2.0
// Figures of a network that has run.
#include <creek/stream/report.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <unordered_map>

#include "network_state.hpp"

namespace creek::stream {

namespace {

double busy(const process_figures& one) {
  return one.active_s + one.tasks_s;
}

double percent(double part, double whole) {
  return whole > 0 ? 100 * part / whole : 0;
}

/// Returns a text within quotes of Graphviz.
std::string in_quotes(std::string_view text) {
  std::string made = "\"";
  for (const char each : text) {
    if (each == '"' || each == '\\') made += '\\';
    made += each == '\n' ? std::string("\\n") : std::string(1, each);
  }
  return made + '"';
}

}  // namespace

void detail::network_state::measure(activity_clock by, trace::session* session) {
  clock_ = by;
  is_measured_ = true;
  for (const auto& each : processes_) {
    each->activity_ = std::make_unique<activity>(by);
    if (session != nullptr) each->activity_->track = &session->add_track(each->name());
  }
  if (session == nullptr) return;
  for (const auto& each : channels_) each->trace_name_ = session->intern(each->name()).c_str();
}

network_report detail::network_state::report() const {
  const auto seconds = [this](ticks span) {
    const auto ns = clock_.is_of_backend ? static_cast<std::int64_t>(span.count)
                                         : tick_clock::to_nanoseconds(span).count();
    return static_cast<double>(ns) * 1e-9;
  };
  network_report made{.elapsed_s = is_measured_ ? seconds(ended_ - begun_) : 0,
                      .workers = workers_,
                      .processes = {},
                      .channels = {}};
  for (const auto& each : processes_) {
    process_figures one{.name = each->name()};
    if (const activity* const measured = each->measured()) {
      const auto waited = [&](activity::wait what) {
        return seconds(measured->waited[static_cast<std::size_t>(what)]);
      };
      one.tasks_s = seconds({measured->tasks.load(std::memory_order_relaxed)});
      one.waited_items_s = waited(activity::wait::items);
      one.waited_room_s = waited(activity::wait::room);
      one.waited_elsewhere_s = waited(activity::wait::elsewhere);
      one.waited_worker_s = seconds(measured->queued);
      one.active_s =
          std::max(0.0, seconds(measured->ended - measured->begun) - one.waited_items_s -
                            one.waited_room_s - one.waited_elsewhere_s - one.waited_worker_s);
    }
    made.processes.push_back(std::move(one));
  }
  std::unordered_map<const process*, std::size_t> number_of;
  for (const auto& each : processes_) number_of.emplace(each.get(), number_of.size());
  for (const auto& each : channels_) {
    const auto& reader_waits = each->waits_[static_cast<int>(side::items)];
    const auto& writer_waits = each->waits_[static_cast<int>(side::room)];
    made.channels.push_back({.item_type = each->item_type_,
                             .writer = number_of.at(each->writer_),
                             .reader = number_of.at(each->reader_),
                             .capacity = each->capacity(),
                             // An end that never waits has counted up to 2^31 only.
                             .items = std::max(each->items(side::room), each->items(side::items)),
                             .reader_waits = reader_waits.times,
                             .writer_waits = writer_waits.times,
                             .reader_waited_s = seconds(reader_waits.waited),
                             .writer_waited_s = seconds(writer_waits.waited)});
  }
  return made;
}

namespace {

/// Shares of the whole time from which on something counts as the limit.
constexpr double workers_are_busy = 0.9, process_is_busy = 0.8, waits_much = 0.1,
                 waits_elsewhere = 0.5;

/// Returns the channel whose reader and writer both wait much, in turns, or null.
const channel_figures* small_channel(const network_report& report) {
  const auto waits = [](const channel_figures& one) {
    return std::min(one.reader_waited_s, one.writer_waited_s);
  };
  const auto found = std::ranges::max_element(report.channels, {}, waits);
  if (found == report.channels.end() || waits(*found) < waits_much * report.elapsed_s)
    return nullptr;
  return &*found;
}

/// Returns a process without inputs that waits for something else most of the time, or null.
const process_figures* quiet_source(const network_report& report) {
  std::vector<bool> has_input(report.processes.size());
  for (const channel_figures& each : report.channels) has_input[each.reader] = true;
  for (std::size_t i = 0; i < report.processes.size(); ++i) {
    const process_figures& each = report.processes[i];
    if (!has_input[i] && each.waited_elsewhere_s >= waits_elsewhere * report.elapsed_s)
      return &each;
  }
  return nullptr;
}

}  // namespace

void share_energy(network_report& report, double joules, double watts) {
  report.joules = joules;
  for (process_figures& each : report.processes) each.joules = watts * busy(each);
}

std::string bottleneck(const network_report& report) {
  if (report.elapsed_s <= 0 || report.processes.empty()) return "no times were measured";
  const auto total =
      std::accumulate(report.processes.begin(), report.processes.end(), 0.0,
                      [](double sum, const process_figures& each) { return sum + busy(each); });
  const auto name = [&](std::size_t process) { return report.processes[process].name; };
  const process_figures& active =
      *std::ranges::max_element(report.processes, {}, &process_figures::active_s);
  if (report.workers > 1 && active.active_s >= process_is_busy * report.elapsed_s) {
    return fmt::format(
        "'{}' was active for {:.0f} % of the time, and the others wait for it: make it faster, or "
        "let several work in its place (parallel_stage, deal and take_turns)",
        active.name, percent(active.active_s, report.elapsed_s));
  }
  const process_figures& busiest = *std::ranges::max_element(report.processes, {}, busy);
  const double share = percent(busy(busiest), report.elapsed_s);
  if (total >= workers_are_busy * report.elapsed_s * report.workers) {
    return fmt::format(
        "the {} {} busy, most of all for '{}' ({:.0f} % of the time): more processors would help",
        report.workers == 1 ? std::string("worker") : fmt::format("{} workers", report.workers),
        report.workers == 1 ? "was" : "were", busiest.name, share);
  }
  if (const channel_figures* const small = small_channel(report)) {
    return fmt::format(
        "'{}' waited for room and '{}' for items of the channel between them, {:.0f} and {:.0f} % "
        "of the time: a capacity above {} would help",
        name(small->writer), name(small->reader), percent(small->writer_waited_s, report.elapsed_s),
        percent(small->reader_waited_s, report.elapsed_s), small->capacity);
  }
  if (const process_figures* const source = quiet_source(report)) {
    return fmt::format("'{}' waited for something outside the network for {:.0f} % of the time",
                       source->name, percent(source->waited_elsewhere_s, report.elapsed_s));
  }
  return fmt::format("nothing stands out: '{}' was active most, for {:.0f} % of the time",
                     busiest.name, share);
}

std::string to_string(const network_report& report) {
  const double rest =
      std::accumulate(report.processes.begin(), report.processes.end(), report.joules,
                      [](double left, const process_figures& each) { return left - each.joules; });
  std::string text;
  const auto add = std::back_inserter(text);
  fmt::format_to(add, "{:.3f} s, {} worker{}\n", report.elapsed_s, report.workers,
                 report.workers == 1 ? "" : "s");
  const bool has_energy = report.joules > 0;
  fmt::format_to(add, "{:<24} {:>8} {:>8} {:>8} {:>8} {:>9} {:>8}   % of the time{}\n", "process",
                 "active", "tasks", "items", "room", "elsewhere", "worker",
                 has_energy ? "     joules" : "");
  for (const process_figures& each : report.processes) {
    const auto share = [&](double part) { return percent(part, report.elapsed_s); };
    fmt::format_to(add, "{:<24} {:>8.1f} {:>8.1f} {:>8.1f} {:>8.1f} {:>9.1f} {:>8.1f}", each.name,
                   share(each.active_s), share(each.tasks_s), share(each.waited_items_s),
                   share(each.waited_room_s), share(each.waited_elsewhere_s),
                   share(each.waited_worker_s));
    text += has_energy ? fmt::format("{:>27.3f}\n", each.joules) : "\n";
  }
  if (has_energy) fmt::format_to(add, "{:<40}{:>66.3f}\n", "idle workers and shared parts", rest);
  fmt::format_to(add, "{:<41} {:>12} {:>9} {:>10} {:>10}\n", "channel", "items", "capacity",
                 "r waits", "w waits");
  for (const channel_figures& each : report.channels) {
    fmt::format_to(add, "{:<41} {:>12} {:>9} {:>10} {:>10}\n",
                   fmt::format("{} -> {}", report.processes[each.writer].name,
                               report.processes[each.reader].name),
                   each.items, each.capacity, each.reader_waits, each.writer_waits);
  }
  return text + bottleneck(report) + "\n";
}

std::string to_dot(const network_report& report) {
  std::string text = "digraph network {\n  rankdir=LR;\n  node [shape=box];\n";
  const auto add = std::back_inserter(text);
  for (std::size_t i = 0; i < report.processes.size(); ++i) {
    const process_figures& each = report.processes[i];
    fmt::format_to(
        add, "  p{} [label={}];\n", i,
        in_quotes(report.elapsed_s > 0
                      ? fmt::format("{}\n{:.0f} % active{}", each.name,
                                    percent(busy(each), report.elapsed_s),
                                    report.joules > 0 ? fmt::format(", {:.3g} J", each.joules) : "")
                      : each.name));
  }
  for (const channel_figures& each : report.channels) {
    const std::string rate =
        report.elapsed_s > 0
            ? fmt::format(", {:.3g}/s", static_cast<double>(each.items) / report.elapsed_s)
            : "";
    fmt::format_to(add, "  p{} -> p{} [label={}];\n", each.writer, each.reader,
                   in_quotes(fmt::format("{}\n{} items{}\nof {}", each.item_type, each.items, rate,
                                         each.capacity)));
  }
  return text + "}\n";
}

}  // namespace creek::stream
