// SPDX-License-Identifier: Apache-2.0
// The simulation: cores with a clock each, on stacks of their own, in one host thread. A core runs
// ahead while what it does concerns nobody else; before anything that others can observe it waits
// until no other core could still do something earlier. So observable operations happen in the
// order of (time, core), always the same. Source: conservative simulation
// [Chandy 1979]; in one thread no null messages are needed, a heap of clocks does it.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <creek/core/core_id.hpp>
#include <creek/core/stack_switch.hpp>
#include <creek/core/units.hpp>

namespace creek::scc_backend {

class engine {
 public:
  /// Stacks are mapped at once; throws creek::error if the system refuses them.
  engine(int cores, std::size_t stack_bytes);
  ~engine();
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;

  /// When core's body begins, before run(); zero unless said.
  void begin_at(core_id core, virtual_time time) noexcept { cores_[core.index()].clock = time; }

  /// Runs `body` on every core until all have returned. Rethrows the first
  /// exception; the waits of the other cores then throw creek::error (ECANCELED). A deadlock is
  /// such an exception: what() has a line for each core that waits. Once an engine.
  void run(const std::function<void(core_id)>& body);

  // --- Only on a simulated core ----------------------------------------------------------------
  core_id running() const noexcept { return core_id{running_}; }
  virtual_time now() const noexcept { return cores_[running_].clock; }
  void advance(virtual_time span) noexcept { cores_[running_].clock += span; }
  void set_clock(virtual_time time) noexcept { cores_[running_].clock = time; }

  /// Returns when every other core is past (time, this core): what the caller does until its next
  /// call happens at `time`, which must not lie before that of its last call.
  void order_at(virtual_time time) {
    if (ready_.empty() || !(ready_.front() < key{time, running_})) [[likely]]
      return;
    let_earlier_run(time);
  }

  /// Gives the core up until wake(). `what` and `address` say in a deadlock's report what it waits
  /// for. Throws creek::error (ECANCELED) if the run was aborted.
  void park(const char* what, std::uint64_t address);
  /// Like park(), but until `time` at the latest; returns false if nobody woke it before.
  bool park_until(const char* what, std::uint64_t address, virtual_time time);
  /// The running core has looked for something in vain and goes on: for a report.
  void polls(const char* what, std::uint64_t address) noexcept {
    cores_[running_].waits_for = what;
    cores_[running_].waits_at = address;
  }
  /// The state of each core that has not ended, a line each, after `what`.
  std::string deadlock_report(const std::string& what) const;
  bool is_parked(core_id core) const noexcept { return cores_[core.index()].parked; }
  /// Lets a parked core go on at `time`, which is not before that of the caller's last order_at().
  void wake(core_id core, virtual_time time);

  /// Ends the run: whoever waits is let go, to unwind, and run() throws the first failure.
  void fail(std::exception_ptr why) noexcept;
  /// Called with a failure before anything else happens; null: nothing. Before run().
  void when_failing(std::function<void(const std::exception_ptr&)> told) {
    when_failing_ = std::move(told);
  }

  /// Throws if the run was aborted: for loops that neither park nor end.
  void throw_if_aborted() const;
  bool aborted() const noexcept { return aborted_; }

  // --- Several flows of control on one core, for schedulers of tasks -----------------------------
  /// The stack that the running core is on.
  switch_context& stack() noexcept { return *cores_[running_].on; }
  /// The running core goes on on another stack, of the same core; returns when it comes back to
  /// this one. Takes no simulated time.
  void continue_on(switch_context& other) noexcept;
  /// Ends run() as it is, with cores that have not returned: they never go on.
  void leave_unfinished() noexcept;
  /// Saves a core's thread-local variables, and restores them when it goes on after others.
  class thread_state {
   public:
    virtual void* save() noexcept = 0;
    virtual void restore(void* saved) noexcept = 0;

   protected:
    ~thread_state() = default;
  };
  /// Call before run(). Null: cores keep nothing there.
  void keep_thread_state(thread_state* kept) noexcept { thread_state_ = kept; }

  /// Sets what a deadlock's report says of a core, after its number; empty: nothing.
  void describe_by(std::function<std::string(core_id)> describe) {
    describe_ = std::move(describe);
  }

  /// Stack switches so far, the simulator's own cost.
  std::uint64_t switches() const noexcept { return switches_; }
  /// When core's body returned.
  virtual_time ended_at(core_id core) const noexcept { return cores_[core.index()].clock; }

 private:
  struct key {
    virtual_time time;
    int core;
    friend auto operator<=>(const key&, const key&) = default;
  };
  struct simulated_core : switch_context {
    engine* home = nullptr;
    switch_context* on = nullptr;  ///< the stack it is on, or was when others took over
    virtual_time clock;
    bool parked = false;
    bool timed = false;  ///< parked, and in the heap all the same
    bool ended = false;
    const char* waits_for = nullptr;
    std::uint64_t waits_at = 0;
  };

  static void core_main(switch_context& self, switch_context& previous);
  void run_core(int core) noexcept;
  void let_earlier_run(virtual_time time);
  void switch_to_next();
  void switch_to(int core);
  std::exception_ptr deadlock() const;
  void push(key added);
  key pop();
  void take_out(int core);
  void sift_up(std::size_t at, key moved);
  void sift_down(std::size_t at, key moved);

  std::size_t stack_bytes_;
  std::unique_ptr<simulated_core[]> cores_;
  int count_;
  int running_ = 0;
  int unfinished_ = 0;
  bool aborted_ = false;
  std::vector<key> ready_;  ///< a heap of four children a node, earliest first
  std::uint64_t switches_ = 0;
  switch_context native_;
  thread_state* thread_state_ = nullptr;
  const std::function<void(core_id)>* body_ = nullptr;
  std::exception_ptr failure_;
  std::function<std::string(core_id)> describe_;
  std::function<void(const std::exception_ptr&)> when_failing_;
};

}  // namespace creek::scc_backend
