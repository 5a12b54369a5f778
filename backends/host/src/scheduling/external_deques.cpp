// SPDX-License-Identifier: Apache-2.0
// Offers tasks through the deques that are there for comparison, and takes them back.
#include "external_deques.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>

namespace creek::host_backend {

bool shared_queue::put(ext::task_slot* slot) noexcept {
  if (size() >= capacity_) return false;
  const std::lock_guard lock(lock_);
  if (slots_.size() >= capacity_) return false;
  slots_.push_back(slot);
  size_.store(slots_.size(), std::memory_order_release);
  return true;
}

bool shared_queue::put_anyway(ext::task_slot* slot) noexcept {
  const std::lock_guard lock(lock_);
  try {
    slots_.push_back(slot);
  } catch (const std::bad_alloc&) {
    return false;
  }
  size_.store(slots_.size(), std::memory_order_release);
  return true;
}

bool shared_queue::take_back(ext::task_slot* slot) noexcept {
  const std::lock_guard lock(lock_);
  const auto at = std::find(slots_.rbegin(), slots_.rend(), slot);
  if (at == slots_.rend()) return false;
  slots_.erase(std::next(at).base());
  size_.store(slots_.size(), std::memory_order_release);
  return true;
}

ext::task_slot* shared_queue::take_oldest() noexcept {
  if (size() == 0) return nullptr;
  const std::lock_guard lock(lock_);
  if (slots_.empty()) return nullptr;
  ext::task_slot* oldest = slots_.front();
  slots_.erase(slots_.begin());
  size_.store(slots_.size(), std::memory_order_release);
  return oldest;
}

namespace {

bool is_private(const ext::task_slot& slot) noexcept {
  return (slot.owner_word() & ext::task_slot::private_bit) != 0;
}

}  // namespace

task_deques::task_deques(const scheduler_options& options)
    : external_(options.deque == deque_kind::mpb || options.scheduler == scheduler_kind::sharing),
      shared_(options.scheduler == scheduler_kind::sharing
                  ? std::make_unique<shared_queue>(std::max<std::size_t>(16, 2 * options.workers))
                  : nullptr) {}

bool task_deques::offer(ext::task_stack& stack, ext::task_slot* slot) noexcept {
  if (!shared_) return fiber_of(&stack)->mpb->push(slot);
  // A worker with work shares if others could take it; without room its strand keeps the task.
  if (!shared_->put(slot)) slot->owner |= ext::task_slot::private_bit;
  return true;
}

bool task_deques::take_back(ext::task_stack& stack, ext::task_slot* slot) noexcept {
  if (is_private(*slot)) return true;
  return shared_ ? shared_->take_back(slot) : fiber_of(&stack)->mpb->take_back(slot);
}

bool task_deques::offer_all(ext::task_stack& stack) noexcept {
  stack.share_all();
  if (!shared_) return false;
  const ext::task_slot* top = stack.next_slot();
  bool offered = false;
  for (ext::task_slot* slot = stack.slots(); slot < top; ++slot) {
    if (!is_private(*slot)) continue;
    slot->owner &= ~ext::task_slot::private_bit;
    if (shared_->put_anyway(slot)) {
      offered = true;
    } else {
      slot->owner |= ext::task_slot::private_bit;
    }
  }
  return offered;
}

}  // namespace creek::host_backend
