// SPDX-License-Identifier: Apache-2.0
// The regions behind host::memory, and how long a wait spins, yields and sleeps.
#include <creek/host/memory.hpp>

#include <immintrin.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <new>
#include <string>

#include <creek/core/decimal.hpp>
#include <creek/core/error.hpp>
#include <creek/host/cpu_limit.hpp>

namespace creek::host_backend {
namespace {

constexpr std::size_t page_bytes = 4096;

std::uint64_t nanoseconds_now() noexcept {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
}

}  // namespace

memory_space::memory_space(int cores, memory_options options) : cores_{cores} {
  if (cores < 1) {
    throw usage_error("memory_space: needs at least one core, got " + decimal(cores));
  }
  constexpr std::size_t line = memory::line_bytes;
  mpm_bytes_ = (std::max<std::size_t>(options.mpm_bytes, line) + line - 1) / line * line;
  region_bytes_ = std::bit_ceil(std::max(page_bytes, sizeof(control) + mpm_bytes_));
  region_shift_ = std::countr_zero(region_bytes_);
  using spinning = memory_options::spinning;
  spin_briefly_ =
      options.spin == spinning::brief || (options.spin == spinning::automatic && cores > 1 &&
                                          static_cast<unsigned>(cores) > recent_cpu_limit());
  // Fresh pages are zero, and touched first by the thread that uses them. The slack of one region
  // leaves room for the alignment; it is given back at once.
  const std::size_t wanted = region_bytes_ * static_cast<std::size_t>(cores);
  const std::size_t mapped = wanted + region_bytes_;
  void* raw = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) throw error(errno, "memory_space: message-passing memory");
  auto* begin = static_cast<std::byte*>(raw);
  const auto address = reinterpret_cast<std::uintptr_t>(raw);
  const std::size_t lead = (region_bytes_ - address % region_bytes_) % region_bytes_;
  regions_ = begin + lead;
  if (lead != 0) munmap(begin, lead);
  munmap(regions_ + wanted, region_bytes_ - lead);
  for (int core = 0; core < cores; ++core) new (&control_of(core_id{core})) control;
  prepare_heavy_fence();
}

memory_space::~memory_space() {
  munmap(regions_, region_bytes_ * static_cast<std::size_t>(cores_));
}

void memory_space::abort() noexcept {
  aborted_.store(true, std::memory_order_release);
  for (int core = 0; core < cores_; ++core) control_of(core_id{core}).changed.notify_all();
}

void memory::throw_if_aborted() const {
  if (space_->aborted()) throw error(ECANCELED, "the run was aborted by another core");
}

void memory::pause(cycles length) const {
  // One _mm_pause takes some 10 (older Intel, AMD) to 140 cycles.
  constexpr std::int64_t cycles_a_pause = 40;
  constexpr std::int64_t worth_a_yield = 8192;
  throw_if_aborted();
  if (length.count > worth_a_yield || space_->spin_briefly_) {
    sched_yield();
    return;
  }
  for (std::int64_t spent = 0; spent < length.count; spent += cycles_a_pause) _mm_pause();
}

// Spinning for about the price of a wake-up costs at most twice the best choice in hindsight
// [Karlin 1991]; then sleep. Yielding is no substitute for sleep: on a busy machine it costs a time
// slice, by whose end the other side has given up its own. Only with more threads than processors,
// where the awaited thread may need this very processor, a wait yields, almost at once and for a
// short time.
namespace {
// A wake-up takes 2.5 to 60 us, mostly under 20. With much less spinning, two sides that once got
// out of step would go on sleeping and waking each other in turn, as each gives up before the other
// is awake.
constexpr std::uint64_t spin_ns = 20'000;
constexpr int looks_between_clocks = 32;
constexpr int brief_looks = 16;
constexpr int brief_yields = 4;
}  // namespace

memory::patience::patience(memory_space& space) noexcept : space_{space} {}

bool memory::patience::spent() {
  if (space_.aborted()) throw error(ECANCELED, "the run was aborted by another core");
  ++looks_;
  if (space_.spin_briefly_ && looks_ > brief_looks) {
    if (looks_ > brief_looks + brief_yields) return true;
    sched_yield();
    return false;
  }
  _mm_pause();
  if (looks_ % looks_between_clocks != 0) return false;
  const std::uint64_t now = nanoseconds_now();
  if (start_ == 0) start_ = now;
  return now - start_ > spin_ns;
}

}  // namespace creek::host_backend
