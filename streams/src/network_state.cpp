// SPDX-License-Identifier: Apache-2.0
#include "network_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>

#include <creek/core/error.hpp>
#include <creek/core/threads/sanitizer.hpp>
#include <creek/tasking/sleep.hpp>

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
  begun_ = tick_clock::now();
  may_spin_ = traits.worker_count > 1 && !traits.has_own_time;
  search_period_ = std::bit_ceil(std::max<std::uint64_t>(1024, 4 * processes_.size()));
  activity_.store(processes_.size(), std::memory_order_relaxed);
  alive_.store(processes_.size(), std::memory_order_relaxed);
  start_next();
  start_all_that_is_due();
  if (!processes_.empty()) end_.wait("the end of a network");
  ended_ = tick_clock::now();
}

/// One process at a time, so that the queue of a worker has room for it.
void network_state::start_next() noexcept {
  if (next_to_start_ == processes_.size()) return;
  int here = home_->worker_index();
  submits_.store(here);
  home_->submit(processes_[next_to_start_].get());
  submits_.compare_exchange_strong(here, nobody);
}

void network_state::start_all_that_is_due() {
  while (start_is_due_.load(std::memory_order_relaxed)) {
    sleep_for(std::chrono::microseconds(10));
    start_what_is_due();
  }
}

bool network_state::one_starts() noexcept {
  // On some backends submit() runs a task at once if a queue is full.
  if (submits_.load() == home_->worker_index()) {
    start_is_due_.store(true);
    return false;
  }
  ++next_to_start_;
  start_next();
  return true;
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
