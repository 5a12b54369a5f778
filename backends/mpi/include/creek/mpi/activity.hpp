// SPDX-License-Identifier: Apache-2.0
// The record of a rank's current work, for the line that names a rank that ended
// (src/watch/watch.hpp).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <creek/core/language.hpp>

namespace creek::mpi_backend {

enum class operation : std::uint32_t { none, send, receive, post, take, barrier, broadcast, serve };

/// Record of a rank in memory that it shares with its watcher, which reads it after the rank's
/// death, too. One thread of the rank writes; all accesses are relaxed.
struct activity {
  static constexpr std::size_t stage_bytes = 32;

  void begin(operation what, int peer, bool in_part) noexcept {
    current.store(std::uint64_t{static_cast<std::uint32_t>(what)} << 33 |
                      std::uint64_t{in_part} << 32 | static_cast<std::uint32_t>(peer),
                  std::memory_order_relaxed);
  }
  void end() noexcept { current.store(0, std::memory_order_relaxed); }
  void set_stage(const char* text) noexcept {
    std::size_t i = 0;
    for (; i + 1 < stage_bytes && text[i] != '\0'; ++i) {
      stage[i].store(text[i], std::memory_order_relaxed);
    }
    stage[i].store('\0', std::memory_order_relaxed);
  }

  std::atomic<std::uint64_t> current{0};  ///< operation, whether in a part, peer
  std::array<std::atomic<char>, stage_bytes> stage{};
  std::atomic<int> signal{0};        ///< that ends the rank
  std::atomic<bool> exits{false};    ///< exit() was called, or main() has returned
  std::atomic<bool> is_over{false};  ///< its watcher ends the rank, with exit code 1
};

/// The record of this process; nobody reads it unless the process is watched.
extern activity* own_activity;

}  // namespace creek::mpi_backend
