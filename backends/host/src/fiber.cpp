// SPDX-License-Identifier: Apache-2.0
// Mapping fibers and switching between them.
#include "fiber.hpp"

#include <cxxabi.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <new>

#include <creek/tasking/detail/context.hpp>

#include "external_deques.hpp"

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

namespace creek::host_backend {

namespace ctx = boost::context::detail;

namespace {

/// No access below a stack: sixteen pages, for frames that step over one. Costs no memory.
constexpr std::size_t guard_size = std::size_t{64} << 10;
/// Mappings from this size on may be backed by huge pages.
constexpr std::size_t huge_page = std::size_t{2} << 20;
/// Fibers begin at different offsets in their page, or all of them would share the same cache sets.
constexpr std::size_t colours = 32;
constexpr std::size_t colour_step = 128;

std::size_t page_size() noexcept {
  static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return size;
}
std::size_t whole_pages(std::size_t bytes) noexcept {
  return (bytes + page_size() - 1) / page_size() * page_size();
}

// The compiler takes __cxa_get_globals for a constant of the thread; a fiber changes threads in the
// middle of a function, so the call must not be merged across a switch.
[[gnu::noinline]] exception_state* thread_exceptions() noexcept {
  asm volatile("");
  return reinterpret_cast<exception_state*>(abi::__cxa_get_globals());
}

// Inlined by force: ThreadSanitizer counts the return of a function on the fiber switched to.
[[gnu::always_inline]] inline void before_switch([[maybe_unused]] fiber& from,
                                                 [[maybe_unused]] fiber& to) noexcept {
  from.exceptions = *thread_exceptions();
#ifdef CREEK_ASAN_FIBERS
  __sanitizer_start_switch_fiber(&from.fake_stack, to.stack_low, to.stack_size);
#endif
#ifdef CREEK_TSAN_FIBERS
  __tsan_switch_to_fiber(to.tsan, 0);
#endif
}

fiber* after_switch(fiber& self, ctx::transfer_t transfer) noexcept {
#ifdef CREEK_ASAN_FIBERS
  __sanitizer_finish_switch_fiber(self.fake_stack, nullptr, nullptr);
#endif
  *thread_exceptions() = self.exceptions;
  auto* previous = static_cast<fiber*>(transfer.data);
  previous->context = transfer.fctx;
  return previous;
}

}  // namespace

fiber_ptr map_fiber(std::size_t stack_size, std::uint32_t capacity,
                    void (*entry)(ctx::transfer_t)) noexcept {
  const std::size_t control = whole_pages(sizeof(fiber) + colours * colour_step +
                                          (std::size_t{capacity} + 1) * sizeof(detail::task_slot));
  const std::size_t stack = whole_pages(stack_size);
  const std::size_t size = guard_size + stack + control;
  void* mapping = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  if (mprotect(mapping, guard_size, PROT_NONE) != 0) {
    const int reason = errno;
    munmap(mapping, size);
    errno = reason;
    return nullptr;
  }
  auto* low = static_cast<std::byte*>(mapping) + guard_size;
  // A touched page must cost a page, not a huge one.
  if (stack + control >= huge_page) (void)madvise(low, stack + control, MADV_NOHUGEPAGE);
  static std::atomic<unsigned> colour{0};
  const std::size_t offset =
      (colour.fetch_add(1, std::memory_order_relaxed) % colours) * colour_step;
  fiber_ptr made(::new (low + stack + offset) fiber);
  made->mapping = mapping;
  made->mapping_size = size;
  made->stack_low = low;
  made->stack_size = stack + offset;
  made->context = ctx::make_fcontext(made.get(), made->stack_size, entry);
  auto* slots = reinterpret_cast<detail::task_slot*>(
      (reinterpret_cast<std::uintptr_t>(made.get() + 1) + 63) & ~std::uintptr_t{63});
  detail::init_task_stack(made->tasks, slots, capacity, nullptr, made.get(), false);
  made->valgrind_id = VALGRIND_STACK_REGISTER(low, made.get());
#ifdef CREEK_TSAN_FIBERS
  made->tsan = __tsan_create_fiber(0);
#endif
  return made;
}

void fiber_deleter::operator()(fiber* unused) const noexcept {
  detail::free_contexts(unused->tasks.free_contexts);
  delete unused->mpb;
  VALGRIND_STACK_DEREGISTER(unused->valgrind_id);
#ifdef CREEK_TSAN_FIBERS
  __tsan_destroy_fiber(unused->tsan);
#endif
#ifdef CREEK_ASAN_FIBERS
  ASAN_UNPOISON_MEMORY_REGION(unused->stack_low, unused->stack_size);
#endif
  munmap(unused->mapping, unused->mapping_size);
}

void trim_fiber(fiber& idle) noexcept {
  const auto drop = [](std::uintptr_t begin, std::uintptr_t end) {
    begin = whole_pages(begin);
    end = end / page_size() * page_size();
    if (end > begin) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  };
  // The frames of the idle loop, just below the fiber, stay.
  drop(reinterpret_cast<std::uintptr_t>(idle.stack_low),
       reinterpret_cast<std::uintptr_t>(&idle) - 4 * page_size());
  drop(reinterpret_cast<std::uintptr_t>(idle.tasks.first),
       reinterpret_cast<std::uintptr_t>(idle.mapping) + idle.mapping_size);
}

fiber* switch_fiber(fiber& from, fiber& to) noexcept {
  before_switch(from, to);
  const ctx::transfer_t transfer = ctx::jump_fcontext(to.context, &from);
  return after_switch(from, transfer);
}

fiber* fiber_entered(fiber& self, ctx::transfer_t transfer) noexcept {
  return after_switch(self, transfer);
}

void adopt_thread_stack([[maybe_unused]] fiber& native) noexcept {
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

}  // namespace creek::host_backend
