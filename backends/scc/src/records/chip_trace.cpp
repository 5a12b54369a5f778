// SPDX-License-Identifier: Apache-2.0
// Slices as they happen; graphs at the end, when every island's history is known.
#include "chip_trace.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace creek::scc_backend {

namespace {

ticks stamp(virtual_time at) noexcept {
  return {static_cast<std::uint64_t>(at.femtoseconds)};
}

std::int64_t thousandths(double value) noexcept {
  return std::llround(value * 1000);
}

/// A graph's points, without those that repeat the value before.
class graph {
 public:
  graph(trace::track& on, trace::name title) : on_(on), title_(title) {}
  void add(virtual_time at, std::int64_t value) {
    if (value == last_) return;
    last_ = value;
    on_.record(trace::event_kind::counter, stamp(at), title_.c_str(), value);
  }

 private:
  trace::track& on_;
  trace::name title_;
  std::int64_t last_ = -1;
};

}  // namespace

chip_trace::chip_trace(const chip& of)
    : chip_(of),
      session_({.process_name = "creek on " + of.name, .base = trace::time_base::virtual_fs}) {
  for (int i = 0; i < of.cores(); ++i) {
    cores_.push_back({&session_.add_track("core " + std::to_string(i)), activity::halted, {}});
  }
}

void chip_trace::close_slice(state& core, virtual_time at) {
  // A slice without length is left out, and nothing after the end needs a slice.
  if (core.since < at && core.what != activity::finished) {
    core.track->record(trace::event_kind::begin, stamp(core.since), to_string(core.what),
                       trace::no_argument);
    core.track->record(trace::event_kind::end, stamp(at), nullptr, trace::no_argument);
  }
  core.since = at;
}

void chip_trace::becomes(core_id core, activity what, virtual_time at) {
  state& self = of_core(core);
  close_slice(self, at);
  const auto& share = chip_.power.model.share;
  if (share[static_cast<std::size_t>(what)] != share[static_cast<std::size_t>(self.what)]) {
    steps_.push_back({at, core.value, what});
  }
  self.what = what;
}

void chip_trace::begin_span(core_id core, trace::name what, std::int64_t argument,
                            virtual_time at) {
  state& self = of_core(core);
  close_slice(self, at);
  self.track->record(trace::event_kind::begin, stamp(at), what.c_str(), argument);
}

void chip_trace::end_span(core_id core, virtual_time at) {
  state& self = of_core(core);
  close_slice(self, at);
  self.track->record(trace::event_kind::end, stamp(at), nullptr, trace::no_argument);
}

void chip_trace::draw_island(int island, const std::vector<power_step>& steps,
                             const energy_meter& meter) {
  std::vector<int> tiles;
  for (int tile = 0; tile < chip_.columns * chip_.rows; ++tile) {
    if (island_of_tile(chip_, tile) == island) tiles.push_back(tile);
  }
  std::vector<virtual_time> times;
  for (const int tile : tiles) {
    for (const operating_point& point : meter.history(tile)) times.push_back(point.from);
  }
  for (const power_step& step : steps) times.push_back(step.at);
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());

  const std::string title = "island " + std::to_string(island);
  trace::track& track = session_.add_track(title);
  graph frequency(track, session_.intern(title + " frequency (kHz)"));
  graph voltage(track, session_.intern(title + " voltage (mV)"));
  graph power(track, session_.intern(title + " power (mW)"));
  std::vector<activity> now(cores_.size(), activity::halted);
  auto step = steps.begin();
  for (const virtual_time at : times) {
    for (; step != steps.end() && step->at <= at; ++step) {
      now[static_cast<std::size_t>(step->core)] = step->what;
    }
    units::hertz clocks;
    units::watts drawn;
    units::volts supply;
    for (const int tile : tiles) {
      const operating_point& point = meter.point_at(tile, at);
      clocks += point.clock.frequency();
      supply = point.voltage;
      for (int i = 0; i < chip_.cores_per_tile; ++i) {
        const auto core = static_cast<std::size_t>(tile * chip_.cores_per_tile + i);
        drawn += switching_power(chip_, now[core], point.voltage, point.clock) +
                 leakage_power(chip_, point.voltage);
      }
    }
    frequency.add(at, thousandths(clocks.value / static_cast<double>(tiles.size()) * 1e-6));
    voltage.add(at, thousandths(supply.value));
    power.add(at, thousandths(drawn.value));
  }
}

void chip_trace::draw_islands(const energy_meter& meter) {
  std::stable_sort(steps_.begin(), steps_.end(),
                   [](const power_step& a, const power_step& b) { return a.at < b.at; });
  std::vector<std::vector<power_step>> of_island(static_cast<std::size_t>(island_count(chip_)));
  for (const power_step& step : steps_) {
    const int island = island_of_tile(chip_, step.core / chip_.cores_per_tile);
    of_island[static_cast<std::size_t>(island)].push_back(step);
  }
  for (int i = 0; i < island_count(chip_); ++i) {
    draw_island(i, of_island[static_cast<std::size_t>(i)], meter);
  }
}

void chip_trace::write(atomic_file& out, const energy_meter& meter, virtual_time end) {
  for (state& core : cores_) close_slice(core, std::max(end, core.since));
  draw_islands(meter);
  session_.write_to(out);
}

}  // namespace creek::scc_backend
