// SPDX-License-Identifier: Apache-2.0
// Off-chip memory that a core keeps in its caches: costs that programs state, and accesses.
#pragma once

#include <cstddef>
#include <cstdint>

#include <creek/core/mpm_ptr.hpp>
#include <creek/scc/core_view.hpp>

namespace creek::scc_backend {

/// How private memory is written: through the caches, or collected in the write-combine buffer.
enum class write_mode : std::uint8_t { cached, combined };

/// The working set of memory that has not been touched before: nothing of it lies in a cache.
inline constexpr std::size_t cold = ~std::size_t{0};

/// Programs keep private data in host memory and state what using it costs. No other core sees a
/// private line, so only time is simulated, except for the last two functions.
class private_memory : public core_view {
 public:
  using core_view::core_view;

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
};

}  // namespace creek::scc_backend
