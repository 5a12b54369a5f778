// SPDX-License-Identifier: Apache-2.0
#include "sync_registers.hpp"

#include <string>
#include <utility>

#include <creek/core/error.hpp>

#include "checker/checker.hpp"

namespace creek::scc_backend {

sync_registers::sync_registers(const chip& on, engine& simulation, const tile_clocks& clocks,
                               time_limits& limits, mesh_network& network, checker* check)
    : chip_{on},
      simulation_{simulation},
      clocks_{clocks},
      limits_{limits},
      mesh_{network},
      check_{check},
      taken_(static_cast<std::size_t>(on.cores())),
      counters_(2 * static_cast<std::size_t>(on.cores())) {}

void sync_registers::require_counter(counter_id id) const {
  if (id.value >= 0 && id.value < counters()) [[likely]]
    return;
  throw usage_error("simulated chip: there is no counter " + std::to_string(id.value) + " among " +
                    std::to_string(counters()));
}

bool sync_registers::test_and_set(core_id id) {
  require_core(chip_, id);
  simulation_.failure().throw_if_aborted();
  limits_.throw_if_stuck();
  const passage way = mesh_.to_tile(id, chip_.costs.uc_read);
  simulation_.set_clock(way.answered);
  const bool won = std::exchange(taken_[id.index()], true) == 0;
  if (won) {
    limits_.note_progress();
  } else {
    simulation_.polls("test-and-set register", id.index());
  }
  if (check_) check_->order().tried_register(id, won);
  return won;
}

void sync_registers::clear(core_id id) {
  require_core(chip_, id);
  simulation_.advance(chip_.costs.uc_write_issue * clocks_.here());
  const passage way = mesh_.to_tile(id, chip_.costs.uc_write);
  taken_[id.index()] = false;
  if (check_) check_->order().cleared_register(id);
  simulation_.set_clock(way.start);
}

word sync_registers::fetch_increment(counter_id id) {
  require_counter(id);
  const passage way = mesh_.to_counter();
  simulation_.set_clock(way.answered);
  limits_.note_progress();
  if (check_) check_->order().incremented(id);
  return counters_[static_cast<std::size_t>(id.value)]++;
}

void sync_registers::set_counter(counter_id id, word value) {
  require_counter(id);
  const passage way = mesh_.to_counter();
  simulation_.set_clock(way.start);
  limits_.note_progress();
  if (check_) check_->order().set(id);
  counters_[static_cast<std::size_t>(id.value)] = value;
}

}  // namespace creek::scc_backend
