// SPDX-License-Identifier: Apache-2.0
#include "ue.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

#include <creek/core/error.hpp>

namespace creek::rcce {

namespace {

// Words and lines of host memory are twice as long as the chip's: a multiple of both.
constexpr std::size_t unit = 64;
// Memory for the barriers of communicators: the world, the power domain, and splits of them.
constexpr std::size_t for_communicators = 16 * line_bytes;

constexpr std::size_t whole(std::size_t bytes) noexcept {
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace

mpb_layout lay_out(std::size_t mpb, int count, program_style style, std::size_t buffer_bytes) {
  const std::size_t flags = whole(2 * static_cast<std::size_t>(count) * sizeof(word));
  const std::size_t taken = flags + for_communicators;
  if (taken + unit > mpb) {
    throw usage_error(
        fmt::format("rccerun: MPB of {} bytes: {} UEs need at least {}", mpb, count, taken + unit));
  }
  const std::size_t left = (mpb - taken) / unit * unit;
  const std::size_t wanted = buffer_bytes != 0 ? whole(buffer_bytes) : style.gory ? unit : left;
  if (wanted > left) {
    throw usage_error(fmt::format("rccerun: --buffer {}: {} UEs leave {} bytes of an MPB of {}",
                                  buffer_bytes, count, left, mpb));
  }
  return {flags, wanted, flags + wanted};
}

shared_region::shared_region() {
  void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) throw error(errno, "rccerun: shared memory");
  base_ = static_cast<std::byte*>(mapped);
}
shared_region::~shared_region() {
  munmap(base_, bytes);
}

ue::ue(const setting& given, const mpb_layout& where, std::size_t mpb)
    : rank{given.rank},
      count{given.count},
      style{given.style},
      chosen{given.chosen},
      run_failed{*given.run_failed},
      allocator{where.rest, mpb - where.rest, line_bytes},
      shared{*given.shared},
      used_lines_(mpb / line_bytes, false) {}

void ue::mark_used(const mpm_block& block) {
  const auto first = used_lines_.begin() + static_cast<std::ptrdiff_t>(block.offset() / line_bytes);
  std::fill_n(first, block.bytes() / line_bytes, true);
}

std::string ue::describe() const {
  if (activity.call == nullptr) return fmt::format("UE {} in its own code", rank);
  if (activity.number < 0) return fmt::format("UE {} in {}", rank, activity.call);
  return fmt::format("UE {} in {}, {} {}", rank, activity.call, activity.peer, activity.number);
}

}  // namespace creek::rcce
