// SPDX-License-Identifier: Apache-2.0
// Making fibers: a stack, the fiber on top of it, its task slots above.
#include "fiber.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <new>

#include <creek/core/threads/stack_pool.hpp>
#include <creek/tasking/ext/task_context.hpp>

#include "scheduling/external_deques.hpp"

namespace creek::host_backend {

namespace {

/// Fibers begin at different offsets in their page, or all of them would share the same cache sets.
constexpr std::size_t colours = 8;
constexpr std::size_t colour_step = 128;
/// Task slots that share the page of the fiber and of the first frames.
constexpr std::size_t near_slots = 4;
/// Bytes at the end of that page, at least, for the fiber and these slots.
constexpr std::size_t near_bytes = sizeof(fiber) + near_slots * sizeof(ext::task_slot);

static_assert(near_bytes % alignof(fiber) == 0 && colour_step % alignof(fiber) == 0 &&
              near_bytes + colours * colour_step <= 4096);

std::size_t page_size() noexcept {
  static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return size;
}
std::size_t whole_pages(std::size_t bytes) noexcept {
  return (bytes + page_size() - 1) / page_size() * page_size();
}

}  // namespace

std::size_t fiber_bytes(std::size_t stack_size, std::uint32_t capacity) noexcept {
  const std::size_t slots = (std::size_t{capacity} + 1) * sizeof(ext::task_slot);
  return whole_pages(stack_size) + whole_pages(page_size() - near_bytes + sizeof(fiber) + slots);
}

fiber_ptr make_fiber(const fiber_memory& memory, std::size_t stack_size, std::uint32_t capacity,
                     void (*entry)(switch_context& self, switch_context& previous)) noexcept {
  static std::atomic<unsigned> colour{0};
  const std::size_t stack = whole_pages(stack_size) + page_size() - near_bytes -
                            colour.fetch_add(1, std::memory_order_relaxed) % colours * colour_step;
  fiber_ptr made(::new (memory.low + stack) fiber);
  made->mapped = fiber_bytes(stack_size, capacity);
  made->in_slab = memory.in_slab;
  made->guarded = memory.guarded;
  prepare_context(*made, memory.low, stack, entry);
  auto* slots = reinterpret_cast<ext::task_slot*>(made.get() + 1);
  made->tasks.set_up(slots, capacity, nullptr, made.get(), false);
  return made;
}

void fiber_deleter::operator()(fiber* unused) const noexcept {
  unused->tasks.record().contexts.clear();
  delete unused->tasks.record().running.take_idle_context();
  delete unused->mpb;
  release_context(*unused);
  if (!unused->in_slab) give_back_stack(unused->stack_low, unused->mapped);
}

void populate_fiber(fiber& idle) noexcept {
  constexpr int populate_write = 23;  // MADV_POPULATE_WRITE (Linux 5.14), which older headers lack
  const auto page = reinterpret_cast<std::uintptr_t>(&idle) / page_size() * page_size();
  // First frames, the fiber, task slots.
  const std::uintptr_t begin =
      std::max(page - page_size(), reinterpret_cast<std::uintptr_t>(idle.stack_low));
  const std::uintptr_t end = std::min(
      page + 2 * page_size(), reinterpret_cast<std::uintptr_t>(idle.stack_low) + idle.mapped);
  (void)madvise(reinterpret_cast<void*>(begin), end - begin, populate_write);
}

void trim_fiber(fiber& idle) noexcept {
  const auto drop = [](std::uintptr_t begin, std::uintptr_t end) {
    begin = whole_pages(begin);
    end = end / page_size() * page_size();
    if (end > begin) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  };
  drop(reinterpret_cast<std::uintptr_t>(idle.stack_low),
       reinterpret_cast<std::uintptr_t>(idle.saved));
  drop(reinterpret_cast<std::uintptr_t>(idle.tasks.slots()),
       reinterpret_cast<std::uintptr_t>(idle.stack_low) + idle.mapped);
}

}  // namespace creek::host_backend
