// SPDX-License-Identifier: Apache-2.0
// Entering sleepers, and waking them by an interrupt.
#include <creek/scc/interrupts.hpp>

#include "sleepers.hpp"

#include <algorithm>

namespace creek::scc_backend {

namespace {

constexpr int wake_pin = 0;
/// Offsets of the words in the line of core 0's event: the number, then the bits.
constexpr std::size_t number_offset = 4;
constexpr std::size_t first_bits_offset = 8;
constexpr std::size_t words_of_bits = (memory::line_bytes - first_bits_offset) / sizeof(word);

}  // namespace

mpm_ptr<word> sleepers::word_at(task_worker& worker, std::size_t offset) {
  return worker.memory.at(core_id{0}, offset).as<word>();
}

void sleepers::reset(task_worker& worker) const {
  if (!some_halt_) return;
  for (std::size_t at = number_offset; at < memory::line_bytes; at += sizeof(word)) {
    worker.memory.store(word_at(worker, at), 0);
  }
}

/// Writes the sleeper's bit and the number, which changes by `by`. Under the register of core 0.
void sleepers::write(task_worker& worker, task_worker& sleeper, int by) {
  const std::size_t bits = sleeper.core.index() / 32 % words_of_bits;
  const mpm_ptr<word> its = word_at(worker, first_bits_offset + bits * sizeof(word));
  const word bit = word{1} << (sleeper.core.index() % 32);
  worker.memory.store(its, worker.memory.load(its) ^ bit);
  worker.memory.store(word_at(worker, number_offset), static_cast<word>(count_ + by));
  count_ += by;
  if (!sleeper.serves_only) takers_asleep_ = takers_asleep_ + static_cast<unsigned>(by);
  sleeper.asleep = by > 0;
}

void sleepers::enter(task_worker& worker) {
  worker.memory.lock(core_id{0});
  write(worker, worker, 1);
  worker.memory.clear(core_id{0});
}

bool sleepers::leave(task_worker& worker) {
  worker.memory.lock(core_id{0});
  const bool first = worker.asleep;
  if (first) write(worker, worker, -1);
  worker.memory.clear(core_id{0});
  return first;
}

bool sleepers::may_be_some(task_worker& worker) const {
  return some_halt_ && worker.memory.load(word_at(worker, number_offset)) != 0;
}

void sleepers::wake_taker() {
  task_worker& self = workers_.here();
  if (!may_be_some(self)) return;
  self.memory.lock(core_id{0});
  const auto found = std::find_if(workers_.begin(), workers_.end(), [](const auto& each) {
    return each->asleep && !each->serves_only;
  });
  task_worker* const sleeper = found != workers_.end() ? found->get() : nullptr;
  if (sleeper != nullptr) write(self, *sleeper, -1);
  self.memory.clear(core_id{0});
  if (sleeper != nullptr) interrupt_pins(self.memory).raise(sleeper->core, wake_pin);
}

void sleepers::wake(task_worker& sleeper) {
  task_worker& self = workers_.here();
  if (!may_be_some(self)) return;
  self.memory.lock(core_id{0});
  const bool slept = sleeper.asleep;
  if (slept) write(self, sleeper, -1);
  self.memory.clear(core_id{0});
  if (slept) interrupt_pins(self.memory).raise(sleeper.core, wake_pin);
}

}  // namespace creek::scc_backend
