// SPDX-License-Identifier: Apache-2.0
#include "chip_memory.hpp"

#include <creek/core/error.hpp>

namespace creek::scc_backend {

std::size_t chip_memory::offset_of(const void* address, std::size_t size) const {
  const auto offset = static_cast<const std::byte*>(address) - bytes_.get();
  const auto end = static_cast<std::ptrdiff_t>(this->size());
  if (address == nullptr || offset < 0 || offset >= end ||
      size > static_cast<std::size_t>(end - offset)) {
    throw usage_error("simulated chip: the address is not message-passing or shared memory");
  }
  return static_cast<std::size_t>(offset);
}

}  // namespace creek::scc_backend
