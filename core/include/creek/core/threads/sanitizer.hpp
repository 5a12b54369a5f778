// SPDX-License-Identifier: Apache-2.0
// Announces to ThreadSanitizer which store each acquiring load of the library pairs with.
// A program may be compiled with -fsanitize=thread and linked to a library that was not. Then the
// sanitizer sees the program's memory accesses but not the library's atomics, and would report
// every hand-over as a race. So each release and acquire that orders data of users is announced at
// the address of its atomic, where code compiled with the sanitizer announces its own: it does not
// matter which side was compiled how. docs/design/0007-announcing-to-sanitizers.md.
// For authors of backends. In a program without the sanitizer an announcement is a compare with
// zero that predicts well; in code compiled with the sanitizer it is nothing.
#pragma once

#include <creek/core/language.hpp>

#if defined(__SANITIZE_THREAD__)
#define CREEK_SANITIZES_THREADS 1
#elif defined(__has_feature)  // Clang
#if __has_feature(thread_sanitizer)
#define CREEK_SANITIZES_THREADS 1
#endif
#endif

namespace creek::sanitizer {

#ifdef CREEK_SANITIZES_THREADS

[[gnu::always_inline]] inline bool needs_announcements() noexcept {
  return false;
}
[[gnu::always_inline]] inline void acquired(const volatile void*) noexcept {}
[[gnu::always_inline]] inline void releases(const volatile void*) noexcept {}

#else

extern "C" {
// Null unless the program contains the sanitizer. They have names of their own here, since the
// sanitizer's header declares them too, and not weak.
[[gnu::weak]] void creek_tsan_acquire(void* address) __asm__("__tsan_acquire");
[[gnu::weak]] void creek_tsan_release(void* address) __asm__("__tsan_release");
}

/// Returns whether the sanitizer watches the program but not the code that calls this.
[[gnu::always_inline]] inline bool needs_announcements() noexcept {
  return creek_tsan_release != nullptr;
}
/// Announces an acquiring load of the atomic at `address`; call it after the load. Inlined by
/// force: code compiled with the sanitizer has another function of this name.
[[gnu::always_inline]] inline void acquired(const volatile void* address) noexcept {
  if (needs_announcements()) [[unlikely]]
    creek_tsan_acquire(const_cast<void*>(address));
}
/// Announces a releasing store to the atomic at `address`; call it before the store.
[[gnu::always_inline]] inline void releases(const volatile void* address) noexcept {
  if (needs_announcements()) [[unlikely]]
    creek_tsan_release(const_cast<void*>(address));
}

#endif

/// Returns whether AddressSanitizer watches the program but not creek's libraries.
[[nodiscard]] bool is_hidden_from_address_sanitizer() noexcept;

}  // namespace creek::sanitizer
