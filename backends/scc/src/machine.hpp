// SPDX-License-Identifier: Apache-2.0
// The chip while it runs: its memory, the servers that take requests to it in turn, and the data
// that each core holds back. It decides how long an operation takes, and when others see it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <creek/core/atomic_file.hpp>
#include <creek/core/charge.hpp>
#include <creek/core/energy.hpp>
#include <creek/core/memory.hpp>
#include <creek/core/power_policy.hpp>
#include <creek/scc/check.hpp>
#include <creek/scc/chip.hpp>
#include <creek/scc/lut.hpp>
#include <creek/scc/memory.hpp>
#include <creek/scc/spmd.hpp>

#include "chip_trace.hpp"
#include "dvfs.hpp"
#include "energy_meter.hpp"
#include "engine.hpp"
#include "gap_allocator.hpp"
#include "heatmap.hpp"
#include "line_buffers.hpp"
#include "off_chip.hpp"
#include "stretch_clock.hpp"
#include "zeroed_memory.hpp"

namespace creek::scc_backend {

class checker;
class wished_clocks;

class machine {
 public:
  /// Smallest stack of a core, in bytes.
  static constexpr std::size_t least_stack = std::size_t{16} << 10;
  static constexpr std::size_t most_stack = std::size_t{1} << 32;

  /// `stuck_after`: time for which nothing but polling may happen before that counts as a deadlock;
  /// zero: no limit.
  machine(const chip& description, std::size_t stack_bytes, virtual_time stuck_after = {});
  ~machine();

  /// Makes computing take the host's CPU time, times this factor, from now on, not the charged
  /// time; 0: as charged. Call before the run. Throws usage_error if it is negative or too large.
  void measure_computing(double cycles_a_host_second);
  /// Begins to measure computing on the running core. Cores begin not computing.
  void start_computing() noexcept {
    if (stretches_) [[unlikely]]
      begin_stretch();
  }
  /// Ends measuring. Returns true if the core computed and its time is measured.
  bool stop_computing() { return stretches_ && end_stretch(); }

  /// Has `noticed` called on a core whose clock may have moved: before each of its operations, and
  /// after a charge to it. It must do nothing to the simulation. Call before the run.
  void when_time_passes(void (*noticed)(void*), void* argument) noexcept {
    noticed_ = noticed;
    noticed_by_ = argument;
  }
  void notice_time() {
    if (noticed_ != nullptr) [[unlikely]]
      noticed_(noticed_by_);
  }

  /// Has a coherence checker follow every access from now on. Call before the run.
  void check_accesses();
  /// Returns the coherence checker, or nullptr if checking is off.
  checker* check() const noexcept { return checker_.get(); }
  /// Returns the faults found so far, after calling `tell` with any; none without a checker.
  std::vector<fault> faults(const std::function<void(const std::vector<fault>&)>& tell) const;

  /// Calls engine::run(), with creek::charge() on this thread going to the core that runs.
  void run(const std::function<void(core_id)>& body);

  engine& simulation() noexcept { return engine_; }
  const chip& description() const noexcept { return chip_; }
  std::byte* mpb(core_id core) noexcept { return memory_.get() + core.index() * chip_.mpb_bytes; }
  std::byte* off_chip_memory() noexcept { return memory_.get() + mpb_end_; }
  const off_chip& off_chip_layout() const noexcept { return off_chip_; }

  /// Returns the clock of the core's tile, now.
  clock_period clock(core_id core) const noexcept { return local_[core.index()].clock; }

  /// Throws usage_error unless `self` is the core that runs.
  void require_running(core_id self) const;
  /// Throw usage_error unless the chip has such a core or counter.
  void require_core(core_id id) const;
  void require_counter(counter_id id) const;

  // The operations of scc_backend::memory, for the running core. Offsets are bytes into all MPBs
  // together, core after core, followed by all off-chip memory.
  std::uint32_t load_word(std::size_t at, std::size_t size);
  void store_word(std::size_t at, std::uint32_t value, std::size_t size);
  void read(void* to, std::size_t from, std::size_t size) { read_lines(to, from, size, false); }
  /// Like read() of lines that are not in L1, for words that others store.
  void load_row(void* to, std::size_t from, std::size_t size) { read_lines(to, from, size, true); }
  void write(std::size_t to, const void* from, std::size_t size);
  void invalidate();
  void flush();
  bool test_and_set(core_id id);
  void clear(core_id id);
  word fetch_increment(counter_id id);
  void set_counter(counter_id id, word value);
  /// Throws usage_error if `length` is negative, and creek::error (EOVERFLOW) at the end of virtual
  /// time, as every request does.
  void spend(cycles length) {
    std::int64_t span = 0;
    if (length.count < 0 ||
        __builtin_mul_overflow(length.count, here_clock().length.femtoseconds, &span) ||
        span > latest.femtoseconds - engine_.now().femtoseconds) [[unlikely]]
      refuse(length);
    engine_.advance({span});
  }
  void charge(cycles length) {
    spend(length);
    note_progress();
  }
  void pause(cycles length) {
    spend(length);
    throw_if_stuck();
  }
  void private_read(std::size_t bytes, std::size_t working_set);
  void private_write(std::size_t bytes, std::size_t working_set, write_mode mode);
  void write_around(std::size_t to, const void* from, std::size_t size);
  /// Sets how programs move blocks of shared memory that they only state
  /// (creek::charge_shared_read): word by word past the caches, or in lines as MPBT memory.
  void move_blocks_by(block_moves how) noexcept { block_moves_ = how; }
  void move_block(std::uint64_t block, std::size_t bytes, bool written);
  /// Reads and writes `words` words of one place in shared memory.
  void touch_words(std::uint64_t block, std::int64_t words);
  /// Copies bytes whose reading has been charged already; costs nothing itself.
  void copy_out(void* to, std::size_t from, std::size_t size);
  gap_allocator& shared_blocks();

  // Interrupts and look-up tables (interrupts.cpp).
  static constexpr int interrupt_pins = 2;  // [Mattson 2010] (docs/scc/machine.md)
  void raise_interrupt(core_id to, int pin);
  void on_interrupt(std::function<void(int pin)> handler);
  void halt();
  /// Lets interrupts in; called at the beginning of each operation of a core.
  void interruptible_point() {
    if (here().pins != 0) [[unlikely]]
      take_interrupts();
  }
  lut_entry lut(core_id of, int entry);
  void set_lut(core_id of, int entry, const lut_entry& value);
  std::byte* mapped(std::uint32_t address);
  /// Returns when the running core's last request has its answer: after all it has done so far.
  virtual_time acknowledged() noexcept { return here().acknowledged; }

  /// Parks the running core, which has just loaded an unwanted word at `at`, until it would see a
  /// store to that line.
  void await_store(std::size_t at);
  std::uint64_t stores_to(core_id core) const noexcept { return local_[core.index()].stores; }
  void await_own_store(std::uint64_t seen_before, virtual_time began);

  // --- How cores wait (machine_waits.cpp) -------------------------------------------------------
  /// Throws usage_error unless the cycles take at most a second at the chip's slowest clock.
  static void require_crossing(const chip& of, cycles kernel_crossing);
  /// Lets `policy`, which has begun with `clocks`, decide how cores wait. `kernel_crossing` is the
  /// time of a halted core besides the entry of the interrupt. Call before the run.
  void wait_by(power_policy& policy, wished_clocks& clocks, cycles kernel_crossing) noexcept {
    waits_by_ = &policy;
    clocks_ = &clocks;
    kernel_crossing_ = kernel_crossing;
  }
  /// Begin and end a wait of the running core for more than one look; waits may nest.
  void begin_wait() {
    if (waits_by_ != nullptr) [[unlikely]]
      ask_how_to_wait();
  }
  void end_wait() noexcept {
    if (waits_by_ != nullptr) [[unlikely]]
      go_on_after_wait();
  }
  /// Interrupts the core whose word has just been stored to, if that core is halted.
  void wake_halted(std::size_t at) {
    if (some_halt_ && at < mpb_end_) [[unlikely]]
      raise_if_halted(owner(at));
  }

  // --- Power (machine_power.cpp) ----------------------------------------------------------------
  int island(core_id core) const noexcept;
  void set_frequency_divider(int divider);
  void set_island_divider(int divider);
  clock_period read_clock(int tile);
  power_request request_power(int divider);
  void wait_power(const power_request& request);
  const dvfs& power_state() const noexcept { return dvfs_; }
  energy_account switch_account(energy_account to) {
    return meter_.switch_account(engine_.running(), engine_.now(), to);
  }

  // --- What the running core does, for energy and trace -----------------------------------------
  void becomes_idle(activity kind) {
    meter_.idle(engine_.running(), kind, engine_.now());
    if (trace_) [[unlikely]]
      trace_->becomes(engine_.running(), kind, engine_.now());
  }
  void resumes() {
    meter_.resume(engine_.running(), engine_.now());
    if (trace_) [[unlikely]]
      trace_->becomes(engine_.running(), activity::busy, engine_.now());
  }
  void begin_span(trace::name what, std::int64_t argument) {
    if (trace_) trace_->begin_span(engine_.running(), what, argument, engine_.now());
  }
  void end_span() {
    if (trace_) trace_->end_span(engine_.running(), engine_.now());
  }
  /// Opens the two files and records their data; call before run(). An empty name: no such file.
  /// Throws creek::error.
  void record(const std::string& trace_file, const std::string& heatmap_file,
              atomic_file::targets may_be);
  /// Writes both files or none; call it once. Throws creek::error.
  void write_records(virtual_time end);
  /// Returns the usage from time zero to `end`, after which nothing has happened yet.
  usage_report usage(virtual_time end);
  /// Adds the run to the process's total of simulations; call it once, at the end of the run.
  void tally(virtual_time end);

  /// Returns the offset. Throws usage_error unless all `size` bytes are simulated memory.
  std::size_t offset_of(const void* address, std::size_t size = 1) const;
  int counters() const noexcept { return static_cast<int>(counters_.size()); }

 private:
  /// Receives the statements of creek::charge().
  struct core_clock final : charge_sink {
    machine* on = nullptr;
    void charge(cycles length) noexcept override;
    void move_block(std::uint64_t block, std::size_t bytes, bool written) noexcept override;
  };
  /// Serves creek::power's meters on the thread of the simulation.
  struct chip_meter final : simulated_meter {
    machine* on = nullptr;
    simulated_energy read() noexcept override;
    units::seconds now() noexcept override;
  };
  static constexpr std::size_t none = ~std::size_t{0};
  /// The latest time: a core's next action still fits behind it, see chip::validate().
  static constexpr virtual_time latest{std::numeric_limits<std::int64_t>::max() -
                                       1'000'000'000'000'000'000};
  /// State of one core.
  struct core_state {
    clock_period clock;         ///< current clock of its tile
    virtual_time acknowledged;  ///< when its last request is acknowledged: no other leaves before
    // Polling that the core is parked in: when the next look begins, how long each takes until
    // the next, and after what part of it the word is read.
    virtual_time next_look;
    virtual_time look_period;
    virtual_time look_offset;
    l1_cache l1;
    write_combine_buffer combining;
    // A wait that a policy is notified of.
    int waits = 0;             ///< depth of nested waits
    bool may_halt = false;     ///< it will halt at `polls_until`; else the policy is asked again
    bool announced = false;    ///< its word says that it halts: signals interrupt it
    bool asleep = false;       ///< parked, halted
    bool interrupted = false;  ///< interrupted since it announced that
    virtual_time polls_until;
    virtual_time interrupted_at;
    std::uint64_t stores = 0;  ///< stores to its own MPB, by any core
    bool test_and_set = false;
    bool computes = false;            ///< it computes, and its time is measured
    bool awaits_any = false;          ///< parked for a store to its own MPB
    std::int32_t next_watcher = 0;    ///< next on the same line: 1 + core, 0 if this one is last
    std::size_t watched_line = none;  ///< the line that it is parked for
    // Interrupts: the pins that are up, since when, and the handler.
    std::uint8_t pins = 0;
    bool in_handler = false;
    bool halted = false;
    virtual_time pin_since[interrupt_pins];
    int first_pin() const noexcept;  ///< the pin up for longest; at least one must be up
    std::uint64_t interrupts = 0;    ///< number taken
    std::function<void(int pin)> handler;
    std::unique_ptr<gap_allocator> shared_blocks;  ///< made at the first use
  };
  /// A request on its way: when it is served, and when its sender has the answer.
  struct passage {
    virtual_time start;
    virtual_time arrival;
    virtual_time served;
    virtual_time answered;
  };
  /// Requests to message-passing memory, by sending core and by owning core.
  struct core_traffic {
    std::uint64_t reads = 0, writes = 0;
    std::uint64_t bytes_out = 0, bytes_in = 0;
  };

  void (*noticed_)(void*) = nullptr;
  void* noticed_by_ = nullptr;

  clock_period here_clock() const noexcept { return clock(engine_.running()); }
  core_state& here() noexcept { return local_[engine_.running().index()]; }
  core_id owner(std::size_t at) const noexcept {
    return core_id{static_cast<int>(at / chip_.mpb_bytes)};
  }
  std::byte* bytes_at(std::size_t at) noexcept { return memory_.get() + at; }
  /// Sends the running core's request on its way, which takes `there_and_back` if it need not wait
  /// for its turn; `begin(arrival)` returns when its turn comes. The caller carries the request out
  /// at `served`.
  template <class Begin>
  passage request(virtual_time there_and_back, Begin begin);
  virtual_time mesh_time(mesh_place to) const noexcept;
  /// Send a request to a tile's buffer or registers, to off-chip memory, or to whichever the offset
  /// lies in. Costs are core cycles beyond those of every such access. Several requests, one after
  /// the other, are simulated as one.
  passage request_tile(core_id to, cycles overhead, std::int64_t requests = 1);
  passage request_dram(const off_chip::block& to, cycles overhead, std::int64_t requests = 1);
  passage request_at(std::size_t at, cycles in_mpb, cycles in_dram);
  passage request_counter();
  passage request_unqueued(mesh_place to, cycles core_cycles);
  void stream(const off_chip::block& at, std::int64_t requests, cycles overhead);
  void read_lines(void* to, std::size_t from, std::size_t size, bool of_words);
  void send_combined();
  void stored(std::size_t at, virtual_time when);
  void wake_at_look(core_id core, virtual_time when);
  /// Parks the running core, which polls unless `kind` says otherwise.
  void park(const char* what, std::uint64_t address, activity kind = activity::waiting);
  /// Lets a core that is parked while polling look once more.
  void look_again(core_id core, virtual_time when);
  int tile_of(core_id core) const noexcept { return core.value / chip_.cores_per_tile; }
  void change_clock(int tile, virtual_time at, clock_period clock);
  void change_island_clock(int island, virtual_time at, clock_period clock);
  bool change_island_clock(const power_request& request);
  void go_on_at(virtual_time at);
  void count_read(std::size_t at, std::size_t size) noexcept {
    if (at >= mpb_end_) return;
    ++traffic_[engine_.running().index()].reads;
    traffic_[owner(at).index()].bytes_out += size;
    if (flows_) [[unlikely]]
      flows_->add(tile_of(owner(at)), tile_of(engine_.running()), size);
  }
  void count_write(std::size_t at, std::size_t size) noexcept {
    if (at >= mpb_end_) return;
    ++traffic_[engine_.running().index()].writes;
    traffic_[owner(at).index()].bytes_in += size;
    if (flows_) [[unlikely]]
      flows_->add(tile_of(engine_.running()), tile_of(owner(at)), size);
  }
  void forget_watch(core_id core);
  void ask_how_to_wait();
  void ask_policy();
  void go_on_after_wait() noexcept;
  bool waits_longer(bool own_word);
  void polls_or_halts(const char* what, std::uint64_t address, bool own_word);
  void announce(bool halts);
  void halt_in_wait(const char* what, std::uint64_t address);
  void raise_if_halted(core_id core);
  int take_pin();
  void take_interrupts();
  bool interrupt_due();
  lut_entry entry_now(core_id of, int entry) const;
  /// Notes an action that is more than a look: now, or as far as a core ran ahead.
  void note_progress() noexcept { progress_until_ = std::max(progress_until_, engine_.now()); }
  void begin_stretch() noexcept;
  bool end_stretch();
  void throw_if_stuck() {
    if (engine_.now() - progress_until_ > stuck_after_) [[unlikely]]
      stuck();
  }
  void stuck();
  [[noreturn]] void refuse(cycles length) const;
  [[noreturn]] static void end_of_time();

  chip chip_;
  engine engine_;
  core_clock charged_;
  chip_meter metered_;
  std::size_t mpb_end_;  ///< offset of the first byte that is off-chip
  off_chip off_chip_;
  zeroed_memory<std::byte> memory_;
  std::vector<core_state> local_;
  std::vector<server> ports_;  ///< per tile: its MPB's
  server counter_port_;
  std::vector<word> counters_;
  energy_meter meter_;
  dvfs dvfs_;
  std::vector<core_traffic> traffic_;
  zeroed_memory<std::int32_t> watchers_;  ///< per line: 1 + first core parked for it, 0 if none
  std::vector<std::unique_ptr<std::array<lut_entry, lut_entries>>> tables_;  ///< if ever changed
  power_policy* waits_by_ = nullptr;                                         ///< null: cores poll
  wished_clocks* clocks_ = nullptr;                                          ///< the policy's
  cycles kernel_crossing_;
  bool some_halt_ = false;  ///< a core may have halted: signals check from then on
  block_moves block_moves_ = block_moves::uncached;
  virtual_time stuck_after_;
  virtual_time progress_until_;
  std::optional<stretch_clock> stretches_;  ///< none: charged cycles count
  std::unique_ptr<checker> checker_;
  std::unique_ptr<chip_trace> trace_;  ///< null: no trace
  std::unique_ptr<tile_flows> flows_;  ///< null: no heatmap
  std::optional<atomic_file> trace_file_, heatmap_file_;
};

/// While one lives, the running core is in an operation of the chip, or of a runtime on it, which
/// states its own time.
class core_operation {
 public:
  explicit core_operation(machine& on) : on_(&on), ends_stretch_(on.stop_computing()) {
    on.notice_time();
  }
  /// Marks an operation that interrupts may come before.
  struct interruptible {};
  core_operation(machine& on, interruptible) : core_operation(on) { on.interruptible_point(); }
  ~core_operation() {
    if (ends_stretch_) [[unlikely]]
      on_->start_computing();
  }
  core_operation(const core_operation&) = delete;
  core_operation& operator=(const core_operation&) = delete;
  machine* operator->() const noexcept { return on_; }
  machine& operator*() const noexcept { return *on_; }
  /// Returns true if computing code whose time is measured called this operation.
  [[nodiscard]] bool ends_stretch() const noexcept { return ends_stretch_; }

 private:
  machine* on_;
  bool ends_stretch_;
};

}  // namespace creek::scc_backend
