// SPDX-License-Identifier: Apache-2.0
// Statements of programs and of creek's own kernels about the work that they have done, for the
// observer of the calling thread (execution_observer.hpp). Without one, a statement costs one
// predicted branch and does nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <creek/core/execution_observer.hpp>

namespace creek {

/// States that the caller has computed for `length` cycles of its worker's clock.
inline void charge(cycles length) noexcept {
  if (execution_observer* observer = execution_observer::current()) [[unlikely]] {
    observer->computed(length);
  }
}

/// States that the caller has done `number` units of work. Kernels call it per piece, not element.
inline void charge(work kind, std::int64_t number) noexcept {
  if (execution_observer* observer = execution_observer::current()) [[unlikely]] {
    const work_amount done{kind, number};
    observer->worked({&done, 1});
  }
}

/// States that the caller reads, or writes, `bytes` of a block in memory that all workers share.
inline void charge_shared_read(std::uint64_t block, std::size_t bytes) noexcept {
  if (execution_observer* observer = execution_observer::current()) [[unlikely]] {
    observer->moved(block, bytes, false);
  }
}
inline void charge_shared_write(std::uint64_t block, std::size_t bytes) noexcept {
  if (execution_observer* observer = execution_observer::current()) [[unlikely]] {
    observer->moved(block, bytes, true);
  }
}

}  // namespace creek
