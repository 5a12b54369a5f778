// SPDX-License-Identifier: Apache-2.0
// The sanitizers' functions for code that switches stacks, each null in a program without it. They
// have names of their own here, since the sanitizers' headers declare them too, and not weak.
#pragma once

#include <cstddef>

namespace creek {

extern "C" {
// AddressSanitizer: sanitizer/common_interface_defs.h, asan_interface.h, lsan_interface.h.
[[gnu::weak]] void asan_start_switch(void** fake_stack, const void* low,
                                     std::size_t size) __asm__("__sanitizer_start_switch_fiber");
[[gnu::weak]] void asan_finish_switch(void* fake_stack, const void** low,
                                      std::size_t* size) __asm__("__sanitizer_finish_switch_fiber");
[[gnu::weak]] void asan_unpoison(const volatile void* low,
                                 std::size_t size) __asm__("__asan_unpoison_memory_region");
[[gnu::weak]] void lsan_register_region(const void* low,
                                        std::size_t size) __asm__("__lsan_register_root_region");
[[gnu::weak]] void lsan_unregister_region(const void* low, std::size_t size) __asm__(
    "__lsan_unregister_root_region");
// ThreadSanitizer: sanitizer/tsan_interface.h.
[[gnu::weak]] void* tsan_current_fiber() __asm__("__tsan_get_current_fiber");
[[gnu::weak]] void* tsan_create_fiber(unsigned flags) __asm__("__tsan_create_fiber");
[[gnu::weak]] void tsan_destroy_fiber(void* fiber) __asm__("__tsan_destroy_fiber");
[[gnu::weak]] void tsan_switch_to_fiber(void* fiber,
                                        unsigned flags) __asm__("__tsan_switch_to_fiber");
}

/// Has LeakSanitizer search the memory for pointers, which keep what they point to from being lost.
inline void search_for_pointers(const void* low, std::size_t size) noexcept {
  if (lsan_register_region != nullptr) lsan_register_region(low, size);
}
/// Ends that; exactly once for each search_for_pointers().
inline void end_search_for_pointers(const void* low, std::size_t size) noexcept {
  if (lsan_unregister_region != nullptr) lsan_unregister_region(low, size);
}

}  // namespace creek
