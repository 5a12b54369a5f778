// SPDX-License-Identifier: Apache-2.0
// Decides how a worker without work waits.
#include "idle_loop.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include <creek/core/threads/futex.hpp>

namespace creek::host_backend {

using namespace std::chrono_literals;

namespace {

/// A worker that searches for longer yields its processor in between.
constexpr auto spin_without_yield = 100us;
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

void idle_loop::begin_asleep() noexcept {
  if (waker_.governor().policy() != nullptr || workers_.options().idle != idle_policy::block)
    return;
  for (worker& each : workers_) {
    if (each.serves_only) continue;
    each.begins_asleep = true;
    each.asleep.store(true, std::memory_order_relaxed);
    each.place.vacate();
  }
  waker_.state().begin_asleep(workers_.consumers());
}

void idle_loop::begin(worker& self) noexcept {
  if (self.begins_asleep) sleep_.begin(self);
}

found_work idle_loop::find_first_work(worker& self) {
  if (recorder* const records = self.recording()) records->begin_slice("idle");
  return search(self, std::exchange(self.kept, {}));
}

found_work idle_loop::find_work(worker& self) {
  const bool looks = self.serves_only || !sleep_.too_many_awake();
  found_work work = looks ? search_.everywhere(self, false) : found_work{};
  if (work) return work;
  return self.serves_only ? await_calls(self) : await_work(self);
}

/// Called when a searcher leaves with work. The last searcher answers for pushes that relied on it;
/// up to two are woken, so that the workers with work double and do not come one by one.
void idle_loop::found_while_searching() noexcept {
  const bool hands_over = waker_.state().end_search();
  // A borrower that has left its place to sleep on did not arm this worker's deque.
  if (waker_.state().maybe_sleepers()) ext::current_stack->refresh_armed();
  if (!hands_over) return;
  // A power policy is asked about one task at a time.
  const unsigned enough = waker_.governor().policy() != nullptr ? 1 : 2;
  for (unsigned tasks = search_.count_work(enough); tasks > 0 && waker_.wake_one(); --tasks) {
  }
}

/// Returns whether the scheduler is to end and nobody works: the sleepers find out that it may.
bool idle_loop::is_end_near() const noexcept {
  return shutdown_.requested() && waker_.state().idle() == workers_.consumers();
}

/// Yields now and then: a spinning worker may keep its processor from the worker that it waits for,
/// if the kernel has put both on one. Only for messages: task pushes wake nobody if one searches.
void idle_loop::yield_now_and_then(ticks waited, ticks& yield_at) const noexcept {
  if (yield_at == ticks{}) yield_at = tick_clock::from_nanoseconds(first_yield);
  if (waited <= yield_at || !messages_.in_use()) return;
  std::this_thread::yield();
  yield_at = waited + waited;
}

/// Returns how a worker without work waits: it searches for `search`, then waits as `how` says.
idle_plan idle_loop::plan_wait(const worker& self) const noexcept {
  idle_plan plan = waker_.governor().plan_wait(self.index, workers_.options().idle);
  if (plan.search.count() < 0)
    plan.search = workers_.oversubscribed() ? 2us : workers_.options().spin_wait;
  return plan;
}

found_work idle_loop::await_work(worker& self) {
  if (recorder* const records = self.recording()) records->begin_slice("idle");
  waker_.state().begin_search();
  return search(self, {});
}

/// Searches and sleeps, as one that is counted as a searcher, unless `work` was found already.
found_work idle_loop::search(worker& self, found_work work) {
  while (!work && !shutdown_.finished()) {
    const auto [how, limit] = plan_wait(self);
    if (sleep_.too_many_awake()) [[unlikely]] {
      work = sleep_.rest(self);
      continue;
    }
    work = spin(self, limit);
    if (!work) work = block(self, how);
  }
  found_while_searching();
  if (recorder* const records = self.recording()) records->end_slice();
  return work;
}

/// Searches for `limit`; after a while prepares stacks between two looks.
found_work idle_loop::spin(worker& self, std::chrono::nanoseconds limit) {
  const ticks start = tick_clock::now();
  const ticks reluctance = reluctance_to_ask(self);
  found_work work;
  bool forced = false;
  ticks waited{};
  ticks yield_at{};
  for (;;) {
    for (int round = 0; round < 8 && !work; ++round) {
      work = search_.everywhere(self, round == 0 && waited >= reluctance);
      // After a while owners have been forced to share what they have.
      if (!work && round == 0) work = search_.of_low_priority(forced);
      if (!work) work = found_work::messages_if(messages_.pause_for_messages(self));
    }
    waited = tick_clock::now() - start;
    if (work || waited > tick_clock::from_nanoseconds(limit)) return work;
    if (waker_.is_asked_for_place() || is_end_near()) return work;
    if (!forced && waited > tick_clock::from_nanoseconds(patience_with_owner)) {
      forced = true;
      search_.force_victims(self);
    }
    if (forced) fibers_.tend_idle_fibers(self);
    if (waited > tick_clock::from_nanoseconds(spin_without_yield)) std::this_thread::yield();
    yield_now_and_then(waited, yield_at);
  }
}

/// Waits as `how` says after a search in vain.
found_work idle_loop::block(worker& self, idle_policy how) {
  if (how != idle_policy::poll && how != idle_policy::backoff) return sleep_.sleep(self);
  const bool shared = search_.force_victims(self);
  if (shutdown_.requested()) return sleep_.sleep(self);
  if (how == idle_policy::backoff) return nap(self);
  if (workers_.oversubscribed()) std::this_thread::yield();
  return shared ? found_work{} : search_.of_low_priority(true);
}

/// The nap of idle_policy::backoff: longer each time, and not ended early. A policy may want fewer
/// awake meanwhile.
found_work idle_loop::nap(worker& self) {
  const auto may_look = [&] { return self.serves_only || !sleep_.too_many_awake(); };
  found_work work;
  for (auto length = 10us; !work && !shutdown_.requested() && may_look();
       length = std::min<std::chrono::microseconds>(length * 2, longest_nap)) {
    static const std::atomic<std::uint32_t> never_changed{0};
    if (recorder* const records = self.recording()) records->becomes(recorder::idle::sleeping);
    (void)futex_wait_until(never_changed, 0, deadline_clock::now() + length);
    if (recorder* const records = self.recording()) records->becomes(recorder::idle::searching);
    if (!may_look()) break;
    work = search_.everywhere(self, true);
    if (!work && !self.serves_only) {
      if (search_.force_victims(self)) work = search_.everywhere(self, true);
      if (!work) work = search_.of_low_priority(true);
    }
  }
  return work;
}

/// Like await_work(), and by the same policies, but for a worker that takes no tasks
/// (scheduler_options::serve_only).
found_work idle_loop::await_calls(worker& self) {
  if (recorder* const records = self.recording()) records->begin_slice("idle");
  found_work work;
  while (!work && !shutdown_.finished()) {
    const ticks start = tick_clock::now();
    const idle_plan plan = plan_wait(self);
    const ticks limit = tick_clock::from_nanoseconds(plan.search);
    ticks yield_at{};
    // Once at least, also at the end: what was sent is handled before the worker sleeps.
    for (ticks waited{}; !work && waited <= limit; waited = tick_clock::now() - start) {
      if (waited > ticks{} && shutdown_.requested()) break;
      if (waited > tick_clock::from_nanoseconds(spin_without_yield)) std::this_thread::yield();
      yield_now_and_then(waited, yield_at);
      work = search_.everywhere(self, false);
      if (!work) work = found_work::messages_if(messages_.pause_for_messages(self));
    }
    if (work) break;
    if (shutdown_.requested() || plan.how == idle_policy::block) {
      sleep_.sleep_until_called(self);
    } else if (plan.how == idle_policy::backoff) {
      work = nap(self);
    } else if (workers_.oversubscribed()) {
      std::this_thread::yield();
    }
  }
  if (recorder* const records = self.recording()) records->end_slice();
  return work;
}

}  // namespace creek::host_backend
