// SPDX-License-Identifier: Apache-2.0
// Contexts and root scopes: the waits, and the end of a context whose task has ended.
#include <creek/tasking/ext/task_context.hpp>

#include <chrono>
#include <new>
#include <utility>

#include <creek/tasking/task_local.hpp>

namespace creek::ext {

void error_slot::store(std::exception_ptr failure) noexcept {
  if (!taken_.exchange(true, std::memory_order_acq_rel)) failure_ = std::move(failure);
}

std::exception_ptr error_slot::take_stored() noexcept {
  taken_.store(false, std::memory_order_relaxed);
  return std::exchange(failure_, nullptr);
}

namespace {

bool publish_root(void* argument, strand* self) {
  auto* root = static_cast<root_scope*>(argument);
  root->waiter = self;
  sanitizer::releases(&root->live);
  if (root->live.fetch_add(1, std::memory_order_acq_rel) != 0) return true;
  root->live.store(0, std::memory_order_relaxed);
  return false;
}

/// Called when an abandoned context of this root is done.
strand* leave(root_scope& root) noexcept {
  sanitizer::releases(&root.live);
  if (root.live.fetch_sub(2, std::memory_order_acq_rel) - 2 != 1) return nullptr;
  sanitizer::acquired(&root.live);
  strand* waiter = root.waiter;
  root.live.store(0, std::memory_order_relaxed);
  return waiter;
}

bool publish_children(void* argument, strand* self) {
  auto* context = static_cast<task_context*>(argument);
  context->waiter = self;
  const std::int64_t plain =
      std::exchange(context->spawned, 0) - std::exchange(context->finished, 0);
  const std::int64_t change = task_context::waiting - task_context::one * plain;
  sanitizer::releases(&context->balance);
  if (context->balance.fetch_add(change, std::memory_order_acq_rel) + change !=
      task_context::waiting) {
    return true;
  }
  context->balance.store(0, std::memory_order_relaxed);
  return false;
}

void recycle(task_context* context) noexcept {
  if (task_stack* here = current_stack) {
    here->record().contexts.put(context);
  } else {
    delete context;
  }
}

/// Ends an abandoned context: its errors become the root's.
strand* close(task_context* context) noexcept {
  root_scope* root = context->root;
  if (std::exception_ptr failure = context->error.take()) root->error.store(std::move(failure));
  recycle(context);
  return leave(*root);
}

}  // namespace

void root_scope::suspend_until_none() {
  suspend_here(publish_root, this, "tasks that its children left behind");
  sanitizer::acquired(&live);
}

strand* task_context::ended_elsewhere(const task_stack* here) noexcept {
  if (here != nullptr && owned_by(here->acts_for())) {
    ++finished;
    return nullptr;
  }
  tell_others();
  sanitizer::releases(&balance);
  const std::int64_t now = balance.fetch_add(one, std::memory_order_acq_rel) + one;
  if (now == waiting) {
    sanitizer::acquired(&balance);
    strand* resumed = waiter;
    balance.store(0, std::memory_order_relaxed);
    return resumed;
  }
  if (now != abandoned) return nullptr;
  sanitizer::acquired(&balance);
  return close(this);
}

void task_context::suspend_until_done() {
  // Thieves that are nearly through cost less to wait for than a switch of stacks.
  if (creek::spin_until([this] { return done(); }, std::chrono::nanoseconds{200})) return;
  // Without another stack, the owner runs tasks during its wait: those must not count
  // plainly, for the waiter is notified through `balance` alone.
  task_stack* counted_by = owner.exchange(nullptr, std::memory_order_relaxed);
  suspend_here(publish_children, this,
               {"the tasks that it spawned", wait_reason::kind::children, this});
  sanitizer::acquired(&balance);
  owner.store(counted_by, std::memory_order_relaxed);
}

task_context& make_context(task_scope& scope) {
  task_stack* here = current_stack;
  task_context* context = here != nullptr ? here->record().contexts.take() : nullptr;
  if (context != nullptr) {
    context->spawned = context->finished = 0;
    context->balance.store(0, std::memory_order_relaxed);
  } else {
    context = new task_context;
  }
  if (scope.root == nullptr && scope.root_memory != nullptr) {
    scope.root = ::new (scope.root_memory) root_scope;
    scope.root->call = scope.call;
  }
  context->owner.store(here, std::memory_order_relaxed);
  context->root = scope.root;
  scope.context = context;
  return *context;
}

std::exception_ptr lazy_root::wait_for_made() {
  root_scope& made = *scope_.root;
  std::exception_ptr failure = made.wait_all();
  made.~root_scope();
  return failure;
}

task_context* context_cache::take() noexcept {
  task_context* const newest = newest_;
  if (newest != nullptr) newest_ = newest->next_free;
  return newest;
}
void context_cache::put(task_context* unused) noexcept {
  unused->next_free = std::exchange(newest_, unused);
}
void context_cache::clear() noexcept {
  while (newest_ != nullptr) delete take();
}

void task_frame::abandon(task_scope& scope) noexcept {
  task_context* context = scope.context;
  if (context->done()) {
    if (std::exception_ptr failure = context->error.take()) {
      scope.root->error.store(std::move(failure));
    }
    recycle(context);
    return;
  }
  // From here on every child counts atomically; the last one frees the context.
  scope.root->live.fetch_add(2, std::memory_order_relaxed);
  const std::int64_t plain = context->spawned - context->finished;
  context->owner.store(nullptr, std::memory_order_relaxed);
  const std::int64_t change = task_context::abandoned - task_context::one * plain;
  sanitizer::releases(&context->balance);
  if (context->balance.fetch_add(change, std::memory_order_acq_rel) + change ==
      task_context::abandoned) {
    sanitizer::acquired(&context->balance);
    if (strand* resumed = close(context)) resumed->home->resume(resumed);
  }
}

std::exception_ptr run_branch_as_task(void (*branch)(void*) noexcept, void* argument) {
  root_scope root;
  task_frame frame(&root, nullptr);
  branch(argument);
  frame.finish();
  return root.wait_all();
}

void task_frame::destroy_locals(task_scope& scope) noexcept {
  detail::task_local_node::destroy_all(std::exchange(scope.locals, nullptr));
}

}  // namespace creek::ext
