// SPDX-License-Identifier: Apache-2.0
// The memory that the threads of one process share, for protocols that need no message-passing
// memory of a core (ring_memory in messages/spsc_ring.hpp): words are atomics, objects live in it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstring>

#include <creek/core/memory.hpp>
#include <creek/core/threads/sanitizer.hpp>

namespace creek {

/// Stateless; any thread, any ordinary memory.
struct process_memory {
  static constexpr std::size_t line_bytes = 64;
  static constexpr bool shares_addresses = true;
  /// Objects may be constructed at an mpm_ptr's address.
  static constexpr bool holds_objects = true;

  [[nodiscard]] static word load(mpm_ptr<word> p) noexcept {
    const word value = std::atomic_ref<word>{*p.address()}.load(std::memory_order_acquire);
    sanitizer::acquired(p.address());
    return value;
  }
  static void store(mpm_ptr<word> p, word value) noexcept {
    sanitizer::releases(p.address());
    std::atomic_ref<word>{*p.address()}.store(value, std::memory_order_release);
  }
  /// Like store(): whoever sleeps here is woken by other means.
  static void signal(mpm_ptr<word> p, word value) noexcept { store(p, value); }
  static void read(void* to, mpm_ptr<const std::byte> from, std::size_t bytes) noexcept {
    std::memcpy(to, from.address(), bytes);
  }
  static void write(mpm_ptr<std::byte> to, const void* from, std::size_t bytes) noexcept {
    std::memcpy(to.address(), from, bytes);
  }
  static void invalidate() noexcept {}
  static void flush() noexcept {}
};

}  // namespace creek
