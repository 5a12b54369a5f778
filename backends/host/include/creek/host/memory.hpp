// SPDX-License-Identifier: Apache-2.0
// The memory policy of host threads: each "core" is a thread with a region of ordinary memory as
// its message-passing memory. Words are atomics, blocks are memcpy, invalidate and flush do
// nothing. Waits spin for about the price of a wake-up, then yield, then sleep in the kernel.
#pragma once

#include <atomic>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include <creek/core/memory.hpp>
#include <creek/core/threads/asymmetric_fence.hpp>
#include <creek/core/threads/event_count.hpp>
#include <creek/core/threads/sanitizer.hpp>

namespace creek::host_backend {

struct memory_options {
  /// Bytes of message-passing memory per core; the SCC has 8 KiB. Rounded up to whole lines.
  std::size_t mpm_bytes = 8192;
  /// True: waits give up their processor soon, because there are more cores than processors.
  /// `automatic` compares with the processors this process may use.
  enum class spinning { automatic, brief, usual } spin = spinning::automatic;
};

class memory;

/// Owns the memory that `cores` threads share: per core its message-passing memory (zero at first),
/// one test-and-set register and two atomic counters. Must outlive every `memory` made from it.
class memory_space {
 public:
  explicit memory_space(int cores, memory_options options = {});
  ~memory_space();
  memory_space(const memory_space&) = delete;
  memory_space& operator=(const memory_space&) = delete;

  /// Returns the view of one core; it may be used by one thread at a time.
  [[nodiscard]] memory core(core_id id) noexcept;
  [[nodiscard]] int cores() const noexcept { return cores_; }
  [[nodiscard]] std::size_t mpm_bytes() const noexcept { return mpm_bytes_; }

  /// Makes every wait of every core, now and later, throw `creek::error` (ECANCELED). For a run
  /// that cannot finish because one of its threads failed. Any thread.
  void abort() noexcept;
  [[nodiscard]] bool aborted() const noexcept { return aborted_.load(std::memory_order_acquire); }

 private:
  friend class memory;

  // Control words of a core beside its message-passing memory, each on a line of its own. They lie
  // at the start of the core's region, whose address is a multiple of the region's size, so that
  // masking an address gives the core that it belongs to.
  struct control {
    alignas(64) std::atomic<std::uint32_t> test_and_set{0};
    alignas(64) std::atomic<std::uint32_t> counter[2]{};
    alignas(64) event_count changed;  // notified when a word of this core's memory was signalled
  };

  control& control_of(const void* address) const noexcept {
    return *reinterpret_cast<control*>(reinterpret_cast<std::uintptr_t>(address) &
                                       ~(std::uintptr_t{region_bytes_} - 1));
  }
  control& control_of(core_id id) const noexcept {
    return *reinterpret_cast<control*>(regions_ + (id.index() << region_shift_));
  }

  std::byte* regions_ = nullptr;
  std::size_t region_bytes_ = 0;  // a power of two:
  int region_shift_ = 0;          // its logarithm
  std::size_t mpm_bytes_ = 0;
  int cores_ = 0;
  bool spin_briefly_ = false;
  alignas(64) std::atomic<bool> aborted_{false};
};

/// One core's view of a memory_space. A pointer and a number: pass it by value.
class memory {
  template <class T>
  [[nodiscard]] static auto atomic(mpm_ptr<T> p) noexcept {
    return std::atomic_ref<std::remove_const_t<T>>{
        const_cast<std::remove_const_t<T>&>(*p.address())};
  }

 public:
  static constexpr std::size_t line_bytes = 64;
  static constexpr bool shares_addresses = true;

  memory(memory_space& space, core_id self) noexcept : space_{&space}, self_{self} {}

  [[nodiscard]] core_id self() const noexcept { return self_; }
  [[nodiscard]] int cores() const noexcept { return space_->cores_; }
  [[nodiscard]] std::size_t mpm_bytes() const noexcept { return space_->mpm_bytes_; }
  [[nodiscard]] mpm_ptr<std::byte> at(core_id core, std::size_t offset) const noexcept {
    return mpm_ptr{space_->regions_ + (core.index() << space_->region_shift_) +
                   sizeof(memory_space::control) + offset};
  }

  template <class T>
  requires memory_word<std::remove_const_t<T>>
  [[nodiscard]] std::remove_const_t<T> load(mpm_ptr<T> p) const noexcept {
    const auto value = atomic(p).load(std::memory_order_acquire);
    sanitizer::acquired(p.address());
    return value;
  }
  template <memory_word T>
  void load_row(T* to, mpm_ptr<T> from, std::size_t count) const noexcept {
    for (std::size_t i = 0; i < count; ++i) to[i] = load(from + static_cast<std::ptrdiff_t>(i));
  }
  template <memory_word T>
  void store(mpm_ptr<T> p, std::type_identity_t<T> value) const noexcept {
    sanitizer::releases(p.address());
    atomic(p).store(value, std::memory_order_release);
  }
  template <memory_word T>
  void signal(mpm_ptr<T> p, std::type_identity_t<T> value) const noexcept {
    store(p, value);
    space_->control_of(p.address()).changed.notify_all();
  }
  [[nodiscard]] word exchange(mpm_ptr<word> p, word value) const noexcept {
    const both_ways order(p.address());
    return atomic(p).exchange(value, std::memory_order_acq_rel);
  }
  [[nodiscard]] bool compare_exchange(mpm_ptr<word> p, word expected, word value) const noexcept {
    const both_ways order(p.address());
    return atomic(p).compare_exchange_strong(expected, value, std::memory_order_acq_rel);
  }

  void read(void* to, mpm_ptr<const std::byte> from, std::size_t bytes) const noexcept {
    copy(to, from.address(), bytes);
  }
  void write(mpm_ptr<std::byte> to, const void* from, std::size_t bytes) const noexcept {
    copy(to.address(), from, bytes);
  }
  void invalidate() const noexcept {}
  void flush() const noexcept {}

  [[nodiscard]] bool test_and_set(core_id id) const noexcept {
    std::atomic<std::uint32_t>& held = space_->control_of(id).test_and_set;
    if (held.exchange(1, std::memory_order_acquire) != 0) return false;
    sanitizer::acquired(&held);
    return true;
  }
  void clear(core_id id) const noexcept {
    std::atomic<std::uint32_t>& held = space_->control_of(id).test_and_set;
    sanitizer::releases(&held);
    held.store(0, std::memory_order_release);
  }
  [[nodiscard]] int counters() const noexcept { return 2 * space_->cores_; }
  [[nodiscard]] word fetch_increment(counter_id id) const noexcept {
    const both_ways order(&counter(id));
    return counter(id).fetch_add(1, std::memory_order_acq_rel);
  }
  /// Returns the counter's value, which others may change at once.
  [[nodiscard]] word counter_value(counter_id id) const noexcept {
    const word value = counter(id).load(std::memory_order_acquire);
    sanitizer::acquired(&counter(id));
    return value;
  }
  void set_counter(counter_id id, word value) const noexcept {
    sanitizer::releases(&counter(id));
    counter(id).store(value, std::memory_order_release);
  }

  template <memory_word T, std::predicate<T> Predicate>
  T wait_until(mpm_ptr<T> p, Predicate satisfied) const {
    T seen = load(p);
    if (!satisfied(seen)) {
      wait(space_->control_of(p.address()), [&] { return satisfied(seen = load(p)); });
    }
    return seen;
  }
  template <std::predicate Poll>
  void wait_poll(Poll poll) const {
    if (!poll()) wait(space_->control_of(self_), poll);
  }
  /// Pauses. Past a few microseconds it yields the processor, as the other side may need it.
  void pause(cycles length) const;
  void charge(work, std::int64_t) const noexcept {}

 private:
  /// Announces a read-modify-write to the sanitizer, before and after it.
  struct both_ways {
    [[gnu::always_inline]] explicit both_ways(const volatile void* where) noexcept
        : address(where) {
      sanitizer::releases(address);
    }
    [[gnu::always_inline]] ~both_ways() { sanitizer::acquired(address); }
    both_ways(const both_ways&) = delete;
    both_ways& operator=(const both_ways&) = delete;
    const volatile void* address;
  };

  // Carries a wait from one look at its condition to the next; in memory.cpp.
  class patience {
   public:
    explicit patience(memory_space& space) noexcept;
    /// Returns true if it is time to sleep. Throws if the run was aborted.
    bool spent();

   private:
    memory_space& space_;
    std::uint64_t start_ = 0;  // 0: the clock was not read yet
    int looks_ = 0;
  };

  /// Copies a short message as two halves that overlap: a call of memcpy() takes longer than that.
  static void copy(void* to, const void* from, std::size_t bytes) noexcept {
    constexpr std::size_t half = 32;
    if (bytes < half || bytes > 2 * half) {
      std::memcpy(to, from, bytes);
      return;
    }
    const std::size_t rest = bytes - half;
    std::memcpy(to, from, half);
    std::memcpy(static_cast<std::byte*>(to) + rest, static_cast<const std::byte*>(from) + rest,
                half);
  }
  std::atomic<std::uint32_t>& counter(counter_id id) const noexcept {
    return space_->control_of(core_id{id.value / 2}).counter[id.value % 2];
  }
  void throw_if_aborted() const;

  template <class Condition>
  [[gnu::noinline]] void wait(memory_space::control& home, Condition condition) const {
    for (patience left{*space_}; !left.spent();) {
      if (condition()) return;
    }
    home.changed.await([&] {
      throw_if_aborted();
      return condition();
    });
  }

  memory_space* space_;
  core_id self_;
};

inline memory memory_space::core(core_id id) noexcept {
  return memory{*this, id};
}

static_assert(swapping_memory<memory>);

}  // namespace creek::host_backend
