// SPDX-License-Identifier: Apache-2.0
#include "hwloc_library.hpp"

namespace creek::host_backend {

static_assert(HWLOC_API_VERSION >= 0x20000, "the library has the interface of hwloc 2");

const hwloc_library* find_hwloc() noexcept {
  static const hwloc_library hwloc;
  return hwloc.file.complete() ? &hwloc : nullptr;
}

}  // namespace creek::host_backend
