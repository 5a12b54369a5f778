// SPDX-License-Identifier: Apache-2.0
// Workers without work that halt, and the workers that wake them by an interrupt. Words of core 0's
// message-passing memory, written under that core's test-and-set register, say who sleeps: the
// number of sleepers, which all workers read that may have to wake one, and a bit for each.
//
// No wake-up is lost. A worker that brings something first puts it in its place, then reads the
// words; a worker that goes to sleep first writes its bit, then looks everywhere once more. So one
// of the two sees the other. The worker that raises the interrupt takes the bit off, and a pin
// stays up until its core halts: an interrupt that comes too early ends the next halt at once.
#include <algorithm>

#include "search_span.hpp"
#include "task_runtime.hpp"

namespace creek::scc_backend {

namespace {

/// Unless a plan says how long, a worker searches at least for the price of a wake-up before it
/// writes its bit. An estimate from chip_costs: interrupt, register and words.
constexpr cycles least_search{1200};
constexpr int wake_pin = 0;
/// Offsets of the words in the line of core 0's event: the number, then the bits.
constexpr std::size_t number_offset = 4;
constexpr std::size_t first_bits_offset = 8;
constexpr std::size_t words_of_bits = (memory::line_bytes - first_bits_offset) / sizeof(word);

}  // namespace

mpm_ptr<word> task_runtime::sleepers_word(task_worker& worker, std::size_t offset) {
  return worker.memory.at(core_id{0}, offset).as<word>();
}

/// Has core 0 make the words before any worker sleeps.
void task_runtime::reset_sleepers(task_worker& worker) {
  for (std::size_t at = number_offset; at < memory::line_bytes; at += sizeof(word)) {
    worker.memory.store(sleepers_word(worker, at), 0);
  }
}

/// Returns whether there is something for the worker, or nothing at all any more.
bool task_runtime::may_go_on(const task_worker& worker) const noexcept {
  const bool mine =
      worker.letters > 0 || (worker.core.value == 0 && (!arrived_.empty() || !letters_.empty()));
  const bool may_steal = queued_ > 0 && !worker.serves_only && !too_many_awake();
  return active_ == 0 || may_steal || !worker.ready.empty() || mine || finished_;
}

/// Searches until `span` is over; returns false if something came before. Goes in steps of one
/// look, so that it is found at the look that would find it.
bool task_runtime::search_for(task_worker& worker, virtual_time span) {
  engine& simulation = chip_.simulation();
  const virtual_time until = workers_.now() + span;
  const std::int64_t looks =
      shared_ ? 1 : std::max<std::int64_t>(1, std::int64_t(workers_.size()) - 1);
  const virtual_time round = round_of(worker);
  const virtual_time look{std::max<std::int64_t>(round.femtoseconds / looks, 1'000'000)};
  chip_.becomes_idle(activity::waiting);
  bool found = may_go_on(worker);
  while (!found && workers_.now() < until) {
    simulation.advance(std::min(look, until - workers_.now()));
    worker.counters.add(counter::steals_tried);
    simulation.order_at(workers_.now());
    found = may_go_on(worker);
  }
  chip_.resumes();
  return !found;
}

/// Returns the time of one round of looking at all others, at the core's clock now.
virtual_time task_runtime::round_of(const task_worker& worker) const noexcept {
  return worker.round_cycles * chip_.clock(worker.core) +
         worker.round_mesh_cycles * chip_.description().clocks.mesh;
}

/// Writes the worker's bit and the number, which changes by `by`. Under the register of core 0.
void task_runtime::write_sleepers(task_worker& worker, task_worker& sleeper, int by) {
  const std::size_t bits = sleeper.core.index() / 32 % words_of_bits;
  const mpm_ptr<word> its = sleepers_word(worker, first_bits_offset + bits * sizeof(word));
  const word bit = word{1} << (sleeper.core.index() % 32);
  worker.memory.store(its, worker.memory.load(its) ^ bit);
  worker.memory.store(sleepers_word(worker, number_offset), static_cast<word>(sleepers_ + by));
  sleepers_ += by;
  if (!sleeper.serves_only) takers_asleep_ = takers_asleep_ + static_cast<unsigned>(by);
  sleeper.asleep = by > 0;
}

/// Returns whether more workers are awake than a policy wants.
bool task_runtime::too_many_awake() const noexcept {
  return policy() != nullptr && takers_ - takers_asleep_ > std::max(policy()->most_awake(), 1U);
}

void task_runtime::tell_of_task(task_worker& worker, const char* name) noexcept {
  if (policy() == nullptr) [[likely]]
    return;
  const core_operation begun(chip_);
  policy()->task_about_to_run(static_cast<unsigned>(worker.core.value), {.name = name});
  clocks_.settle();
}

/// Halts until there is something for the worker.
void task_runtime::sleep(task_worker& worker, virtual_time search) {
  if (!search_for(worker, search)) return;
  worker.memory.lock(core_id{0});
  write_sleepers(worker, worker, 1);
  worker.memory.clear(core_id{0});
  if (!search_for(worker, round_of(worker)) || may_go_on(worker)) {
    worker.memory.lock(core_id{0});
    const bool first = worker.asleep;
    if (first) write_sleepers(worker, worker, -1);
    worker.memory.clear(core_id{0});
    if (first) return;  // otherwise a worker has raised the pin, or is about to
  }
  log_.note(worker, step::halt);
  worker.counters.add(counter::parks);
  const virtual_time began = workers_.now();
  worker.memory.halt();
  worker.counters.add(counter::parked_ns, static_cast<std::uint64_t>(
                                              (workers_.now() - began).femtoseconds / 1'000'000));
  worker.memory.charge(chip_.description().costs.interrupt_entry + chosen_.kernel_crossing);
  log_.note(worker, step::woken);
}

/// Wakes the first sleeper, by number, that may take tasks: so islands whose cores have high
/// numbers stay asleep together.
void task_runtime::rouse_taker() {
  task_worker& self = workers_.here();
  if (!some_halt_) return;
  if (self.memory.load(sleepers_word(self, number_offset)) == 0) return;
  self.memory.lock(core_id{0});
  const auto found = std::find_if(workers_.begin(), workers_.end(), [](const auto& each) {
    return each->asleep && !each->serves_only;
  });
  task_worker* const sleeper = found != workers_.end() ? found->get() : nullptr;
  if (sleeper != nullptr) write_sleepers(self, *sleeper, -1);
  self.memory.clear(core_id{0});
  if (sleeper != nullptr) self.memory.raise_interrupt(sleeper->core, wake_pin);
}

/// Wakes this worker if it sleeps.
void task_runtime::rouse(task_worker& sleeper) {
  task_worker& self = workers_.here();
  if (!some_halt_) return;
  if (self.memory.load(sleepers_word(self, number_offset)) == 0) return;
  self.memory.lock(core_id{0});
  const bool slept = sleeper.asleep;
  if (slept) write_sleepers(self, sleeper, -1);
  self.memory.clear(core_id{0});
  if (slept) self.memory.raise_interrupt(sleeper.core, wake_pin);
}

/// Returns the plan of a worker that has looked everywhere in vain.
idle_plan task_runtime::plan_of_waiting(task_worker& worker) noexcept {
  power_policy* const told = policy();
  if (told == nullptr) return {chosen_.options.idle};
  const idle_plan plan = told->worker_idle(static_cast<unsigned>(worker.core.value));
  return too_many_awake() ? idle_plan{idle_policy::block, std::chrono::nanoseconds{0}} : plan;
}

/// Returns how long to search by a plan before the bit is written; by default at least a round.
virtual_time task_runtime::search_of(const task_worker& worker,
                                     const idle_plan& plan) const noexcept {
  if (plan.search.count() >= 0) return search_span(plan.search);
  return std::max(round_of(worker), least_search * chip_.clock(worker.core));
}

}  // namespace creek::scc_backend
