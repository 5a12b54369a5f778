// SPDX-License-Identifier: Apache-2.0
// Findings of the coherence checker: wrong uses of memory that no cache keeps coherent. A fault is
// found by the order of synchronisation, not by luck of timing: two accesses are ordered only if a
// chain of words, test-and-set registers and counters leads from one to the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <creek/core/core_id.hpp>
#include <creek/scc/virtual_time.hpp>

namespace creek::scc_backend {

enum class fault_kind : std::uint8_t {
  missing_invalidate,  ///< an L1 copy was read although another core had changed and announced it
  missing_flush,       ///< announced while the write-combine buffer still held it back
  overwritten,         ///< written although the last reader had not acknowledged
  unordered_writes,    ///< two cores wrote a byte, in no order
  unordered_read,      ///< read although the writer had not announced
  never_written,       ///< a block read of bytes that no core had written
  leaked,              ///< still allocated at the end of a program that frees blocks like it
  used_after_free,     ///< an access to memory that the accessing core had freed
};

/// Returns the kind's name, such as "missing invalidate".
[[nodiscard]] std::string_view name_of(fault_kind kind) noexcept;

/// One side of a fault.
struct fault_access {
  core_id core{0};
  virtual_time at;                 ///< when it took effect
  std::string what;                ///< "read", "wrote", "stored a word to", ...
  std::vector<std::string> calls;  ///< innermost first: file:line and function, or module+offset
};

/// One fault, or many of the same kind between the same two places of the program.
struct fault {
  fault_kind kind{};
  fault_access found;                 ///< the access at which it was found
  std::optional<fault_access> other;  ///< the one it clashes with; none for never_written, leaked
  std::optional<core_id> owner;       ///< core whose memory it is; none for memory off the chip
  std::size_t offset = 0;             ///< offset of the first byte at fault, in the owner's memory
  std::size_t bytes = 0;              ///< number of bytes at fault within that line
  std::string allocation;             ///< name of the block and offset in it; empty if unknown
  std::uint64_t count = 1;
};

/// Writes the faults as the tool does: some lines each, at most `most`, then how many there are.
void print(std::ostream& out, std::span<const fault> faults, std::size_t most = 50);

}  // namespace creek::scc_backend
