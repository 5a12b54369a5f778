// SPDX-License-Identifier: Apache-2.0
// Mapping stacks, and switching between them.
#include "worker_stacks.hpp"

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace creek::scc_backend {

namespace {

/// A change of stacks: registers, and the part of the other stack not in L1 (estimate: 20 words).
constexpr cycles changing_stacks{100};

}  // namespace

mapped_fiber::~mapped_fiber() {
  std::byte* low = stack_low;
  release_context(*this);
  unmap_guarded(low, stack_size);
}

void worker_stacks::begin(task_worker& worker) const {
  worker.native.home = &home_;
  worker.native.on = &worker;
  worker.native.context = &workers_.chip().simulation().fibers().stack();
}

task_fiber& worker_stacks::unused(task_worker& worker) const {
  if (!worker.idle_fibers.empty()) {
    task_fiber& idle = *worker.idle_fibers.back();
    worker.idle_fibers.pop_back();
    return idle;
  }
  std::byte* low = map_guarded(stack_size_);
  if (low == nullptr) {
    std::perror("creek: simulated chip: no memory for another task's stack");
    std::abort();
  }
  auto made = std::make_unique<mapped_fiber>();
  prepare_context(*made, low, stack_size_, &worker_stacks::run);
  made->home = &home_;
  made->on = &worker;
  made->owner = this;
  made->task_fiber::context = made.get();
  worker.fibers.push_back(std::move(made));
  worker.counters.add(counter::stacks);
  return *worker.fibers.back();
}

void worker_stacks::continue_on(task_worker& worker, task_fiber& next) const {
  worker.current = &next;
  worker.memory.charge(changing_stacks);
  workers_.chip().simulation().fibers().continue_on(*next.context);
}

void worker_stacks::run(switch_context& context, switch_context&) {
  auto& self = static_cast<mapped_fiber&>(context);
  self.owner->loop_(*self.home, *self.on);
  self.owner->end(*self.on);
}

/// Called when the runtime has ended and a stack other than the core's own is the last one in the
/// loop: the core's own is among the unused ones, since no strand waits any more.
void worker_stacks::end(task_worker& worker) const {
  worker.current = &worker.native;
  workers_.chip().simulation().fibers().continue_on(*worker.native.context);
  std::abort();  // no fiber switches back to a stack of an ended runtime
}

}  // namespace creek::scc_backend
