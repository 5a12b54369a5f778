// SPDX-License-Identifier: Apache-2.0
// Objects on workers: their turn-taking, and how they end.
#include <creek/tasking/ext/remote_cell.hpp>

#include <creek/tasking/remote.hpp>

#include <chrono>
#include <cstdio>
#include <mutex>
#include <string>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/core/measuring/clock.hpp>
#include <creek/core/threads/sanitizer.hpp>

namespace creek::ext {

namespace {

void run_and_free(submitted_task* self) noexcept {
  const std::unique_ptr<kept_message> message(static_cast<kept_message*>(self));
  head_of(message->data).run(message->data);
}

}  // namespace

void message_port::answer(reply& to, tell_function tell, std::size_t /*bytes*/) noexcept {
  tell(to);
}

void arrive(executor& at, std::byte* message, std::size_t bytes) noexcept {
  const message_head head = head_of(message);
  if (head.object != nullptr) {
    head.object->take(at, message, bytes);
  } else if (at.traits().runs_invocations_in_place) {
    head.run(message);
  } else {
    auto* kept = new kept_message(message, bytes);
    kept->submitted_task::run = &run_and_free;
    at.submit(kept);
  }
}

// --- All objects of a runtime -------------------------------------------------------------------

void remote_objects::add(remote_cell& made) {
  const std::lock_guard lock(mutex_);
  made.next_ = first_;
  if (first_ != nullptr) first_->previous_ = &made;
  first_ = &made;
}

void remote_objects::remove(remote_cell& gone) noexcept {
  const std::lock_guard lock(mutex_);
  (gone.previous_ != nullptr ? gone.previous_->next_ : first_) = gone.next_;
  if (gone.next_ != nullptr) gone.next_->previous_ = gone.previous_;
}

bool remote_objects::end_all() noexcept {
  std::vector<remote_cell*> told;
  bool any = false;
  {
    const std::lock_guard lock(mutex_);
    for (remote_cell* each = first_; each != nullptr; each = each->next_) {
      any = any || !each->object_has_ended_.load(std::memory_order_acquire);
      if (std::exchange(each->is_told_to_end_, true)) continue;
      // If no handle is left, the object is left to the retirement that is under way.
      std::int64_t handles = each->handles_.load(std::memory_order_relaxed);
      sanitizer::releases(&each->handles_);
      while (handles != 0 && !each->handles_.compare_exchange_weak(handles, handles + 1)) {
      }
      if (handles != 0) told.push_back(each);
    }
  }
  // Done without the lock: a worker that sends may let others on its thread run, which may want it.
  for (remote_cell* each : told) each->send_to_self(&remote_cell::run_end);
  return any;
}

void remote_objects::let_go() noexcept {
  for (;;) {
    remote_cell* first = nullptr;
    {
      const std::lock_guard lock(mutex_);
      first = first_;
      if (first == nullptr) return;
      first_ = first->next_;
    }
    sanitizer::releases(&first->ended_);
    first->ended_.store(true, std::memory_order_release);
    first->drop_handle();  // the handle that end_all() took
  }
}

void remote_objects::abandon() noexcept {
  const std::lock_guard lock(mutex_);
  for (; first_ != nullptr; first_ = first_->next_) {
    first_->dead_.store(true, std::memory_order_release);
    first_->ended_.store(true, std::memory_order_release);
  }
}

// --- One object ---------------------------------------------------------------------------------

remote_cell::remote_cell(executor& home, unsigned worker)
    : home_(&home), worker_(worker), is_shared_(!home.traits().runs_invocations_in_place) {
  static constinit std::atomic<std::uint64_t> made{0};
  generation_ = made.fetch_add(1, std::memory_order_relaxed) + 1;
  home.messages().objects().add(*this);
}

void remote_cell::send_to_self(void (*run)(std::byte*) noexcept) {
  const message_head head{run, this, nullptr};
  home_->messages().send(worker_, &head, sizeof head);
}

/// Drops one handle; returns true if it was the last.
bool remote_cell::drop_last_handle() noexcept {
  sanitizer::releases(&handles_);
  if (handles_.fetch_sub(1, std::memory_order_acq_rel) != 1) return false;
  sanitizer::acquired(&handles_);
  return true;
}

bool remote_cell::has_ended() const noexcept {
  if (!ended_.load(std::memory_order_acquire)) return false;
  sanitizer::acquired(&ended_);
  return true;
}

void remote_cell::drop_handle() noexcept {
  if (!drop_last_handle()) return;
  if (has_ended()) {
    delete this;
  } else if (!home_->lost_in_fork()) {
    // It goes behind every message that was sent before some handle was dropped.
    send_to_self(nullptr);
  }
}

void remote_cell::abandon() noexcept {
  home_->messages().objects().remove(*this);
  delete this;
}

remote_cell* adopted_cell(void* object, remote_cell::destroy_function destructor) {
  executor& home = require_executor("make_foreign");
  home.messages().prepare();  // dropping the handle must not fail
  auto* made = new remote_cell(home, static_cast<unsigned>(home.worker_index()));
  made->set_object(object, destructor);
  made->may_outlive_ = true;
  return made;
}

void remote_cell::let_go_of_object() noexcept {
  const bool ended = has_ended();
  if (!ended && home_->lost_in_fork()) return;
  if (ended || home_->worker_index() == static_cast<int>(worker_)) {
    destroy_(std::exchange(object_, nullptr));
    if (!drop_last_handle()) return;  // end_all() holds another handle
    if (!ended) home_->messages().objects().remove(*this);
    delete this;
    return;
  }
  if (handles_.load(std::memory_order_acquire) != 1) destroy();  // before end_all()'s is dropped
  drop_handle();
}

void remote_cell::destroy() {
  if (dead() || home_->lost_in_fork()) return;
  sanitizer::releases(&dead_);
  if (!dead_.exchange(true, std::memory_order_acq_rel)) send_to_self(&run_destruction);
}

std::exception_ptr remote_cell::death(const char* what) const {
  return std::make_exception_ptr(
      usage_error(std::string("remote::") + what + ": object " + std::to_string(generation_) +
                  " on worker " + std::to_string(worker_) +
                  (has_ended() ? " was destroyed with its runtime" : " was destroyed")));
}

void remote_cell::refuse(const char* what) const {
  if (dead()) std::rethrow_exception(death(what));
  throw usage_error(std::string("remote::") + what +
                    ": the object's worker does not exist in a child of fork()");
}

bool remote_cell::is_waited_for_by(const activation* chain) const noexcept {
  while (chain != nullptr) {
    if (chain->object == this) return true;
    chain = chain->outcome != nullptr ? chain->outcome->chain : nullptr;
  }
  return false;
}

bool remote_cell::retires() noexcept {
  if (home_->traits().messages_are_causal || retirement_came_) return true;
  retirement_came_ = true;
  send_to_self(nullptr);
  return false;
}

/// Runs `message`, then all that came meanwhile; until then the object belongs to the caller.
void remote_cell::run_from(std::byte* message) noexcept {
  kept_message* kept = nullptr;
  for (;;) {
    const message_head head = head_of(message);
    if (!is_retirement(head)) {
      head.run(message);
    } else if (retires()) {
      destroy_object();
      home_->messages().objects().remove(*this);
      delete kept;
      delete this;
      return;
    }
    delete kept;
    lock_turns();
    kept = waiting_.pop();
    running_ = kept != nullptr;
    unlock_turns();
    if (kept == nullptr) break;
    message = kept->data;
  }
}

void remote_cell::run_task(submitted_task* self) noexcept {
  const std::unique_ptr<kept_message> message(static_cast<kept_message*>(self));
  head_of(message->data).object->run_from(message->data);
}

void remote_cell::take(executor& at, std::byte* message, std::size_t bytes) noexcept {
  lock_turns();
  if (running_) {
    reply* const outcome = head_of(message).outcome;
    const bool would_hang = outcome != nullptr && is_waited_for_by(outcome->chain);
    if (!would_hang) waiting_.push(new kept_message(message, bytes));
    unlock_turns();
    if (would_hang) {
      outcome->store_failure(
          *outcome, std::make_exception_ptr(usage_error(
                        "remote::call: the call would wait for itself: object " +
                        std::to_string(generation_) + " on worker " + std::to_string(worker_) +
                        " runs a call that waits for this one; use post() or async()")));
      at.messages().answer(*outcome, outcome->tell, 0);
    }
    return;
  }
  running_ = true;
  unlock_turns();
  if (!is_shared_) {
    run_from(message);
  } else {
    auto* kept = new kept_message(message, bytes);
    kept->submitted_task::run = &run_task;
    at.submit(kept);
  }
}

void remote_cell::destroy_object() noexcept {
  sanitizer::releases(&dead_);
  dead_.store(true, std::memory_order_release);
  void* const gone = std::exchange(object_, nullptr);
  if (gone == nullptr) return;
  static constexpr task_type type{nullptr, "[with F = ~remote()]"};
  (void)detail::run_invocation(activation{this, nullptr}, &type, [&] { destroy_(gone); });
}

void remote_cell::run_destruction(std::byte* message) noexcept {
  head_of(message).object->destroy_object();
}

void remote_cell::run_end(std::byte* message) noexcept {
  remote_cell& cell = *head_of(message).object;
  if (!cell.may_outlive_) cell.destroy_object();
  cell.object_has_ended_.store(true, std::memory_order_release);
}

}  // namespace creek::ext

namespace creek::detail {

const activation* current_activation() noexcept {
  const task_scope* scope = current_scope();
  return scope != nullptr && scope->root != nullptr ? scope->root->call : nullptr;
}

unsigned checked_worker(const executor& home, core_id core, const char* what) {
  if (home.lost_in_fork()) {
    throw usage_error(std::string(what) +
                      ": the workers do not exist in a child of fork(); make a new runtime there");
  }
  if (core.value < 0 || core.index() >= home.traits().worker_count) {
    throw usage_error(std::string(what) + ": there is no worker " + std::to_string(core.value) +
                      "; this runtime has 0 to " + std::to_string(home.traits().worker_count - 1));
  }
  return static_cast<unsigned>(core.value);
}

void spin_wait_outside(const std::atomic<std::uintptr_t>& word) noexcept {
  (void)spin_until([&] { return word.load(std::memory_order_acquire) != 0; },
                   std::chrono::microseconds{20});
}

void end_by_posted_failure(const std::exception_ptr& why, const char* type) noexcept {
  try {
    std::rethrow_exception(why);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "creek: an exception left a posted invocation, %s: %s\n", type,
                 failure.what());
  } catch (...) {
    std::fprintf(stderr, "creek: an exception left a posted invocation, %s\n", type);
  }
  std::terminate();
}

}  // namespace creek::detail
