// SPDX-License-Identifier: Apache-2.0
// Objects on workers: their turn-taking, and how they end.
#include <creek/tasking/ext/remote_cell.hpp>

#include <creek/tasking/remote.hpp>
#include <creek/tasking/waiting.hpp>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include <creek/core/decimal.hpp>
#include <creek/core/error.hpp>
#include <creek/core/measuring/clock.hpp>
#include <creek/core/threads/sanitizer.hpp>

namespace creek::ext {

namespace {

void run_and_free(submitted_task* self) noexcept {
  const std::unique_ptr<kept_message> message(static_cast<kept_message*>(self));
  head_of(message->data).run(message->data);
}

void submit_copy(executor& at, const std::byte* message, std::size_t bytes,
                 void (*run)(submitted_task*) noexcept) {
  auto* kept = new kept_message(message, bytes);
  kept->submitted_task::run = run;
  at.submit(kept);
}

/// Returns true if the caller of a message waits, itself or through others, until a call of `cell`
/// that runs has ended.
bool waits_for(const std::byte* message, const remote_cell& cell) noexcept {
  const reply* outcome = head_of(message).outcome;
  while (outcome != nullptr && outcome->chain != nullptr) {
    if (outcome->chain->object == &cell) return true;
    outcome = outcome->chain->outcome;
  }
  return false;
}

[[gnu::cold]] std::string name_of(const remote_cell& cell) {
  return "object " + decimal(cell.place().generation) + " on worker " +
         decimal(cell.place().worker);
}

/// Answers a call that would wait for itself.
[[gnu::cold]] void refuse_cycle(executor& at, reply& outcome, const remote_cell& cell) noexcept {
  outcome.store_failure(
      outcome, std::make_exception_ptr(
                   usage_error("remote::call: the call would wait for itself: " + name_of(cell) +
                               " runs a call that waits for this one; use post() or async()")));
  at.messages().answer(outcome, outcome.tell, 0);
}

}  // namespace

void message_port::answer(reply& to, tell_function tell, std::size_t /*bytes*/) noexcept {
  tell_others();
  tell(to);
}

void arrive(executor& at, std::byte* message, std::size_t bytes) noexcept {
  const message_head head = head_of(message);
  if (head.object != nullptr) {
    head.object->take(at, message, bytes);
  } else if (at.traits().runs_invocations_in_place) {
    head.run(message);
  } else {
    submit_copy(at, message, bytes, &run_and_free);
  }
}

void arrive_here(executor& at, std::byte* message, std::size_t bytes) noexcept {
  const message_head head = head_of(message);
  if (head.object != nullptr) {
    head.object->take_here(at, message, bytes);
  } else {
    head.run(message);
  }
}

// --- All objects of a runtime -------------------------------------------------------------------

void remote_objects::add(remote_cell& made) {
  const std::lock_guard lock(mutex_);
  made.entry_.next = first_;
  if (first_ != nullptr) first_->entry_.previous = &made;
  first_ = &made;
}

void remote_objects::remove(remote_cell& gone) noexcept {
  const std::lock_guard lock(mutex_);
  remote_cell* const next = gone.entry_.next;
  remote_cell* const previous = gone.entry_.previous;
  (previous != nullptr ? previous->entry_.next : first_) = next;
  if (next != nullptr) next->entry_.previous = previous;
}

bool remote_objects::end_all() noexcept {
  std::vector<remote_cell*> told;
  bool any = false;
  {
    const std::lock_guard lock(mutex_);
    for (remote_cell* each = first_; each != nullptr; each = each->entry_.next) {
      any = any || !each->entry_.object_has_ended.load(std::memory_order_acquire);
      if (std::exchange(each->entry_.is_told_to_end, true)) continue;
      // If no handle is left, the object is left to the retirement that is under way.
      if (each->handles_.add_to_others()) told.push_back(each);
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
      first_ = first->entry_.next;
    }
    sanitizer::releases(&first->entry_.runtime_has_ended);
    first->entry_.runtime_has_ended.store(true, std::memory_order_release);
    first->drop_handle();  // the handle that end_all() took
  }
}

void remote_objects::abandon() noexcept {
  const std::lock_guard lock(mutex_);
  for (; first_ != nullptr; first_ = first_->entry_.next) {
    first_->dead_.store(true, std::memory_order_release);
    first_->entry_.runtime_has_ended.store(true, std::memory_order_release);
  }
}

// --- One object ---------------------------------------------------------------------------------

bool handle_count::add_to_others() noexcept {
  std::int64_t others = count_.load(std::memory_order_relaxed);
  sanitizer::releases(&count_);
  while (others != 0 && !count_.compare_exchange_weak(others, others + 1)) {
  }
  return others != 0;
}

bool handle_count::drop() noexcept {
  sanitizer::releases(&count_);
  if (count_.fetch_sub(1, std::memory_order_acq_rel) != 1) return false;
  sanitizer::acquired(&count_);
  return true;
}

remote_cell::remote_cell(executor& home, unsigned worker)
    : place_{home, worker, 0}, mailbox_(!home.traits().runs_invocations_in_place) {
  static constinit std::atomic<std::uint64_t> made{0};
  place_.generation = made.fetch_add(1, std::memory_order_relaxed) + 1;
  home.messages().objects().add(*this);
}

remote_cell::~remote_cell() {
  if (!has_ended()) place_.home.messages().objects().remove(*this);
}

void remote_cell::send_to_self(void (*run)(std::byte*) noexcept) {
  const message_head head{run, this, nullptr};
  place_.home.messages().send(place_.worker, &head, sizeof head);
}

bool remote_cell::has_ended() const noexcept {
  if (!entry_.runtime_has_ended.load(std::memory_order_acquire)) return false;
  sanitizer::acquired(&entry_.runtime_has_ended);
  return true;
}

void remote_cell::drop_handle() noexcept {
  if (!handles_.drop()) return;
  if (has_ended()) {
    delete this;
  } else if (!place_.home.lost_in_fork()) {
    // It goes behind every message that was sent before some handle was dropped.
    send_to_self(nullptr);
  }
}

remote_cell* adopted_cell(void* object, remote_cell::destroy_function destructor) {
  executor& home = require_executor("make_foreign");
  home.messages().prepare();  // dropping the handle must not fail
  auto* made = new remote_cell(home, static_cast<unsigned>(home.worker_index()));
  made->object_ = {object, destructor};
  made->entry_.may_outlive = true;
  return made;
}

void remote_cell::let_go_of_object() noexcept {
  const bool ended = has_ended();
  if (!ended && place_.home.lost_in_fork()) return;
  if (ended || place_.home.worker_index() == static_cast<int>(place_.worker)) {
    object_.reset();
    if (handles_.drop()) delete this;  // else end_all() holds another handle
    return;
  }
  if (!handles_.is_one()) destroy();  // before end_all()'s is dropped
  drop_handle();
}

void remote_cell::destroy() {
  if (dead() || place_.home.lost_in_fork()) return;
  sanitizer::releases(&dead_);
  if (!dead_.exchange(true, std::memory_order_acq_rel)) send_to_self(&run_destruction);
}

[[gnu::cold, gnu::noinline]] void send_kept_back() noexcept {
  executor* const here = current_executor();
  if (here != nullptr) {
    (void)here->messages().kept_back(nullptr);
  } else {
    keeps_posts_back = false;  // the child of a fork() in a task
  }
}

bool keep_post_back(remote_cell& object, const merged_post::operation& kind, void* added) {
  if (current_executor() != &object.place().home) return false;
  message_port& port = object.place().home.messages();
  merged_post* kept = port.kept_back(&object);
  if (kept == nullptr) return false;
  if (kept->object != nullptr) {
    if (kept->kind == &kind && kind.merge(kept->message, added)) {
      if (++kept->merged < merged_post::max_merged) return true;
      send_kept_back();
      port.yield();
      return true;
    }
    send_kept_back();
    kept = port.kept_back(&object);
  }
  kept->bytes = kind.write(kept->message, &object, added);
  kept->kind = &kind;
  kept->merged = 1;
  object.add_handle();
  kept->object = &object;
  keeps_posts_back = true;
  port.yield();
  return true;
}

bool remote_cell::retires() noexcept {
  if (place_.home.traits().messages_are_causal) return true;
  if (std::exchange(retirement_came_, true)) return true;
  send_to_self(nullptr);
  return false;
}

/// Runs `message`, then all that came meanwhile; until then the object belongs to the caller.
void remote_cell::run_from(std::byte* message) noexcept {
  for (std::unique_ptr<kept_message> kept;;) {
    const message_head head = head_of(message);
    if (!head.is_retirement()) {
      head.run(message);
    } else if (retires()) {
      destroy_object();
      delete this;
      return;
    }
    kept = mailbox_.next();
    if (kept == nullptr) return;
    message = kept->data;
  }
}

void remote_cell::run_task(submitted_task* self) noexcept {
  const std::unique_ptr<kept_message> message(static_cast<kept_message*>(self));
  head_of(message->data).object->run_from(message->data);
}

/// Runs the messages that came during one that ran alone.
void remote_cell::run_waiting(std::byte* message) noexcept {
  remote_cell* self = nullptr;
  std::memcpy(&self, message + sizeof(message_head), sizeof self);
  if (const auto first = self->mailbox_.next()) self->run_from(first->data);
}

/// Returns true if the caller may run the message; otherwise it waits or was refused.
bool remote_cell::admit(executor& at, std::byte* message, std::size_t bytes) noexcept {
  switch (mailbox_.admit(message, bytes, [&] { return waits_for(message, *this); })) {
    case admission::waits:
      return false;
    case admission::refused:
      refuse_cycle(at, *head_of(message).outcome, *this);
      return false;
    case admission::runs:
      break;
  }
  return true;
}

void remote_cell::take(executor& at, std::byte* message, std::size_t bytes) noexcept {
  if (!admit(at, message, bytes)) return;
  if (!mailbox_.is_shared()) return run_from(message);
  submit_copy(at, message, bytes, &run_task);
}

void remote_cell::take_here(executor& at, std::byte* message, std::size_t bytes) noexcept {
  if (!admit(at, message, bytes)) return;
  head_of(message).run(message);
  if (mailbox_.end_if_last()) return;
  struct {
    message_head head;
    remote_cell* object;
  } const others{{&run_waiting, nullptr, nullptr}, this};
  place_.home.messages().send(place_.worker, &others, sizeof others);
}

void remote_cell::destroy_object() noexcept {
  sanitizer::releases(&dead_);
  dead_.store(true, std::memory_order_release);
  if (object_ == nullptr) return;
  static constexpr task_type type{nullptr, "[with F = ~remote()]"};
  (void)detail::run_invocation(activation{this, nullptr}, &type, [&] { object_.reset(); });
}

void remote_cell::run_destruction(std::byte* message) noexcept {
  head_of(message).object->destroy_object();
}

void remote_cell::run_end(std::byte* message) noexcept {
  remote_cell& cell = *head_of(message).object;
  if (!cell.entry_.may_outlive) cell.destroy_object();
  cell.entry_.object_has_ended.store(true, std::memory_order_release);
}

[[gnu::cold]] std::exception_ptr death_of(const remote_cell& cell, const char* what) {
  return std::make_exception_ptr(
      usage_error(std::string("remote::") + what + ": " + name_of(cell) +
                  (cell.has_ended() ? " was destroyed with its runtime" : " was destroyed")));
}

[[gnu::cold]] void refuse_call(const remote_cell& cell, const char* what) {
  if (cell.dead()) std::rethrow_exception(death_of(cell, what));
  throw usage_error(std::string("remote::") + what +
                    ": the object's worker does not exist in a child of fork()");
}

}  // namespace creek::ext

namespace creek::detail {

const activation* current_activation() noexcept {
  const task_scope* scope = current_scope();
  if (scope == nullptr) return nullptr;
  return scope->root != nullptr ? scope->root->call : scope->call;
}

unsigned checked_worker(const executor& home, core_id core, const char* what) {
  if (home.lost_in_fork()) {
    throw usage_error(std::string(what) +
                      ": the workers do not exist in a child of fork(); make a new runtime there");
  }
  if (core.value < 0 || core.index() >= home.traits().worker_count) {
    throw usage_error(std::string(what) + ": there is no worker " + decimal(core.value) +
                      "; this runtime has 0 to " + decimal(home.traits().worker_count - 1));
  }
  return static_cast<unsigned>(core.value);
}

void spin_wait_outside(const std::atomic<std::uintptr_t>& word) noexcept {
  (void)spin_until([&] { return word.load(std::memory_order_acquire) != 0; },
                   std::chrono::microseconds{20});
}

void end_by_posted_failure(const std::exception_ptr& why, const char* type) noexcept {
  const std::string name = ext::readable_name(type);
  try {
    std::rethrow_exception(why);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "creek: an exception left a posted call, %s: %s\n", name.c_str(),
                 failure.what());
  } catch (...) {
    std::fprintf(stderr, "creek: an exception left a posted call, %s\n", name.c_str());
  }
  std::terminate();
}

}  // namespace creek::detail
