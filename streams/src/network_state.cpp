// SPDX-License-Identifier: Apache-2.0
#include "network_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include <creek/core/error.hpp>
#include <creek/core/threads/sanitizer.hpp>
#include <creek/tasking/ext/remote_message.hpp>

namespace creek::stream::detail {

void network_state::require_complete() const {
  for (const auto& each : channels_) {
    const channel_base& one = *each;
    if (one.reader_ != nullptr && one.writer_ != nullptr) continue;
    const bool lacks_both = one.reader_ == nullptr && one.writer_ == nullptr;
    const process* const known = one.reader_ != nullptr ? one.reader_ : one.writer_;
    throw usage_error(
        fmt::format("stream: {} has no {}{}: give its end to a process", one.name(),
                    lacks_both ? "process" : (one.reader_ == nullptr ? "reader" : "writer"),
                    lacks_both ? ""
                               : fmt::format(", '{}' {} it", known->name(),
                                             one.reader_ == nullptr ? "writes" : "reads")));
  }
}

void network_state::run() {
  home_ = &ext::require_executor("stream::network::run");
  const ext::executor_traits& traits = home_->traits();
  workers_ = traits.worker_count;
  begun_ = clock_.now();
  may_spin_ = traits.worker_count > 1 && !traits.has_own_time;
  search_period_ = std::bit_ceil(std::max<std::uint64_t>(1024, 4 * processes_.size()));
  activity_.store(processes_.size(), std::memory_order_relaxed);
  alive_.store(processes_.size(), std::memory_order_relaxed);
  if (!traits.shares_memory || any_is_placed()) {
    require_workers();
    home_->messages().prepare();
    if (!traits.shares_memory) place_all();
    start_placed();
  }
  start_next();
  if (!processes_.empty()) end_.wait("the end of a network");
  ended_ = clock_.now();
}

/// One process at a time: each starts the next one, so that a worker's queue stays short.
void network_state::start_next() noexcept {
  while (next_to_start_ != processes_.size() && processes_[next_to_start_]->worker() >= 0)
    ++next_to_start_;
  if (next_to_start_ != processes_.size()) home_->submit(processes_[next_to_start_++].get());
}

void network_state::place(std::size_t process, unsigned worker) {
  if (process >= processes_.size()) {
    throw usage_error(fmt::format("stream: there is no process {}: the network has {}", process,
                                  processes_.size()));
  }
  processes_[process]->place(worker);
}

/// Gives a worker to each process that has none: the same one to neighbours if there are more
/// processes than workers, else neighbouring ones, from the calling worker on. Those that join
/// others are one with them.
void network_state::place_all() {
  const auto joins = [](const auto& each) { return each->joins_previous(); };
  const std::size_t groups =
      processes_.size() - static_cast<std::size_t>(std::ranges::count_if(processes_, joins));
  const auto first = static_cast<std::size_t>(home_->worker_index());
  const std::size_t shares = std::max<std::size_t>(groups, workers_);
  std::size_t begun = 0;
  for (const auto& each : processes_) {
    begun += each->joins_previous() ? 0 : 1;
    if (each->worker() >= 0) continue;
    each->place(static_cast<unsigned>((first + (begun - 1) * workers_ / shares) % workers_));
  }
  for (const auto& each : channels_) each->use_messages();
}

bool network_state::any_is_placed() const noexcept {
  return std::ranges::any_of(processes_, [](const auto& each) { return each->worker() >= 0; });
}

void network_state::require_workers() const {
  for (const auto& each : processes_) {
    if (each->worker() < static_cast<int>(workers_)) continue;
    throw usage_error(fmt::format("stream: process '{}' is to run on worker {}, of {} workers",
                                  each->name(), each->worker(), workers_));
  }
}

struct network_state::start_message {
  ext::message_head head;
  process* started;
  static void arrive(std::byte* message) noexcept {
    start_message came;
    std::memcpy(&came, message, sizeof came);
    came.started->execute();
  }
};

void network_state::start_placed() {
  for (const auto& each : processes_) {
    if (each->worker() < 0) continue;
    const start_message made{{&start_message::arrive, nullptr, nullptr}, each.get()};
    send(*each, &made, sizeof made);
  }
}

void network_state::one_ends() noexcept {
  const std::uint64_t before = activity_.fetch_sub(1, std::memory_order_seq_cst);
  if (active(before) == 1) resume_all(break_deadlocks());
  sanitizer::releases(&alive_);
  if (alive_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  sanitizer::acquired(&alive_);
  end_.finish();
}

void network_state::end_early(std::exception_ptr why) noexcept {
  process* to_resume = nullptr;
  {
    const std::lock_guard hold(searching_);
    end_all(std::move(why), to_resume);
  }
  tell_early_end();
  resume_all(to_resume);
}

void network_state::end_all(std::exception_ptr why, process*& to_resume) noexcept {
  if (ends_early()) return;
  reason_ = std::move(why);
  // A process that is not found on its channel looks at this before it waits.
  ends_early_.store(true, std::memory_order_seq_cst);
  for (const auto& each : channels_) {
    for (const side which : {side::items, side::room}) each->take_off(which, to_resume);
  }
}

process* network_state::break_deadlocks() noexcept {
  process* to_resume = nullptr;
  {
    const std::lock_guard hold(searching_);
    while (!ends_early() && !search(to_resume)) {
    }
  }
  tell_early_end();
  return to_resume;
}

void network_state::resume_all(process* first) noexcept {
  while (first != nullptr) {
    process* const next = first->next_to_resume_;
    first->resume();
    first = next;
  }
}

}  // namespace creek::stream::detail
