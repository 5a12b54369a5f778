// SPDX-License-Identifier: Apache-2.0
// Processes and channels of a network without their types: blocking, waking, ending.
// streams/README.md has the protocol.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <creek/core/messages/spsc_ring.hpp>
#include <creek/core/threads/asymmetric_fence.hpp>
#include <creek/stream/detail/activity.hpp>
#include <creek/stream/detail/item_route.hpp>
#include <creek/tasking/ext/executor.hpp>
#include <creek/tasking/ext/task_stack.hpp>

namespace creek::stream::detail {

class process;
class network_state;

/// A side of a channel: its reader waits for items, its writer for room.
enum class side : std::uint8_t { items, room };

/// Ends a process whose network ends, or whose items nobody reads any more. No std::exception: a
/// handler of the program for errors lets it pass.
struct process_leaves {};

/// A channel from one process to another, without the type of its items.
class channel_base {
 public:
  channel_base(network_state& network, std::size_t number, std::string item_type);
  virtual ~channel_base() = default;
  channel_base(const channel_base&) = delete;
  channel_base& operator=(const channel_base&) = delete;

  [[nodiscard]] virtual std::size_t capacity() const noexcept = 0;
  /// Makes room for more items. While neither end runs.
  virtual void grow(std::size_t capacity) = 0;
  /// Lets the writer see all room: before the reader waits. Called by the reader.
  virtual void publish_room() noexcept = 0;
  /// Returns the bytes that move with the last items that were written.
  [[nodiscard]] virtual std::size_t bytes_of_last(std::size_t count) const noexcept = 0;
  /// Called on the worker that news of the other end is for, once they have arrived.
  void hear(news what, std::size_t count) noexcept;
  /// Has items travel in messages. Before any is written.
  virtual void use_messages() = 0;
  /// Returns the way of the items, or null if both ends share memory.
  [[nodiscard]] item_route* route() const noexcept { return route_.get(); }

  /// Returns how many items were read (side items) or written so far. Called by that end; by others
  /// once it has ended.
  [[nodiscard]] std::uint64_t items(side which) noexcept {
    count_items(which);
    return counts_[static_cast<int>(which)].total;
  }
  /// Adds what was read or written since the last call: fewer than 2^31 items. Called by that end
  /// when it waits.
  void count_items(side which) noexcept {
    item_count& count = counts_[static_cast<int>(which)];
    const word now = position(which);
    count.total += (now - count.position) & item_count::mask;
    count.position = now;
  }
  [[nodiscard]] std::size_t number() const noexcept { return number_; }
  /// Returns "channel 3 (int)".
  [[nodiscard]] std::string name() const;
  [[nodiscard]] process*& end(side which) noexcept {
    return which == side::items ? reader_ : writer_;
  }
  /// Returns the process that ends a wait for this side.
  [[nodiscard]] process& other(side waited) const noexcept {
    return *(waited == side::items ? writer_ : reader_);
  }
  [[nodiscard]] network_state& network() const noexcept { return *network_; }

  /// Called after an item was added (side items) or room was published: one load if none waits.
  void changed(side which) noexcept {
    // Pairs with the fence in process::publish.
    light_fence();
    if (is_watched(which)) [[unlikely]]
      tell_change(which);
  }
  /// Wakes the process that waits at this side, unless another thread does.
  void wake(side which) noexcept;
  /// Does the same, but adds the process to a list of those to resume.
  void take_off(side which, process*& to_resume) noexcept;
  /// Returns whether a process that waits at this side has to look again.
  [[nodiscard]] bool is_ready(side which) const noexcept;
  [[nodiscard]] bool reader_has_ended() const noexcept {
    return reader_has_ended_.load(std::memory_order_acquire);
  }
  /// Returns what the reader knows.
  [[nodiscard]] bool writer_has_ended() const noexcept {
    return (process_memory::load(place_.written) & spsc_place::closed_bit) != 0;
  }
  /// Returns what the writer knows: whether it has closed its port.
  [[nodiscard]] bool writer_has_closed() const noexcept {
    return route_ ? route_->is_closed() : writer_has_ended();
  }

 protected:
  void set_place(const spsc_place& place) noexcept { place_ = place; }
  [[nodiscard]] const spsc_place& place() const noexcept { return place_; }
  void set_route(std::unique_ptr<item_route> route) noexcept {
    route_ = std::move(route);
    for (auto& each : waiting_) each.store(&watcher(), std::memory_order_relaxed);
  }
  /// Returns whether a change of this side is more than a store: somebody may wait for it, or has
  /// to be told of it.
  [[nodiscard]] bool is_watched(side which) const noexcept {
    return waiting_[static_cast<int>(which)].load(std::memory_order_relaxed) != nullptr;
  }
  /// Shows the reader all that was written, without a message: before a ring is replaced, or goes.
  void show_all() noexcept;
  /// Called where the reader has taken items, if room is watched.
  void were_read(std::size_t count) noexcept;
  /// Called behind a change of the place, before which all items were counted.
  void count_from_here() noexcept {
    for (const side which : {side::items, side::room})
      counts_[static_cast<int>(which)].position = position(which);
  }
  /// Returns whether the reader has taken items whose room it has not published. Reader only.
  [[nodiscard]] bool has_room_to_publish() const noexcept {
    return process_memory::load(place_.taken) != process_memory::load(place_.published);
  }
  /// Returns the position up to which room was published.
  [[nodiscard]] word published_position() const noexcept {
    return process_memory::load(place_.published);
  }
  /// Says that the reader takes no more items.
  void tell_end_of_reader() noexcept;

 private:
  friend process;
  friend network_state;

  struct item_count {
    static constexpr word mask = (word{1} << 31) - 1;  ///< positions count up to this
    std::uint64_t total = 0;
    word position = 0;
  };
  struct wait_count {
    std::uint64_t times = 0;
    ticks waited;
  };
  [[nodiscard]] word position(side which) const noexcept {
    if (which == side::items) return process_memory::load(place_.taken) / spsc_place::step;
    return (route_ ? route_->written() : process_memory::load(place_.written)) / spsc_place::step;
  }
  /// Returns where the process that waits at this side enters itself.
  [[nodiscard]] std::atomic<process*>& waiting(side which) noexcept {
    return route_ ? route_->waiting(which == side::items) : waiting_[static_cast<int>(which)];
  }
  void tell_change(side which) noexcept;
  /// Stands for the route of a channel among the processes that wait.
  [[nodiscard]] static process& watcher() noexcept;

  network_state* network_;
  process* reader_ = nullptr;
  process* writer_ = nullptr;
  std::size_t number_;
  std::string item_type_;
  // Read at every operation, written when somebody waits. With a route always the watcher().
  alignas(64) std::atomic<process*> waiting_[2]{};
  spsc_place place_{};
  std::atomic<bool> reader_has_ended_{false};
  const char* trace_name_ = nullptr;
  item_count counts_[2];
  wait_count waits_[2];
  std::unique_ptr<item_route> route_;
};

/// A process of a network: a strand that runs until a channel is empty or full.
class process : ext::submitted_task {
 public:
  process(network_state& network, std::string name);
  virtual ~process() = default;
  process(const process&) = delete;
  process& operator=(const process&) = delete;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Throws process_leaves if the network ends early.
  void leave_if_network_ends() const {
    if (network_ends_->load(std::memory_order_relaxed)) [[unlikely]]
      throw process_leaves{};
  }
  /// Waits until the channel may be ready. Throws process_leaves if the network ends.
  void wait(channel_base& at, side which);
  /// Returns a token of which a stop is requested when the network ends early.
  [[nodiscard]] std::stop_token early_end() const noexcept;
  /// Calls `wait`, which waits for something else than a channel. Others need not spin for this
  /// process meanwhile, nor make it pass a fence: it passes one before and after that.
  template <class F>
  decltype(auto) wait_elsewhere(F&& wait) {
    const elsewhere mark(*this);
    return std::forward<F>(wait)();
  }
  /// Returns what is measured of this process, or null.
  [[nodiscard]] activity* measured() const noexcept { return activity_.get(); }
  /// Called in place of a write to a channel whose reader has ended: throws process_leaves if
  /// nobody reads what this process writes.
  void leave_if_nobody_reads() const;
  /// Has the process share the worker of the one added before it, unless either is placed.
  void join_previous() noexcept { joins_previous_ = true; }
  [[nodiscard]] bool joins_previous() const noexcept { return joins_previous_; }
  /// Has the process run on this worker. Before the run.
  void place(unsigned worker) noexcept { worker_ = static_cast<int>(worker); }
  /// Returns the worker on which the process has to run, -1 if any may.
  [[nodiscard]] int worker() const noexcept { return worker_; }

 protected:
  virtual void run_body() = 0;
  virtual void close_ports() noexcept = 0;
  /// Ports that the process was given.
  std::vector<channel_base*> inputs_, outputs_;

 private:
  friend channel_base;
  friend network_state;
  struct wait_call;
  class elsewhere {
   public:
    explicit elsewhere(process& waiting) noexcept : waiting_(waiting) {
      waiting_.publish_room_of_inputs();
      if (activity* const measured = waiting_.measured()) measured->wait_begins();
      waiting_.change_phase(phase::ready);
    }
    ~elsewhere() {
      waiting_.change_phase(phase::running);
      if (activity* const measured = waiting_.measured())
        (void)measured->wait_ends(activity::wait::elsewhere);
    }
    elsewhere(const elsewhere&) = delete;
    elsewhere& operator=(const elsewhere&) = delete;

   private:
    process& waiting_;
  };

  /// Running on a worker; ready to continue; about to wait; waiting; ended.
  enum class phase : std::uint8_t { running, ready, blocking, blocked, ended };
  static constexpr std::uint64_t phases = 8;

  [[nodiscard]] static phase phase_in(std::uint64_t state) noexcept {
    return static_cast<phase>(state % phases);
  }
  /// Returns a state with this phase, in the same wait as `state`.
  [[nodiscard]] static std::uint64_t with(std::uint64_t state, phase now) noexcept {
    return state / phases * phases + static_cast<std::uint64_t>(now);
  }
  /// Returns a state with this phase, in the next wait.
  [[nodiscard]] static std::uint64_t behind(std::uint64_t state, phase now) noexcept {
    return with(state + phases, now);
  }
  void publish_room_of_inputs() const noexcept {
    for (channel_base* const input : inputs_) input->publish_room();
  }
  void change_phase(phase next) noexcept {
    state_.exchange(with(state_.load(std::memory_order_relaxed), next), std::memory_order_seq_cst);
  }
  [[nodiscard]] bool is_running() const noexcept {
    return phase_in(state_.load(std::memory_order_seq_cst)) == phase::running;
  }
  void suspend_at(channel_base& at, side which);
  void note_wait(channel_base& at, side which) noexcept;
  [[nodiscard]] bool spins_until_ready(const channel_base& at, side which) const noexcept;
  void execute() noexcept;
  void run_body_as_task() noexcept;
  void fail(std::exception_ptr cause) noexcept;
  static bool publish(void* argument, ext::strand* self);
  /// Returns the process that ends its wait.
  [[nodiscard]] process& awaited_process() const noexcept {
    return awaited_.load(std::memory_order_relaxed)
        ->other(awaited_side_.load(std::memory_order_relaxed));
  }
  /// Ends the wait: called by the one that took the process off the channel.
  void make_ready() noexcept;
  void resume() const noexcept { strand_->home->resume(strand_); }

  network_state* network_;
  const std::atomic<bool>* network_ends_;
  std::string name_;
  /// The number of waits so far, and the phase.
  std::atomic<std::uint64_t> state_{static_cast<std::uint64_t>(phase::ready)};
  std::atomic<bool> is_published_{true};  ///< false while publish() uses the process
  bool joins_previous_ = false;
  int worker_ = -1;
  ext::strand* strand_ = nullptr;
  // The channel at which it waits; constant during a wait.
  std::atomic<channel_base*> awaited_{nullptr};
  std::atomic<side> awaited_side_{side::items};
  // Used by the search for deadlocks: the last walk that came here, and the state that it saw.
  std::uint64_t walk_ = 0, seen_ = 0;
  process* next_to_resume_ = nullptr;
  std::unique_ptr<activity> activity_;
};

}  // namespace creek::stream::detail
