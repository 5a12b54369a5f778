// SPDX-License-Identifier: Apache-2.0
// The memory policy of the simulated chip: every access costs virtual time, lines that were read
// stay in L1 until they are invalidated, however stale, and bytes that were written stay in the
// write-combine buffer until its line is full, another line is written, or it is flushed.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <creek/core/memory.hpp>
#include <creek/core/messages/symmetric_allocator.hpp>
#include <creek/scc/detail/wait_steps.hpp>
#include <creek/scc/private_memory.hpp>
#include <creek/scc/work_costs.hpp>

namespace creek::scc_backend {

/// The memory that cores share, as one core sees it. It is also that core's private memory because
/// portable algorithms state the costs of private data to the policy that they run on.
class memory : public private_memory {
 public:
  static constexpr std::size_t line_bytes = 32;
  static constexpr bool shares_addresses = false;

  using private_memory::private_memory;

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
    const wait_steps wait(*this);
    do {
      wait.await_store(p.address());
      seen = load(p);
    } while (!satisfied(seen));
    return seen;
  }
  template <std::predicate Poll>
  void wait_poll(Poll poll) const {
    std::uint64_t stores = stores_seen();
    virtual_time began = now();
    if (poll()) return;
    const wait_steps wait(*this);
    do {
      wait.await_own_store(stores, began);
      stores = stores_seen();
      began = now();
    } while (!poll());
  }
  void pause(cycles length) const;
  void charge(cycles length) const;
  void charge(work kind, std::int64_t number) const { charge(cost_of(kind, number)); }

 private:
  void wake_halted(const void* address) const;
  void load_words(void* to, mpm_ptr<const std::byte> from, std::size_t size) const;
  std::uint32_t load_word(const void* address, std::size_t size) const;
  void store_word(void* address, std::uint32_t value, std::size_t size) const;
  std::uint64_t stores_seen() const;
};

static_assert(memory_policy<memory>);

}  // namespace creek::scc_backend
