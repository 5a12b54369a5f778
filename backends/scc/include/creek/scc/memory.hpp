// SPDX-License-Identifier: Apache-2.0
// The memory policy of the simulated chip: every access costs virtual time, lines that were read
// stay in L1 until they are invalidated, however stale, and bytes that were written stay in the
// write-combine buffer until its line is full, another line is written, or it is flushed.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>

#include <creek/core/measuring/trace.hpp>
#include <creek/core/memory.hpp>
#include <creek/core/messages/symmetric_allocator.hpp>
#include <creek/scc/chip.hpp>
#include <creek/scc/lut.hpp>
#include <creek/scc/usage.hpp>
#include <creek/scc/work_costs.hpp>

namespace creek::scc_backend {

class core_operation;
class machine;

/// How private memory is written: through the caches, or collected in the write-combine buffer.
enum class write_mode : std::uint8_t { cached, combined };

/// The working set of memory that has not been touched before: nothing of it lies in a cache.
inline constexpr std::size_t cold = ~std::size_t{0};

/// One core's view. May be used on that simulated core only; elsewhere it throws usage_error.
class memory {
 public:
  static constexpr std::size_t line_bytes = 32;
  static constexpr bool shares_addresses = false;

  memory(machine& on, core_id self) noexcept : on_{&on}, self_{self} {}

  [[nodiscard]] core_id self() const noexcept { return self_; }
  /// Returns the core that runs now: this one except in interrupted calls. For signal handlers.
  [[nodiscard]] core_id running() const noexcept;
  [[nodiscard]] int cores() const noexcept;
  [[nodiscard]] std::size_t mpm_bytes() const noexcept;
  /// Returns a place in a core's memory. The core must be one of the chip, which is not checked.
  [[nodiscard]] mpm_ptr<std::byte> at(core_id core, std::size_t offset) const noexcept;

  template <class T>
  requires memory_word<std::remove_const_t<T>>
  [[nodiscard]] std::remove_const_t<T> load(mpm_ptr<T> p) const {
    return static_cast<std::remove_const_t<T>>(load_word(p.address(), sizeof(T)));
  }
  template <memory_word T>
  void store(mpm_ptr<T> p, std::type_identity_t<T> value) const {
    store_word(p.address(), value, sizeof(T));
  }
  /// Like store(): waiters that poll see every store. Where cores may halt while they wait
  /// (machine_options::waits), it checks if the owning core has halted, and interrupts it.
  template <memory_word T>
  void signal(mpm_ptr<T> p, std::type_identity_t<T> value) const {
    store(p, value);
    wake_halted(p.address());
  }

  template <memory_word T>
  void load_row(T* to, mpm_ptr<T> from, std::size_t count) const {
    load_words(to, from.template as<const std::byte>(), count * sizeof(T));
  }

  void read(void* to, mpm_ptr<const std::byte> from, std::size_t size) const;
  void write(mpm_ptr<std::byte> to, const void* from, std::size_t size) const;
  void invalidate() const;
  void flush() const;

  [[nodiscard]] bool test_and_set(core_id id) const;
  void clear(core_id id) const;
  [[nodiscard]] int counters() const noexcept;
  [[nodiscard]] word fetch_increment(counter_id id) const;
  void set_counter(counter_id id, word value) const;

  /// Polls with loads of the word. Costs no host time while no core writes to it, and ends at the
  /// cycle at which the polling would have seen the change. A policy (machine_options::waits) may
  /// let the core halt meanwhile.
  template <memory_word T, std::predicate<T> Predicate>
  T wait_until(mpm_ptr<T> p, Predicate satisfied) const {
    T seen = load(p);
    if (satisfied(seen)) return seen;
    const wait_scope waits(*this);
    do {
      await_store(p.address());
      seen = load(p);
    } while (!satisfied(seen));
    return seen;
  }
  template <std::predicate Poll>
  void wait_poll(Poll poll) const {
    std::uint64_t stores = stores_seen();
    virtual_time began = now();
    if (poll()) return;
    const wait_scope waits(*this);
    do {
      await_own_store(stores, began);
      stores = stores_seen();
      began = now();
    } while (!poll());
  }
  void pause(cycles length) const;
  void charge(cycles length) const;
  void charge(work kind, std::int64_t number) const { charge(cost_of(kind, number)); }
  /// With a measured clock (machine_options::cycles_a_host_second): stops counting the core's work
  /// as computing from here on, and starts it again. For layers whose calls state their own cost.
  void stop_computing() const;
  void start_computing() const;

  /// Returns the checker for symmetric_allocator::observe(), or null in a run without one.
  [[nodiscard]] allocation_observer* allocations() const noexcept;

  /// Returns the core's clock.
  [[nodiscard]] virtual_time now() const;

  // --- Clock and voltage (power.hpp) ------------------------------------------------------------
  /// Returns the core's voltage island; its cores share a supply.
  [[nodiscard]] int power_domain() const noexcept;
  [[nodiscard]] clock_period clock() const;
  [[nodiscard]] units::volts voltage() const;
  /// Returns whether the divider's clock is safe at the island's voltage, now and after all
  /// requests under way. Throws usage_error if the chip has no such divider.
  [[nodiscard]] bool is_safe(int divider) const;
  /// Divides the clock of the core's tile anew; the core stops for the change, about 20 cycles. The
  /// tile's other cores go on at the new clock with their next operation. Throws usage_error if the
  /// divider is outside the chip's range, or if is_safe() does not hold when the change is due.
  void set_frequency_divider(int divider) const;
  /// Like set_frequency_divider(), for all tiles of the core's island.
  void set_island_divider(int divider) const;
  /// Reads a tile's clock register.
  [[nodiscard]] clock_period clock_of_tile(int tile) const;
  /// Begins to bring the island to the divider's clock at the lowest voltage that allows it, and
  /// returns at once. To a lower clock, all tiles of the island change now and the voltage follows;
  /// to a higher one, the voltage is raised first and the clocks change in wait_power(). The chip
  /// changes one voltage at a time, 1 ms each, in the order of requests. A later request of the
  /// same island replaces the frequency of this one. Throws usage_error, with nothing changed, if
  /// the divider is outside the range or no voltage allows its clock.
  [[nodiscard]] power_request request_power(int divider) const;
  /// Polls until the request's voltage is there, then changes the clocks if that is still to do.
  /// Throws usage_error unless called on a core of the request's island.
  void wait_power(const power_request& request) const;

  /// Charges this core's energy to another account from now on; returns the previous account.
  /// energy_scope does it for a block.
  energy_account switch_energy_account(energy_account to) const;

  /// Names the core's activity from now on in the trace, until the end of the span; spans of a core
  /// nest. Does nothing without a trace. trace_span does it for a block.
  void begin_span(trace::name what, std::int64_t argument = trace::no_argument) const;
  void end_span() const;

  // --- Beyond the policy: what else the chip has ------------------------------------------------

  /// Returns a place in off-chip memory that all cores share. load() and store() use it uncached,
  /// read() and write() as MPBT memory; waits work too. Throws usage_error outside it.
  [[nodiscard]] mpm_ptr<std::byte> shared(std::size_t offset) const;
  [[nodiscard]] std::size_t shared_bytes() const noexcept;
  /// Returns whole lines of shared memory, or null without a gap. Collective as symmetric_allocator
  /// is: each core keeps its own record, and equal calls in equal order give equal places.
  [[nodiscard]] mpm_ptr<std::byte> shared_malloc(std::size_t bytes) const;
  /// Throws usage_error if nothing was allocated there.
  void shared_free(mpm_ptr<std::byte> block) const;

  /// States a walk over `bytes` of private memory, in a program that keeps coming back to
  /// `working_set` bytes: what fits in L1 or L2 comes from there. `cold` if it never does. Programs
  /// keep their data in host memory and state its cost by this. Source: [van Tol 2011].
  void private_read(std::size_t bytes, std::size_t working_set) const;
  void private_write(std::size_t bytes, std::size_t working_set,
                     write_mode mode = write_mode::cached) const;
  /// States the cost of whole lines that go to memory: those of the write-combine buffer in private
  /// memory mapped as MPBT, or dirty ones that leave L2.
  void private_write_lines(std::size_t bytes) const {
    private_write(bytes, cold, write_mode::combined);
  }
  /// Like private_read, for memory that is computed on: adds what the costs of that work, which
  /// count memory in L1, leave out. operand_rewritten() states that bytes just read are written
  /// back: they lie in a cache and leave it as whole lines.
  void operand_read(std::size_t bytes, std::size_t working_set) const;
  void operand_rewritten(std::size_t bytes, std::size_t working_set) const;
  /// Writes all of L2 back by reading 256 KB of other memory or buffer aliases [Rotta 2012].
  void flush_l2(bool by_aliases = false) const;

  /// Like read(), for memory that this core keeps in its caches, which serve the part that fits.
  void cached_read(void* to, mpm_ptr<const std::byte> from, std::size_t size,
                   std::size_t working_set) const;
  /// Makes cached writes that miss: not allocated, they go out word by word, each visible at once.
  void write_around(mpm_ptr<std::byte> to, const void* from, std::size_t size) const;
  /// Throws usage_error unless all `size` bytes are memory of the chip. Costs nothing.
  void require_memory(mpm_ptr<const std::byte> first, std::size_t size) const;
  /// Finds which 16 MB of off-chip memory a place lies in, and its offset there. Throws usage_error
  /// if in none.
  struct place_in_block {
    lut_entry block;
    std::size_t offset = 0;
  };
  [[nodiscard]] place_in_block location(mpm_ptr<const std::byte> of) const;

  /// Return an entry of a core's table; change it, effective when the write arrives.
  [[nodiscard]] lut_entry lut(core_id of, int entry) const;
  void set_lut(core_id of, int entry, const lut_entry& value) const;
  /// Returns the place that this core's table maps the address to. Ask again at each use: the table
  /// may change. Throws usage_error if there is no memory.
  [[nodiscard]] mpm_ptr<std::byte> mapped(std::uint32_t address) const;
  /// Returns the entry that maps the 16 MB `block` of a core's private memory, for any table.
  [[nodiscard]] lut_entry private_block(core_id core, int block = 0) const;

  /// Raises a pin, 0 or 1, of a core. It runs its handler at its next operation, after the cost of
  /// entry; one that waits or is halted wakes up for it. A pin that is still up stays up.
  void raise_interrupt(core_id to, int pin = 0) const;
  /// Sets the interrupt handler of this core: called with the pin, on this core, never nested.
  /// Without a handler pins stay up.
  void on_interrupt(std::function<void(int pin)> handler) const;
  /// Stops this core until an interrupt has been handled.
  void halt() const;

 private:
  /// Covers a wait from the first look in vain to the one that was not.
  class [[nodiscard]] wait_scope {
   public:
    explicit wait_scope(const memory& of) : of_(of) { of_.begin_wait(); }
    ~wait_scope() { of_.end_wait(); }
    wait_scope(const wait_scope&) = delete;
    wait_scope& operator=(const wait_scope&) = delete;

   private:
    const memory& of_;
  };
  void begin_wait() const;
  void end_wait() const noexcept;
  void wake_halted(const void* address) const;
  void load_words(void* to, mpm_ptr<const std::byte> from, std::size_t size) const;
  core_operation enter() const;  ///< checks that the right core calls, and lets interrupts in
  std::uint32_t load_word(const void* address, std::size_t size) const;
  void store_word(void* address, std::uint32_t value, std::size_t size) const;
  void await_store(const void* address) const;
  std::uint64_t stores_seen() const;
  void await_own_store(std::uint64_t seen_before, virtual_time began) const;

  machine* on_;
  core_id self_;
};

static_assert(memory_policy<memory>);

/// Charges a core's energy during a block to an account. Scopes nest: the inner one gets it.
class [[nodiscard]] energy_scope {
 public:
  energy_scope(const memory& of, energy_account to)
      : of_(of), before_(of.switch_energy_account(to)) {}
  ~energy_scope() { of_.switch_energy_account(before_); }
  energy_scope(const energy_scope&) = delete;
  energy_scope& operator=(const energy_scope&) = delete;

 private:
  const memory& of_;
  energy_account before_;
};

/// A named slice of a core's track in the trace, for a block.
class [[nodiscard]] trace_span {
 public:
  trace_span(const memory& of, trace::name what, std::int64_t argument = trace::no_argument)
      : of_(of) {
    of_.begin_span(what, argument);
  }
  ~trace_span() { of_.end_span(); }
  trace_span(const trace_span&) = delete;
  trace_span& operator=(const trace_span&) = delete;

 private:
  const memory& of_;
};

}  // namespace creek::scc_backend
