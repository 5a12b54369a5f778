// SPDX-License-Identifier: Apache-2.0
#include <creek/core/threads/sanitizer.hpp>

#include "sanitizer_interface.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define CREEK_SANITIZES_ADDRESSES 1
#elif defined(__has_feature)  // Clang
#if __has_feature(address_sanitizer)
#define CREEK_SANITIZES_ADDRESSES 1
#endif
#endif

namespace creek::sanitizer {

bool is_hidden_from_address_sanitizer() noexcept {
#ifdef CREEK_SANITIZES_ADDRESSES
  return false;
#else
  return asan_unpoison != nullptr;
#endif
}

}  // namespace creek::sanitizer
