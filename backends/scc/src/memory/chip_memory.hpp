// SPDX-License-Identifier: Apache-2.0
// The bytes of the chip's memory.
#pragma once

#include <cstddef>

#include <creek/scc/chip.hpp>

#include "off_chip.hpp"
#include "zeroed_memory.hpp"

namespace creek::scc_backend {

/// An offset counts bytes into all message-passing memory (MPB), core after core, followed by all
/// off-chip memory. Accesses here cost no virtual time.
class chip_memory {
 public:
  explicit chip_memory(const chip& on)
      : mpb_bytes_{on.mpb_bytes},
        mpb_end_{static_cast<std::size_t>(on.cores()) * on.mpb_bytes},
        dram_{on},
        bytes_{size()} {}

  std::size_t size() const noexcept { return mpb_end_ + dram_.bytes(); }
  std::byte* at(std::size_t offset) noexcept { return bytes_.get() + offset; }
  std::byte* mpb(core_id core) noexcept { return at(core.index() * mpb_bytes_); }
  std::byte* off_chip_bytes() noexcept { return at(mpb_end_); }
  /// Returns the offset. Throws usage_error unless all `size` bytes are simulated memory.
  std::size_t offset_of(const void* address, std::size_t size = 1) const;

  bool is_mpb(std::size_t offset) const noexcept { return offset < mpb_end_; }
  /// Returns the core whose MPB the offset lies in.
  core_id owner(std::size_t offset) const noexcept {
    return core_id{static_cast<int>(offset / mpb_bytes_)};
  }
  /// Returns where an offset in off-chip memory counts from the first off-chip byte.
  std::size_t off_chip_offset(std::size_t offset) const noexcept { return offset - mpb_end_; }
  off_chip& dram() noexcept { return dram_; }

 private:
  std::size_t mpb_bytes_;
  std::size_t mpb_end_;  ///< offset of the first byte that is off-chip
  off_chip dram_;
  zeroed_memory<std::byte> bytes_;
};

}  // namespace creek::scc_backend
