// SPDX-License-Identifier: Apache-2.0
// The wait of a process at a channel. README.md has the protocol.
#include <creek/stream/detail/process.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include <creek/core/measuring/clock.hpp>
#include <creek/core/threads/sanitizer.hpp>
#include <creek/core/threads/spin_lock.hpp>
#include <creek/stream/network.hpp>

#include "network_state.hpp"

namespace creek::stream::detail {

channel_base::channel_base(network_state& network, std::size_t number, std::string item_type)
    : network_(&network), number_(number), item_type_(std::move(item_type)) {}

std::string channel_base::name() const {
  return fmt::format("channel {} ({})", number_, item_type_);
}

bool channel_base::is_ready(side which) const noexcept {
  const word written = process_memory::load(place_.written);
  if (which == side::items)
    return writer_has_ended() || written != process_memory::load(place_.taken);
  if (route_) return route_->has_room(capacity()) || reader_has_ended();
  const word published = process_memory::load(place_.published);
  return (written - published) / spsc_place::step < capacity() || reader_has_ended();
}

void channel_base::tell_end_of_reader() noexcept {
  reader_has_ended_.store(true, std::memory_order_seq_cst);
  wake(side::room);
}

process& channel_base::watcher() noexcept {
  alignas(process) static constinit std::byte mark[sizeof(process)]{};  // an address, no process
  return reinterpret_cast<process&>(mark);
}

void channel_base::tell_change(side which) noexcept {
  if (!route_) return wake(which);
  if (which == side::items) route_->send_written();
}

void channel_base::were_read(std::size_t count) noexcept {
  if (route_) return route_->note_read(count, published_position());
  // By a quarter of the room at least: one wake-up pays for many items.
  if (is_ready(side::room)) wake(side::room);
}

void channel_base::hear(news what, std::size_t count) noexcept {
  const word written = process_memory::load(place_.written);
  switch (what) {
    case news::items:
      process_memory::store(place_.written, written + static_cast<word>(count) * spsc_place::step);
      return wake(side::items);
    case news::room_wanted:
      route_->note_wanted_room();
      return publish_room();
    case news::end_of_items:
      process_memory::store(place_.written, written | spsc_place::closed_bit);
      return wake(side::items);
    case news::room:
      route_->add_room(count);
      return wake(side::room);
    case news::end_of_reader:
      return tell_end_of_reader();
  }
}

void channel_base::show_all() noexcept {
  if (route_) process_memory::store(place_.written, route_->skip_written());
}

void channel_base::wake(side which) noexcept {
  process* const waiter = waiting(which).exchange(nullptr, std::memory_order_seq_cst);
  if (waiter == nullptr) return;
  waiter->make_ready();
  waiter->resume();
}

void channel_base::take_off(side which, process*& to_resume) noexcept {
  process* const waiter = waiting(which).exchange(nullptr, std::memory_order_seq_cst);
  if (waiter == nullptr) return;
  waiter->make_ready();
  waiter->next_to_resume_ = std::exchange(to_resume, waiter);
}

/// The process is off the channel, so nobody else continues it. It counts as active before it does
/// so: while its waker is active, the count is never zero. The new phase may be seen late, but no
/// later than that of a wait of the waker: a search sees both wait at once only if they did.
void process::make_ready() noexcept {
  if (activity_) [[unlikely]]
    activity_->is_ready();
  network_->one_continues();
  const std::uint64_t waits = state_.load(std::memory_order_relaxed);
  state_.store(behind(waits, phase::ready), std::memory_order_release);
}

/// The state of a wait under way; lies in the waiter's frame.
struct process::wait_call {
  process* waiter;
  channel_base* at;
  side which;
  bool searches;  ///< has to look for deadlocks
};

void process::wait(channel_base& at, side which) {
  publish_room_of_inputs();
  leave_if_network_ends();
  if (which == side::room && at.route() != nullptr) at.route()->want_room();
  if (activity_) [[unlikely]]
    activity_->wait_begins();
  if (!spins_until_ready(at, which)) suspend_at(at, which);
  if (activity_) [[unlikely]]
    note_wait(at, which);
  leave_if_network_ends();
}

void process::note_wait(channel_base& at, side which) noexcept {
  channel_base::wait_count& count = at.waits_[static_cast<int>(which)];
  const auto what = which == side::items ? activity::wait::items : activity::wait::room;
  count.waited = count.waited + activity_->wait_ends(what);
  ++count.times;
  trace::track* const track = activity_->track;
  if (track == nullptr) return;
  const auto items = static_cast<std::int64_t>(at.place_.size(process_memory{}));
  track->record(trace::event_kind::counter, activity_->clock.now(), at.trace_name_, items);
}

void process::suspend_at(channel_base& at, side which) {
  awaited_.store(&at, std::memory_order_relaxed);
  awaited_side_.store(which, std::memory_order_relaxed);
  is_published_.store(false, std::memory_order_relaxed);
  const std::uint64_t before = state_.load(std::memory_order_relaxed);
  // Counted behind this: the search of the last active process sees that this one waits.
  state_.store(with(before, phase::blocking), std::memory_order_release);
  wait_call call{this, &at, which, network_->one_waits()};
  ext::suspend_here(&publish, &call,
                    which == side::items ? "an item of a stream" : "room in a stream");
  // The call is used until then, and the state may still change to `blocked`.
  spin_briefly([this] { return is_published_.load(std::memory_order_acquire); });
  sanitizer::acquired(&is_published_);
  state_.exchange(behind(before, phase::running), std::memory_order_seq_cst);
}

/// If the process at the other end runs on another worker, the wait may be shorter than a switch.
bool process::spins_until_ready(const channel_base& at, side which) const noexcept {
  if (!network_->may_spin()) return at.is_ready(which);
  constexpr int pauses = 100;
  const process& other = at.other(which);
  for (int i = 0; !at.is_ready(which); ++i) {
    if (i == pauses || !other.is_running()) return false;
    cpu_pause();
  }
  return true;
}

bool process::publish(void* argument, ext::strand* self) {
  auto& call = *static_cast<wait_call*>(argument);
  process& waiter = *call.waiter;
  channel_base& at = *call.at;
  waiter.strand_ = self;
  const std::uint64_t blocking = waiter.state_.load(std::memory_order_relaxed);
  at.waiting(call.which).exchange(&waiter, std::memory_order_seq_cst);
  // A process that does not run passes a fence before it uses the channel again.
  if (at.other(call.which).is_running()) heavy_fence();
  bool suspended = true;
  process* to_resume = nullptr;
  if (at.is_ready(call.which) || waiter.network_->ends_early()) {
    if (call.searches) waiter.network_->ask_for_search();
    suspended = at.waiting(call.which).exchange(nullptr, std::memory_order_seq_cst) != &waiter;
    if (!suspended) waiter.network_->one_continues();
  } else {
    std::uint64_t expected = blocking;
    waiter.state_.compare_exchange_strong(expected, with(blocking, phase::blocked),
                                          std::memory_order_seq_cst);
    if (waiter.network_->search_is_asked_for() || call.searches)
      to_resume = waiter.network_->break_deadlocks();
  }
  // The process continues after this, and may end with all of the network.
  sanitizer::releases(&waiter.is_published_);
  waiter.is_published_.store(true, std::memory_order_release);
  network_state::resume_all(to_resume);
  return suspended;
}

process::process(network_state& network, std::string name)
    : network_(&network), network_ends_(&network.early_end()), name_(std::move(name)) {
  ext::submitted_task::run = [](ext::submitted_task* self) noexcept {
    static_cast<process*>(self)->execute();
  };
  ext::submitted_task::name = name_.c_str();
}

std::stop_token process::early_end() const noexcept {
  return network_->early_end_token();
}

void process::leave_if_nobody_reads() const {
  const auto has_ended = [](const channel_base* each) {
    return each->reader_has_ended() || each->writer_has_closed();
  };
  if (std::ranges::all_of(outputs_, has_ended)) throw process_leaves{};
}

void process::run_body_as_task() noexcept {
  try {
    run_body();
  } catch (const process_leaves&) {
  } catch (...) {
    fail(std::current_exception());
  }
}

void process::fail(std::exception_ptr cause) noexcept {
  std::exception_ptr failure = cause;
  try {
    failure = std::make_exception_ptr(process_error(name_, std::move(cause)));
  } catch (...) {  // no memory for that: the cause itself
  }
  network_->end_early(std::move(failure));
}

/// Runs the process to its end, on its strand.
void process::execute() noexcept {
  network_->one_starts(*this);
  change_phase(phase::running);
  if (activity_) activity_->begin();
  if (!network_->ends_early()) {
    const auto body = [](void* self) noexcept { static_cast<process*>(self)->run_body_as_task(); };
    // Returns when all tasks that the body has spawned have ended.
    if (std::exception_ptr of_tasks = ext::run_branch_as_task(body, this))
      fail(std::move(of_tasks));
  }
  if (activity_) activity_->end();
  close_ports();
  change_phase(phase::ended);
  network_->one_ends();
}

}  // namespace creek::stream::detail
