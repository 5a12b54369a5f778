// SPDX-License-Identifier: Apache-2.0
// Mapping fibers: a stack, the fiber on top of it, its task slots above.
#include "fiber.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <new>

#include <creek/core/threads/stack_pool.hpp>
#include <creek/tasking/ext/task_context.hpp>

#include "scheduling/external_deques.hpp"

namespace creek::host_backend {

namespace {

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

}  // namespace

fiber_ptr map_fiber(std::size_t stack_size, std::uint32_t capacity,
                    void (*entry)(switch_context& self, switch_context& previous)) noexcept {
  const std::size_t control = whole_pages(sizeof(fiber) + colours * colour_step +
                                          (std::size_t{capacity} + 1) * sizeof(ext::task_slot));
  const std::size_t stack = whole_pages(stack_size);
  std::byte* low = take_stack(stack + control);
  if (low == nullptr) return nullptr;
  static std::atomic<unsigned> colour{0};
  const std::size_t offset =
      (colour.fetch_add(1, std::memory_order_relaxed) % colours) * colour_step;
  fiber_ptr made(::new (low + stack + offset) fiber);
  made->mapped = stack + control;
  prepare_context(*made, low, stack + offset, entry);
  auto* slots = reinterpret_cast<ext::task_slot*>(
      (reinterpret_cast<std::uintptr_t>(made.get() + 1) + 63) & ~std::uintptr_t{63});
  made->tasks.set_up(slots, capacity, nullptr, made.get(), false);
  return made;
}

void fiber_deleter::operator()(fiber* unused) const noexcept {
  unused->tasks.record().contexts.clear();
  delete unused->mpb;
  release_context(*unused);
  give_back_stack(unused->stack_low, unused->mapped);
}

void trim_fiber(fiber& idle) noexcept {
  const auto drop = [](std::uintptr_t begin, std::uintptr_t end) {
    begin = whole_pages(begin);
    end = end / page_size() * page_size();
    if (end > begin) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  };
  // The frames of the idle loop, just below the fiber, stay.
  drop(reinterpret_cast<std::uintptr_t>(idle.stack_low),
       reinterpret_cast<std::uintptr_t>(&idle) - 2 * page_size());
  drop(reinterpret_cast<std::uintptr_t>(idle.tasks.slots()),
       reinterpret_cast<std::uintptr_t>(idle.stack_low) + idle.mapped);
}

}  // namespace creek::host_backend
