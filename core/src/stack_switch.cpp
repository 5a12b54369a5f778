// SPDX-License-Identifier: Apache-2.0
// Mapping stacks and switching between them.
#include <creek/core/stack_switch.hpp>

#include <cxxabi.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <boost/context/detail/fcontext.hpp>
#include <cerrno>
#include <exception>

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define VALGRIND_STACK_REGISTER(low, high) 0
#define VALGRIND_STACK_DEREGISTER(id) static_cast<void>(id)
#endif
#ifdef CREEK_ASAN_FIBERS
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef CREEK_TSAN_FIBERS
#include <sanitizer/tsan_interface.h>
#endif

namespace creek {

namespace ctx = boost::context::detail;

namespace {

/// Mappings from this size on may be backed by huge pages.
constexpr std::size_t huge_page = std::size_t{2} << 20;

/// What a switch carries over; lies on the stack that is left.
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
[[gnu::always_inline]] inline void before_switch([[maybe_unused]] switch_context& from,
                                                 [[maybe_unused]] switch_context& to) noexcept {
  from.exceptions = *thread_exceptions();
#ifdef CREEK_ASAN_FIBERS
  __sanitizer_start_switch_fiber(&from.fake_stack, to.stack_low, to.stack_size);
#endif
#ifdef CREEK_TSAN_FIBERS
  __tsan_switch_to_fiber(to.tsan, 0);
#endif
}

switch_context& after_switch(switch_context& self, ctx::transfer_t transfer) noexcept {
#ifdef CREEK_ASAN_FIBERS
  __sanitizer_finish_switch_fiber(self.fake_stack, nullptr, nullptr);
#endif
  *thread_exceptions() = self.exceptions;
  switch_context& previous = *static_cast<crossing*>(transfer.data)->from;
  previous.saved = transfer.fctx;
  return previous;
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
#ifdef CREEK_TSAN_FIBERS
  fresh.tsan = __tsan_create_fiber(0);
#endif
}

void release_context(switch_context& unused) noexcept {
  VALGRIND_STACK_DEREGISTER(unused.valgrind_id);
#ifdef CREEK_TSAN_FIBERS
  __tsan_destroy_fiber(unused.tsan);
#endif
#ifdef CREEK_ASAN_FIBERS
  ASAN_UNPOISON_MEMORY_REGION(unused.stack_low, unused.stack_size);
#endif
}

void adopt_thread_stack([[maybe_unused]] switch_context& native) noexcept {
#if defined(CREEK_ASAN_FIBERS)
  pthread_attr_t attributes;
  void* low = nullptr;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &low, &native.stack_size);
    pthread_attr_destroy(&attributes);
  }
  native.stack_low = static_cast<std::byte*>(low);
#endif
#ifdef CREEK_TSAN_FIBERS
  native.tsan = __tsan_get_current_fiber();
#endif
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
  if (mprotect(mapping, guard_bytes, PROT_NONE) != 0) {
    const int reason = errno;
    munmap(mapping, guard_bytes + size);
    errno = reason;
    return nullptr;
  }
  auto* low = static_cast<std::byte*>(mapping) + guard_bytes;
  // A touched page must cost a page, not a huge one.
  if (size >= huge_page) (void)madvise(low, size, MADV_NOHUGEPAGE);
  return low;
}

void unmap_guarded(std::byte* low, std::size_t size) noexcept {
  munmap(low - guard_bytes, guard_bytes + size);
}

}  // namespace creek
