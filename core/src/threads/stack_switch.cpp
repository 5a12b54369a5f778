// SPDX-License-Identifier: Apache-2.0
// Mapping stacks and switching between them.
#include <creek/core/threads/stack_switch.hpp>

#include <cxxabi.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <boost/context/detail/fcontext.hpp>
#include <cerrno>
#include <exception>
#include <utility>

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define VALGRIND_STACK_REGISTER(low, high) 0
#define VALGRIND_STACK_DEREGISTER(id) static_cast<void>(id)
#endif

#include "guard_mark.hpp"
#include "sanitizer_interface.hpp"

namespace creek {

namespace ctx = boost::context::detail;

namespace {

/// Mappings from this size on may be backed by huge pages.
constexpr std::size_t huge_page = std::size_t{2} << 20;

/// Data that a switch carries over; lies on the stack that is left.
struct crossing {
  switch_context* from;
  switch_context* to;
};

// The compiler takes __cxa_get_globals for a constant of the thread; a fiber changes threads in the
// middle of a function, so the call must not be merged across a switch.
[[gnu::noinline]] decltype(switch_context::exceptions)* thread_exceptions() noexcept {
  asm volatile("");
  return reinterpret_cast<decltype(switch_context::exceptions)*>(abi::__cxa_get_globals());
}

// Inlined by force: ThreadSanitizer counts the return of a function on the stack switched to.
[[gnu::always_inline]] inline void before_switch(switch_context& from,
                                                 switch_context& to) noexcept {
  from.exceptions = *thread_exceptions();
  if (asan_start_switch != nullptr) [[unlikely]]
    asan_start_switch(&from.fake_stack, to.stack_low, to.stack_size);
  if (tsan_switch_to_fiber != nullptr) [[unlikely]]
    tsan_switch_to_fiber(to.thread_state, 0);
}

switch_context& after_switch(switch_context& self, ctx::transfer_t transfer) noexcept {
  if (asan_finish_switch != nullptr) [[unlikely]]
    asan_finish_switch(self.fake_stack, nullptr, nullptr);
  *thread_exceptions() = self.exceptions;
  switch_context& previous = *static_cast<crossing*>(transfer.data)->from;
  previous.saved = transfer.fctx;
  return previous;
}

// AddressSanitizer frees the fake stack of the flow that leaves its stack for ever, and no other.
// So this flow takes the place of the other one, leaves it for ever, and is itself again.
void free_fake_stack(switch_context& unused) noexcept {
  void* mine = nullptr;
  const void* low = nullptr;
  std::size_t size = 0;
  asan_start_switch(&mine, unused.stack_low, unused.stack_size);
  asan_finish_switch(std::exchange(unused.fake_stack, nullptr), &low, &size);
  asan_start_switch(nullptr, low, size);
  asan_finish_switch(mine, nullptr, nullptr);
}

void begin(ctx::transfer_t transfer) {
#if defined(__x86_64__)
  // Nobody called this function: debuggers and unwinders stop here.
  asm volatile(".cfi_undefined rip");
#endif
  switch_context& self = *static_cast<crossing*>(transfer.data)->to;
  self.entry(self, after_switch(self, transfer));
  std::terminate();  // an entry does not return
}

}  // namespace

void prepare_context(switch_context& fresh, std::byte* low, std::size_t size,
                     void (*entry)(switch_context& self, switch_context& previous)) noexcept {
  fresh.stack_low = low;
  fresh.stack_size = size;
  fresh.entry = entry;
  fresh.saved = ctx::make_fcontext(low + size, size, &begin);
  fresh.valgrind_id = VALGRIND_STACK_REGISTER(low, low + size);
  if (tsan_create_fiber != nullptr) fresh.thread_state = tsan_create_fiber(0);
}

void release_context(switch_context& unused) noexcept {
  VALGRIND_STACK_DEREGISTER(unused.valgrind_id);
  if (tsan_destroy_fiber != nullptr) tsan_destroy_fiber(unused.thread_state);
  // The frames of a flow that did not return have left their red zones there.
  if (asan_unpoison != nullptr) asan_unpoison(unused.stack_low, unused.stack_size);
  if (unused.fake_stack != nullptr) free_fake_stack(unused);
}

void adopt_thread_stack(switch_context& native) noexcept {
  if (tsan_current_fiber != nullptr) native.thread_state = tsan_current_fiber();
  if (asan_start_switch == nullptr) return;
  pthread_attr_t attributes;
  void* low = nullptr;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &low, &native.stack_size);
    pthread_attr_destroy(&attributes);
  }
  native.stack_low = static_cast<std::byte*>(low);
}

void begin_absence(const switch_context& native) noexcept {
  if (native.stack_low != nullptr) search_for_pointers(native.stack_low, native.stack_size);
}

void end_absence(const switch_context& native) noexcept {
  if (native.stack_low != nullptr) end_search_for_pointers(native.stack_low, native.stack_size);
}

switch_context& switch_stacks(switch_context& from, switch_context& to) noexcept {
  crossing over{&from, &to};
  before_switch(from, to);
  const ctx::transfer_t transfer = ctx::jump_fcontext(to.saved, &over);
  return after_switch(from, transfer);
}

std::byte* map_guarded(std::size_t size) noexcept {
  void* mapping = mmap(nullptr, guard_bytes + size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  auto* const guard = static_cast<std::byte*>(mapping);
  if (!make_guard(guard)) {
    const int reason = errno;
    munmap(mapping, guard_bytes + size);
    errno = reason;
    return nullptr;
  }
  std::byte* const low = guard + guard_bytes;
  // A touched page must cost a page, not a huge one.
  if (size >= huge_page) (void)madvise(low, size, MADV_NOHUGEPAGE);
  // LeakSanitizer scans the stack, so memory that only a suspended flow points to is not lost.
  search_for_pointers(low, size);
  return low;
}

void unmap_guarded(std::byte* low, std::size_t size) noexcept {
  end_search_for_pointers(low, size);
  unmap_with_guard(low, size);
}

}  // namespace creek
