// SPDX-License-Identifier: Apache-2.0
// Off-chip memory that all cores share: its places, and allocation of whole lines.
#pragma once

#include <cstddef>

#include <creek/core/mpm_ptr.hpp>
#include <creek/scc/core_view.hpp>

namespace creek::scc_backend {

/// Places of the shared memory, for the memory policy to read and write. Each core allocates from a
/// record of its own; the records agree because all cores make equal calls in equal order.
class shared_memory : public core_view {
 public:
  explicit shared_memory(const core_view& core) noexcept : core_view(core) {}

  /// Returns a place in off-chip memory that all cores share. load() and store() use it uncached,
  /// read() and write() as MPBT memory; waits work too. Throws usage_error outside it.
  [[nodiscard]] mpm_ptr<std::byte> at(std::size_t offset) const;
  [[nodiscard]] std::size_t bytes() const noexcept;
  /// Returns whole lines of shared memory, or null without a gap. Collective as symmetric_allocator
  /// is: each core keeps its own record, and equal calls in equal order give equal places.
  [[nodiscard]] mpm_ptr<std::byte> allocate(std::size_t bytes) const;
  /// Throws usage_error if nothing was allocated there.
  void free(mpm_ptr<std::byte> block) const;
};

}  // namespace creek::scc_backend
