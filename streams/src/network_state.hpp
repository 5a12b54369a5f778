// SPDX-License-Identifier: Apache-2.0
// The processes of a network that runs: who is active, when they wait for each other for ever, and
// how all of them end early.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include <creek/stream/detail/completion.hpp>
#include <creek/stream/detail/process.hpp>
#include <creek/stream/report.hpp>
#include <creek/tasking/ext/messages.hpp>

namespace creek::stream::detail {

class network_state {
 public:
  explicit network_state(std::size_t max_capacity) : max_capacity_(max_capacity) {}

  void add(std::unique_ptr<channel_base> one) { channels_.push_back(std::move(one)); }
  /// Makes room for a process, so that add() does not throw.
  void expect_process() {
    if (processes_.size() == processes_.capacity()) processes_.reserve(2 * processes_.size() + 8);
  }
  /// Returns its number.
  std::size_t add(std::unique_ptr<process> one) {
    processes_.push_back(std::move(one));
    return processes_.size() - 1;
  }
  [[nodiscard]] std::size_t channels() const noexcept { return channels_.size(); }
  [[nodiscard]] const channel_base& channel(std::size_t index) const { return *channels_[index]; }
  /// Has the times of processes and channels measured, and traced if `session` is not null. Before
  /// run(), with all processes.
  void measure(activity_clock by, trace::session* session);
  /// Returns the figures of the run; times only if they were measured.
  [[nodiscard]] network_report report() const;
  /// Throws usage_error if an end of a channel belongs to no process.
  void require_complete() const;
  /// Runs all processes to their ends.
  void run();
  /// Returns why the network ended early. After run(), when nobody can end it any more.
  [[nodiscard]] std::exception_ptr reason() const noexcept { return reason_; }

  /// Called by a process on its strand before all else: lets the next one start.
  void one_starts(const process& started) noexcept {
    if (started.worker() < 0) start_next();
  }
  void join_previous(std::size_t process) noexcept { processes_[process]->join_previous(); }
  /// Has a process run on a worker. Before run().
  void place(std::size_t process, unsigned worker);
  /// Returns whether a process that was placed runs on the calling worker.
  [[nodiscard]] bool is_here(const process& one) const noexcept {
    return one.worker() == home_->worker_index();
  }
  /// Sends a message, which one_more() has counted, to the worker of a process that was placed.
  void send(const process& to, const void* message, std::size_t bytes) const {
    home_->messages().send(static_cast<unsigned>(to.worker()), message, bytes);
  }

  /// Ends all processes when they next wait, because of this. The first reason counts.
  void end_early(std::exception_ptr why) noexcept;
  [[nodiscard]] bool ends_early() const noexcept {
    return ends_early_.load(std::memory_order_seq_cst);
  }
  [[nodiscard]] const std::atomic<bool>& early_end() const noexcept { return ends_early_; }
  /// Returns a token of which a stop is requested when the network ends early.
  [[nodiscard]] std::stop_token early_end_token() const noexcept { return early_end_.get_token(); }
  [[nodiscard]] bool may_spin() const noexcept { return may_spin_; }

  /// A process that waits. Returns whether deadlocks have to be looked for once it does.
  [[nodiscard]] bool one_waits() noexcept {
    const std::uint64_t before = activity_.fetch_add(wait_step - 1, std::memory_order_seq_cst);
    return active(before) == 1 || (before / wait_step) % search_period_ == 0;
  }
  /// A process that is to continue.
  void one_continues() noexcept { activity_.fetch_add(1, std::memory_order_seq_cst); }
  /// A message that is sent: active until it has arrived.
  void one_more() noexcept {
    one_continues();
    alive_.fetch_add(1, std::memory_order_relaxed);
  }
  /// A process that has ended, or a message that has arrived; looks for deadlocks if it was the
  /// last one active. The network may be gone after that.
  void one_ends() noexcept;
  /// Lets the next process that waits search.
  void ask_for_search() noexcept { search_is_asked_for_.store(true, std::memory_order_seq_cst); }
  /// Returns whether a search found a process about to wait, which has to search in its place.
  [[nodiscard]] bool search_is_asked_for() noexcept {
    return search_is_asked_for_.load(std::memory_order_seq_cst) &&
           search_is_asked_for_.exchange(false, std::memory_order_seq_cst);
  }
  /// Looks for processes that wait for each other. If one of them waits for room, the smallest such
  /// channel grows; else the network ends. Returns the processes to resume, a list.
  [[nodiscard]] process* break_deadlocks() noexcept;
  /// Resumes the processes of a list; uses this only before the last one.
  static void resume_all(process* first) noexcept;

 private:
  /// The low half counts active processes, the high half waits.
  static constexpr std::uint64_t wait_step = std::uint64_t{1} << 32;
  void start_next() noexcept;
  void place_all();
  [[nodiscard]] bool any_is_placed() const noexcept;
  /// Throws usage_error if a process was placed on a worker that does not exist.
  void require_workers() const;
  struct start_message;
  void start_placed();
  [[nodiscard]] static std::uint32_t active(std::uint64_t activity) noexcept {
    return static_cast<std::uint32_t>(activity);
  }

  /// Looks once at all processes; adds to the list those to resume. Returns false if one was about
  /// to wait and now does, so that there may be more to find.
  [[nodiscard]] bool search(process*& to_resume) noexcept;
  enum class walk_end : std::uint8_t { at_active, at_about_to_wait, at_seen, in_cycle };
  [[nodiscard]] walk_end walk_from(process*& at, std::uint64_t first_walk) noexcept;
  [[nodiscard]] bool ask_to_search(process& about_to_wait) noexcept;
  void resolve(process& cycle, process*& to_resume) noexcept;
  /// Ends all processes, with `searching_` held; then tell_early_end() without.
  void end_all(std::exception_ptr why, process*& to_resume) noexcept;
  /// Ends waits elsewhere, by functions of the program perhaps, so without a lock. Called before
  /// the processes are resumed, and by one that keeps the network alive.
  void tell_early_end() noexcept {
    if (ends_early()) early_end_.request_stop();
  }

  std::size_t max_capacity_;
  std::vector<std::unique_ptr<channel_base>> channels_;
  std::vector<std::unique_ptr<process>> processes_;
  alignas(64) std::atomic<std::uint64_t> activity_{0};
  ext::executor* home_ = nullptr;
  std::size_t next_to_start_ = 0;  ///< used by one at a time: the process that started last
  std::atomic<std::size_t> alive_{0};
  completion end_;
  std::uint64_t search_period_ = 1;
  bool may_spin_ = false;
  unsigned workers_ = 0;
  bool is_measured_ = false;
  activity_clock clock_;
  ticks begun_, ended_;
  alignas(64) std::atomic<bool> ends_early_{false};
  std::stop_source early_end_;
  std::atomic<bool> search_is_asked_for_{false};
  std::mutex searching_;
  std::uint64_t walks_ = 0;
  std::exception_ptr reason_;
};

}  // namespace creek::stream::detail
