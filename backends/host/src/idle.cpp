// SPDX-License-Identifier: Apache-2.0
// Decides how a worker without work waits, and which worker is woken when there is some. README.md
// of this module explains the protocol and names every step that it relies on.
#include <algorithm>
#include <chrono>

#include <creek/core/asymmetric_fence.hpp>
#include <creek/core/clock.hpp>

#include "scheduler.hpp"

namespace creek::host_backend {

using namespace std::chrono_literals;

namespace {

/// About the price of a wake-up: worth spinning for before a sleep.
constexpr auto spin_before_sleep = 100us;
/// Time for which a searching worker first keeps its processor.
constexpr auto first_yield = 2us;
/// An owner that has not answered for this long is computing: share without it.
constexpr auto patience_with_owner = 25us;
/// Backoff: the longest nap of a worker that may not sleep for good.
constexpr auto longest_nap = 1ms;

/// Asking costs the owner some hundred nanoseconds. A thief whose last tasks were over sooner than
/// that asks later and later, up to this.
constexpr auto longest_reluctance = 32us;

ticks reluctance_to_ask(const worker& self) noexcept {
  if (self.small_steals < 2) return {};
  const auto wish = std::chrono::nanoseconds{250} * (1U << std::min(self.small_steals, 8U));
  return tick_clock::from_nanoseconds(std::min<std::chrono::nanoseconds>(wish, longest_reluctance));
}

}  // namespace

/// Producer's side; any thread. The work was made visible before.
void scheduler::work_available() noexcept {
  // A worker that registers after this load looks at everything behind a heavy fence.
  light_fence();
  if (!idle_.maybe_sleepers()) return;
  full_fence();
  idle_.wake_one(policy() == nullptr ? 0 : least_asleep(worker_index()));
}

/// Returns how many may sleep on though worker `by`, -1 for others, made work ready: as the policy
/// says, but never all that take tasks.
std::uint32_t scheduler::least_asleep(int by) noexcept {
  if (by >= 0 && policy()->tasks_ready(static_cast<unsigned>(by), 1) == 0) return takers_ - 1;
  // Asked after that: the answer may depend on the ready tasks.
  return takers_ - std::clamp(policy()->most_awake(), 1U, takers_);
}

/// Returns whether more workers are awake than the policy wants.
bool scheduler::too_many_awake() const noexcept {
  return takers_ - idle_.sleepers() > std::max(policy()->most_awake(), 1U) &&
         !stopping_.load(std::memory_order_relaxed);
}

/// Called when a searcher leaves with work. The last searcher answers for pushes that relied on it.
void scheduler::found_while_searching() noexcept {
  if (!idle_.end_search() || !any_work()) return;
  idle_.wake_one(policy() == nullptr ? 0 : least_asleep(worker_index()));
}

void scheduler::arm_all() noexcept {
  if (external_) return;
  for (const auto& each : workers_) {
    if (auto* stack = each->active.load(std::memory_order_acquire)) detail::arm(*stack);
  }
}

bool scheduler::all_armed() const noexcept {
  for (const auto& each : workers_) {
    const auto* stack = each->active.load(std::memory_order_acquire);
    if (stack != nullptr && !detail::is_armed(*stack)) return false;
  }
  return true;
}

/// Yields now and then: a spinning worker may keep its processor from the worker that it waits for,
/// if the kernel has put both on one. Only for messages: task pushes wake nobody if one searches.
void scheduler::yield_now_and_then(ticks waited, ticks& yield_at) const noexcept {
  if (yield_at == ticks{}) yield_at = tick_clock::from_nanoseconds(first_yield);
  if (waited <= yield_at || mail_.load(std::memory_order_relaxed) == nullptr) return;
  std::this_thread::yield();
  yield_at = waited + waited;
}

/// Returns how a worker without work waits: it searches for `search`, then waits as `how` says.
idle_plan scheduler::plan_wait(const worker& self) noexcept {
  idle_plan plan{options_.idle};
  if (policy() != nullptr) [[unlikely]]
    plan = policy()->worker_idle(self.index);
  if (plan.search.count() < 0) plan.search = oversubscribed_ ? 2us : spin_before_sleep;
  return plan;
}

/// Searches as the idle policy says until there is work or the scheduler has finished.
scheduler::found_work scheduler::idle(worker& self) {
  if (self.serves_only) return await_calls(self);
  trace::begin(self.track.load(std::memory_order_acquire), "idle");
  idle_.begin_search();
  found_work work;
  while (!finished_.load(std::memory_order_acquire)) {
    const auto [how, limit] = plan_wait(self);
    if (policy() != nullptr && too_many_awake()) [[unlikely]] {
      work = rest(self);
      if (work) break;
      continue;
    }
    const ticks start = tick_clock::now();
    const ticks reluctance = reluctance_to_ask(self);
    bool forced = false;
    ticks waited{};
    ticks yield_at{};
    do {
      for (int round = 0; round < 8 && !work; ++round) {
        work = search(self, round == 0 && waited >= reluctance);
        if (!work) work.letters = pause_for_letters(self);
      }
      waited = tick_clock::now() - start;
      if (work || waited > tick_clock::from_nanoseconds(limit)) break;
      if (!forced && waited > tick_clock::from_nanoseconds(patience_with_owner)) {
        forced = true;
        force_victims(self);
      }
      yield_now_and_then(waited, yield_at);
    } while (true);
    if (work) break;
    const bool may_nap = how == idle_policy::backoff;
    if (how == idle_policy::poll || may_nap) {
      force_victims(self);
      if (stopping_.load(std::memory_order_acquire)) {
        work = sleep(self);
      } else if (may_nap) {
        work = nap(self);
      } else if (oversubscribed_) {
        std::this_thread::yield();
      }
    } else {
      work = sleep(self);
    }
    if (work) break;
  }
  found_while_searching();
  trace::end(self.track.load(std::memory_order_acquire));
  return work;
}

/// The sleep of idle_policy::block. Entered and left as a searcher.
scheduler::found_work scheduler::sleep(worker& self) {
  idle_.begin_sleep();
  return sleep_begun(self, false);
}

/// The sleep of a worker beyond those that the policy wants awake, although there may be work.
scheduler::found_work scheduler::rest(worker& self) {
  if (!idle_.begin_rest(takers_ - std::clamp(policy()->most_awake(), 1U, takers_))) {
    return search(self, true);
  }
  return sleep_begun(self, true);
}

scheduler::found_work scheduler::sleep_begun(worker& self, bool rests) {
  self.asleep.store(true, std::memory_order_relaxed);
  arm_all();
  // From here on a push either sees its limit armed, or is seen by the checks below.
  heavy_fence();
  const bool stay = (!rests && (any_work() || !all_armed())) || has_letters(self) ||
                    finished_.load(std::memory_order_seq_cst);
  if (stay && idle_.cancel_sleep()) {
    force_victims(self);
  } else {
    if (stopping_.load(std::memory_order_acquire)) try_finish(self);
    self.counters.add(counter::parks);
    idle_.take_permit(self.index, [&] { return has_letters(self); });
    self.counters.add(counter::wakes);
  }
  sleeps_ended_.fetch_add(1, std::memory_order_seq_cst);
  self.asleep.store(false, std::memory_order_relaxed);
  // Another worker may have been woken while this one changed its mind.
  if (policy() != nullptr && too_many_awake()) return for_itself_alone(self);
  return search(self, true);
}

/// The nap of idle_policy::backoff: longer each time, and not ended early. A policy may want fewer
/// awake meanwhile.
scheduler::found_work scheduler::nap(worker& self) {
  const auto may_look = [&] {
    return self.serves_only || policy() == nullptr || !too_many_awake();
  };
  found_work work;
  for (auto length = 10us; !work && !stopping_.load(std::memory_order_acquire) && may_look();
       length = std::min<std::chrono::microseconds>(length * 2, longest_nap)) {
    static const std::atomic<std::uint32_t> never_changed{0};
    (void)futex_wait_until(never_changed, 0, deadline_clock::now() + length);
    if (!may_look()) break;
    work = search(self, true);
    if (!work && !self.serves_only && force_victims(self)) work = search(self, true);
  }
  return work;
}

/// The last worker to fall asleep of a stopping scheduler ends it if no strand is suspended, no
/// message under way, and no object left.
void scheduler::try_finish(worker& self) noexcept {
  const std::uint64_t before = sleeps_ended_.load(std::memory_order_seq_cst);
  if (idle_.sleepers() != takers_ || !service_workers_sleep() ||
      suspended_.load(std::memory_order_seq_cst) != 0 || any_letters(self) ||
      // A worker called before the first look has taken its message and will fall asleep again.
      sleeps_ended_.load(std::memory_order_seq_cst) != before || objects().end_all() ||
      // Another worker that is here found objects, and their workers end them just now.
      sleeps_ended_.load(std::memory_order_seq_cst) != before) {
    return;
  }
  objects().let_go();
  finish();
}

void scheduler::finish() noexcept {
  finished_.store(true, std::memory_order_seq_cst);
  idle_.wake_all();
  for (auto& each : workers_) {
    if (each->serves_only) ring(*each);
  }
}

std::exception_ptr scheduler::shut_down() noexcept {
  stopping_.store(true, std::memory_order_seq_cst);
  idle_.wake_all();
  for (auto& each : workers_) {
    if (each->thread.joinable()) each->thread.join();
  }
  while (visitors_.load(std::memory_order_acquire) != 0) std::this_thread::yield();
  sanitizer::acquired(&visitors_);
  end_policy();
  return write_trace();
}

}  // namespace creek::host_backend
