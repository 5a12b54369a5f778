// SPDX-License-Identifier: Apache-2.0
// Numbers of the calls that the library serves, for CREEK_LAPACK_VERBOSE.
#pragma once

#include <atomic>
#include <cstdint>

namespace creek::lapack {

/// The calls of one routine in this process.
struct routine_calls {
  const char* name;
  std::atomic<std::uint64_t> calls{0}, on_workers{0}, nanoseconds{0};
  std::atomic<double> operations{0};       ///< floating-point operations
  std::atomic<std::uint64_t> measured{0};  ///< calls of which the energy is known
  std::atomic<double> joules{0};           ///< of these calls
  routine_calls* next = nullptr;           ///< the list of routines that were called
  std::atomic<bool> is_listed{false};
};

/// Whether calls are noted; set when the library is loaded.
extern constinit std::atomic<bool> notes_calls;

/// Notes a call of a routine while it lasts, if calls are noted.
class noted_call {
 public:
  explicit noted_call(routine_calls& routine) noexcept {
    if (notes_calls.load(std::memory_order_relaxed)) [[unlikely]]
      begin(routine);
  }
  ~noted_call() {
    if (routine_ != nullptr) [[unlikely]]
      end();
  }
  noted_call(const noted_call&) = delete;
  noted_call& operator=(const noted_call&) = delete;

 private:
  friend void note_work(double operations, bool on_workers) noexcept;
  void begin(routine_calls& routine) noexcept;
  void end() noexcept;

  routine_calls* routine_ = nullptr;
  std::int64_t began_ = 0;  ///< ns
  double operations_ = 0;
  bool on_workers_ = false;
  bool is_measured_ = false;
  noted_call* outer_ = nullptr;  ///< the call on this thread that made this one
};

/// Adds to the call that the thread is in.
void note_work(double operations, bool on_workers) noexcept;

}  // namespace creek::lapack
