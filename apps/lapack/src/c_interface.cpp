// SPDX-License-Identifier: Apache-2.0
#include "c_interface.hpp"

#include <dlfcn.h>

#include <cstdlib>

extern "C" [[gnu::weak]] int LAPACKE_get_nancheck();

namespace creek::lapack {
inline namespace CREEK_LAPACK_WIDTH {

bool nan_check_wanted() noexcept {
  static int (*const asked)() =
      &LAPACKE_get_nancheck != nullptr
          ? &LAPACKE_get_nancheck
          : reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "LAPACKE_get_nancheck"));
  if (asked != nullptr) return asked() != 0;
  static const bool wanted = [] {
    const char* const set = std::getenv("LAPACKE_NANCHECK");
    return set == nullptr || std::atoi(set) != 0;
  }();
  return wanted;
}

}  // namespace CREEK_LAPACK_WIDTH
}  // namespace creek::lapack
