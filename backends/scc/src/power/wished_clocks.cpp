// SPDX-License-Identifier: Apache-2.0
#include "wished_clocks.hpp"

#include <algorithm>
#include <utility>

#include <creek/core/error.hpp>

namespace creek::scc_backend {

namespace {

/// Time that an island must have been low, the last time or by now, for its voltage to be lowered:
/// five changes of a voltage, of which two are made, and with them the time at the lower clock
/// after the second.
constexpr std::int64_t changes_that_pay = 5;
/// Limit of attempts, as wishes of others may change while a register is written.
constexpr int attempts = 8;

}  // namespace

wished_clocks::wished_clocks(machine& on, unsigned workers)
    : chip_(&on), islands_(static_cast<std::size_t>(island_count(on.description()))) {
  const chip& about = on.description();
  const int top = about.power.nearest_divider(about.clocks.core);
  for (int divider = about.power.highest_divider; divider >= top; --divider) {
    dividers_.push_back(divider);
    clocks_.push_back(units::hertz{about.power.reference.value / divider});
  }
  const auto cores = static_cast<std::size_t>(about.cores());
  wishes_.assign(cores, about.power.highest_divider);
  std::fill_n(wishes_.begin(), workers, top);
  shown_ = std::make_unique<std::atomic<double>[]>(cores);
  show_clocks();
}

int wished_clocks::tile_of(core_id core) const noexcept {
  return core.value / chip_->description().cores_per_tile;
}

int wished_clocks::domain(unsigned worker) const noexcept {
  return tile_of(core_id{static_cast<int>(worker)});
}

units::hertz wished_clocks::clock(unsigned worker) const noexcept {
  return units::hertz{shown_[worker].load(std::memory_order_relaxed)};
}

void wished_clocks::show_clocks() noexcept {
  const chip_power& power = chip_->description().power;
  for (int i = 0; i < chip_->description().cores(); ++i) {
    const double hertz =
        power.reference.value / power.nearest_divider(chip_->clocks().of(core_id{i}));
    shown_[static_cast<std::size_t>(i)].store(hertz, std::memory_order_relaxed);
  }
}

int wished_clocks::wished_by_tile(int tile) const noexcept {
  const int each = chip_->description().cores_per_tile;
  const auto first = wishes_.begin() + std::ptrdiff_t{tile} * each;
  return *std::min_element(first, first + each);
}

int wished_clocks::divider_of(int tile) const noexcept {
  const core_id first{tile * chip_->description().cores_per_tile};
  return chip_->description().power.nearest_divider(chip_->clocks().of(first));
}

int wished_clocks::safe_divider(int island, int wished) const noexcept {
  const int slowest = chip_->description().power.highest_divider;
  const virtual_time now = chip_->simulation().now();
  int divider = wished;
  while (divider < slowest && !chip_->power().state().is_safe(island, divider, now)) ++divider;
  return divider;
}

bool wished_clocks::all_wish(int island, int divider) const noexcept {
  for (std::size_t i = 0; i < wishes_.size(); ++i) {
    const core_id core{static_cast<int>(i)};
    if (chip_->power().island(core) == island && wishes_[i] != divider) return false;
  }
  return true;
}

bool wished_clocks::is_low_for_long(int island) const noexcept {
  const island_state& state = islands_[static_cast<std::size_t>(island)];
  const virtual_time long_enough = changes_that_pay * chip_->description().power.voltage_change;
  return state.low && chip_->simulation().now() - state.since >= long_enough;
}

// If the run has failed on another core, the caller's next operation reports it.
void wished_clocks::wish(unsigned worker, std::size_t step) noexcept try {
  const int divider = dividers_[std::min(step, dividers_.size() - 1)];
  if (wishes_[worker] != divider) {
    const core_operation begun(*chip_);
    chip_->simulation().order_at(chip_->simulation().now());  // others will see it
    wishes_[worker] = divider;
    follow_voltage(chip_->simulation().running());
  }
  settle();
} catch (const error&) {
}

void wished_clocks::settle() noexcept try {
  const core_id self = chip_->simulation().running();
  const int tile = tile_of(self);
  const int level = chip_->power().state().level_for(wished_by_tile(tile));
  const int island = chip_->power().island(self);
  if (is_low_for_long(island) && level < chip_->power().state().planned_level(island)) {
    const core_operation begun(*chip_);
    chip_->simulation().order_at(chip_->simulation().now());
    follow_voltage(self);
  }
  for (int i = 0; i < attempts && divider_of(tile) != wished_by_tile(tile); ++i) {
    const core_operation begun(*chip_);
    const int divider = safe_divider(island, wished_by_tile(tile));
    if (divider != wished_by_tile(tile)) follow_voltage(self);
    if (divider == divider_of(tile)) return;
    try {
      chip_->power().set_frequency_divider(divider);
      show_clocks();
    } catch (const usage_error&) {
      // The voltage was lowered meanwhile: try once more, for a clock that is safe now.
    }
  }
} catch (const error&) {
}

/// Asks for the voltage that the island's cores wish: a higher one if the present one is not enough
/// for the tile of `core`, a lower one if all wish it and it pays.
void wished_clocks::follow_voltage(core_id core) {
  const int island = chip_->power().island(core);
  island_state& state = islands_[static_cast<std::size_t>(island)];
  const virtual_time now = chip_->simulation().now();
  const int wished = wished_by_tile(tile_of(core));
  const int level = chip_->power().state().level_for(wished);
  const int planned = chip_->power().state().planned_level(island);
  const bool low = level < planned && all_wish(island, wished);
  const bool was_low =
      std::exchange(state.low, low || (state.low && level <= planned && all_wish(island, wished)));
  if (!was_low && state.low) state.since = now;
  if (was_low && !state.low) state.last_time = now - state.since;
  if (level > planned) {
    (void)chip_->power().request(wished);
    show_clocks();
  } else if (low &&
             (is_low_for_long(island) ||
              state.last_time >= changes_that_pay * chip_->description().power.voltage_change)) {
    (void)chip_->power().request(wished);
    show_clocks();
  }
}

}  // namespace creek::scc_backend
