// SPDX-License-Identifier: Apache-2.0
#include <creek/scc/shared_memory.hpp>

#include <string>

#include <creek/core/error.hpp>

#include "checker/checker.hpp"
#include "chip/machine.hpp"

namespace creek::scc_backend {

std::size_t shared_memory::bytes() const noexcept {
  return on().description().shared_bytes;
}
mpm_ptr<std::byte> shared_memory::at(std::size_t offset) const {
  if (offset >= bytes()) {
    throw usage_error("simulated chip: " + std::to_string(offset) + " is outside the " +
                      std::to_string(bytes()) + " bytes of shared memory");
  }
  return mpm_ptr{on().memory().bytes().off_chip_bytes() + offset};
}
mpm_ptr<std::byte> shared_memory::allocate(std::size_t bytes) const {
  const auto offset =
      enter()->memory().heap(self(), on().description().shared_bytes).allocate(bytes);
  if (!offset) return {};
  if (allocation_observer* observer = allocations()) {
    observer->allocated(on().description().mpb_bytes + *offset, bytes, "shared memory");
  }
  return mpm_ptr{on().memory().bytes().off_chip_bytes() + *offset};
}
void shared_memory::free(mpm_ptr<std::byte> block) const {
  const std::byte* first = enter()->memory().bytes().off_chip_bytes();
  if (block.address() < first || !on().memory()
                                      .heap(self(), on().description().shared_bytes)
                                      .free(static_cast<std::size_t>(block.address() - first))) {
    throw usage_error("simulated chip: shared_memory::free: allocate did not return this address");
  }
  if (allocation_observer* observer = allocations()) {
    observer->released(
        on().description().mpb_bytes + static_cast<std::size_t>(block.address() - first), 0);
  }
}

}  // namespace creek::scc_backend
