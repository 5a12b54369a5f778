// SPDX-License-Identifier: Apache-2.0
// Sends and handles messages. README.md of this module explains how strands that handle a message
// stay on their worker.
#include "message_service.hpp"

#include <chrono>
#include <thread>
#include <utility>

#include <creek/core/measuring/clock.hpp>
#include <creek/tasking/ext/remote_cell.hpp>

namespace creek::host_backend {

namespace {

/// About twice the round trip to a worker that is awake.
constexpr std::chrono::microseconds worth_spinning{2};
/// Several times what a reader at work needs to make room in a full ring.
constexpr std::chrono::microseconds worth_waiting_for_room{20};

}  // namespace

/// Handles the messages of a box, `in_place` on a strand that calls. Without a service, or while
/// older ones wait in the backlog, puts them there.
struct message_service::receiver {
  message_service* service;
  worker& here;
  bool in_place = false;

  void take(std::byte* data, std::size_t bytes) const noexcept {
    if (handles()) {
      service->handle(here, data, bytes, in_place);
    } else {
      here.backlog.push(data, bytes);
    }
  }
  [[gnu::noinline]] void take(ext::kept_message* message) const noexcept {
    if (handles()) {
      service->handle(here, message->data, message->bytes, in_place);
      here.backlog.recycle(message);
    } else {
      here.backlog.push(message);
    }
  }

 private:
  bool handles() const noexcept { return service != nullptr && here.backlog.empty(); }
};

[[gnu::cold]] message_box* message_service::open() {
  const std::lock_guard lock(opening_);
  if (!boxes_) {
    boxes_ = std::make_unique<message_box[]>(workers_.size());
    sanitizer::releases(&opened_);
    opened_.store(boxes_.get(), std::memory_order_release);
    full_fence();  // a borrower that leaves its place to sleep on looks for boxes after it says so
  }
  return boxes_.get();
}

bool message_service::any_in(const message_box& box, const worker& self) noexcept {
  return !self.bound.empty() || !self.backlog.empty() || box.has_message();
}

void message_service::make_boxes() {
  if (opened() == nullptr) open();
}

/// Polls `done`, and meanwhile takes the messages for the caller, which may be a worker of this or
/// of another runtime whose own ring another thread waits for. Not by suspending: the ring's end is
/// the worker's.
template <class Condition>
void message_service::wait_for_room(Condition done) {
  spin_briefly([&] {
    if (done()) return true;
    if (ext::executor* own = ext::current_executor()) own->messages().drain();
    return false;
  });
}

bool message_service::send(unsigned to, const void* message, std::size_t bytes, bool only_if_room) {
  const int index = workers_.index_of_caller();
  const visit here(workers_.guests(), index < 0);
  message_box* boxes = opened();
  if (boxes == nullptr) [[unlikely]]
    boxes = open();
  if (index < 0) {
    ext::tell_others();  // perhaps a worker of another runtime
    if (!send_from_outside(boxes[to], message, bytes, only_if_room)) return false;
    call(workers_[to]);
    return true;
  }
  worker& self = workers_[static_cast<unsigned>(index)];
  if (!send_kept_back(self, only_if_room)) return false;
  if (std::exchange(ext::follows_others, false)) ++self.news;
  if (self.index == to) {
    boxes[to].keep(self.backlog.make(message, bytes), self.news,
                   ext::head_of(static_cast<const std::byte*>(message)).is_retirement());
    return true;
  }
  pair_ring& ring = boxes[self.index].ring_to(boxes[to], to, workers_.size());
  if (!ring.goes_on(self.news)) ring.begin_turn(boxes[to].next_turn(), self.news);
  if (!ring.try_send(message, bytes)) [[unlikely]] {
    if (only_if_room) return false;
    send_late(ring, message, bytes);
  }
  if (call(workers_[to])) self.woke = true;
  return true;
}

[[gnu::cold]] ext::merged_post* message_service::kept_back(worker& self,
                                                           const ext::remote_cell* object) {
  ext::merged_post* found = object != nullptr ? self.kept_back.place_of(*object) : nullptr;
  if (found == nullptr) {
    send_kept_back(self);
    if (object == nullptr) return nullptr;
    found = self.kept_back.place_of(*object);
  }
  const unsigned to = object->place().worker;
  if (found->object == nullptr && to != self.index) {
    message_box* const boxes = opened();  // there are objects
    boxes[self.index].ring_to(boxes[to], to, workers_.size());
  }
  return found;
}

[[gnu::noinline]] bool message_service::send_kept_back_now(worker& self, bool only_if_room) {
  // Nothing else is kept back meanwhile: a wait for room runs no tasks.
  const bool sent = self.kept_back.send_all([&](ext::merged_post& post) {
    ext::remote_cell& object = *post.object;
    if (!send(object.place().worker, post.message, post.bytes, only_if_room)) return false;
    post.object = nullptr;
    object.drop_handle();
    return true;
  });
  if (sent) ext::keeps_posts_back = false;
  return sent;
}

/// Has `target` look for a message that was sent. Returns true if it slept.
bool message_service::call(worker& target) noexcept {
  if (waker_.call(target)) return true;
  if (!target.listens.load(std::memory_order_relaxed)) ask_to_yield(target);
  return false;
}

/// Has the strand that runs on `target` yield between two of its tasks. It does so once it has
/// been asked, or a thief has asked it for work.
[[gnu::noinline]] void message_service::ask_to_yield(worker& target) noexcept {
  full_fence();  // see serve()
  if (!target.called.load(std::memory_order_relaxed)) target.called.exchange(true);
  // Also if another sender has called: it may have met the strand before this one.
  if (ext::stealable_stack* const stack = target.active.load(std::memory_order_acquire))
    stack->ask();
}

/// A message may have come since the last look, and its sender have seen the worker listen.
void message_service::stop_listening(fiber& self) noexcept {
  worker& here = *self.on;
  here.listens.store(false, std::memory_order_relaxed);
  full_fence();
  if (!any_for(here)) return;
  here.called.store(true, std::memory_order_relaxed);
  self.tasks.ask();
}

/// Sends by a ring that is full. A reader that is at work has made room soon; past that the ring
/// grows, for the reader's task may wait for what the caller does next.
[[gnu::cold]] void message_service::send_late(pair_ring& ring, const void* message,
                                              std::size_t bytes) {
  const ticks give_up = tick_clock::now() + tick_clock::from_nanoseconds(worth_waiting_for_room);
  wait_for_room([&] {
    return ring.try_send(message, bytes) ||
           (tick_clock::now() > give_up && ring.overflow() && ring.try_send(message, bytes));
  });
}

[[gnu::cold]] bool message_service::send_from_outside(message_box& to, const void* message,
                                                      std::size_t bytes, bool only_if_room) {
  auto kept = std::make_unique<ext::kept_message>(message, bytes);
  kept->turn = to.next_turn();
  if (only_if_room) return to.outside().try_push(kept);
  wait_for_room([&] { return to.outside().try_push(kept); });
  return true;
}

void message_service::drain(worker& self) {
  message_box* const boxes = opened();
  if (boxes == nullptr) return;
  boxes[self.index].poll(receiver{nullptr, self});
}

bool message_service::pause_for_messages(worker& self) noexcept {
  const int looks = in_use() ? 4 : 1;
  for (int i = 0; i < looks; ++i) {
    cpu_pause();
    if (has_messages(self)) return true;
  }
  return false;
}

[[gnu::noinline]] void message_service::handle(worker& here, std::byte* message, std::size_t bytes,
                                               bool in_place) noexcept {
  here.counters.add(counter::messages);
  ext::follow_others();
  (in_place ? ext::arrive_here : ext::arrive)(home_, message, bytes);
}

/// Returns whether a message of `self` to its own worker may run on `self`: there is stack left.
/// Now and then it may not, so that a strand that calls for ever lets its worker do other work. A
/// borrower leaves calls to the worker's own thread, and this is not known to be one before there
/// are boxes.
bool message_service::may_handle_here(const fiber& self) noexcept {
  constexpr unsigned between_turns = 256;
  worker& here = *self.on;
  return in_use() && here.borrowed == nullptr && has_room(self) &&
         ++here.calls_in_place % between_turns != 0;
}

/// Sends a call of the strand on `here` to an object there, then handles what comes before it as
/// long as that is for the object, too, for which the call would wait anyway, and the call. Sent
/// first, it comes before all that these handlers send, which may wait for what the caller does
/// next. Returns false, without having sent it, if the caller has to.
bool message_service::handle_behind(worker& here, const std::byte* message,
                                    std::size_t bytes) noexcept {
  const ext::remote_cell* const object = ext::head_of(message).object;
  if (object == nullptr || !here.kept_back.empty() || here.backlog.spares() == 0) return false;
  message_box& box = opened()[here.index];
  const message_turn of_call = box.keep(here.backlog.make(message, bytes), here.news, true);
  for (int left = max_before_call; left > 0 && box.keeps_until(of_call); --left) {
    if (!here.kept_back.empty() || !here.bound.empty() || !here.backlog.empty() ||
        !box.take_next_for(*object, of_call + 1, receiver{this, here, true}))
      break;
  }
  return true;
}

bool message_service::handle_here(unsigned to, std::byte* message, std::size_t bytes) noexcept {
  if (workers_.index_of_caller() != static_cast<int>(to)) return false;
  fiber& self = *fiber_of(ext::current_stack);
  if (!may_handle_here(self)) return false;
  worker& here = *self.on;
  const bool was_bound = std::exchange(self.bound, true);
  bool is_done = true;
  if (has_messages(here)) {
    is_done = handle_behind(here, message, bytes);
  } else {
    here.counters.add(counter::messages);
    ext::arrive_here(home_, message, bytes);
  }
  self.bound = was_bound;
  // While it was bound, it did not yield to those that have asked.
  if (!was_bound && here.called.load(std::memory_order_relaxed)) self.tasks.ask();
  return is_done;
}

bool message_service::serve(fiber& self) noexcept {
  message_box* const boxes = opened();
  if (boxes == nullptr) return false;
  worker& here = *self.on;
  message_box& box = boxes[here.index];
  // A sender that finds itself not the first to call has sent its message before this.
  if (here.called.load(std::memory_order_relaxed)) {
    here.called.exchange(false);
    full_fence();
  }
  if (here.backlog.empty() && !box.has_message()) return false;
  const bool was_bound = std::exchange(self.bound, true);
  waker_.governor().task_begins(here.index, "messages");
  task_times times;
  if (recorder* const records = here.recording()) records->task_begins(times, "messages", false);
  // Leaves out messages that come meanwhile: endless senders must not keep this worker from others.
  for (std::size_t left = here.backlog.size(); left > 0; --left) {
    ext::kept_message* const first = here.backlog.pop();
    if (first == nullptr) break;  // a handler has waited, and the worker has handled the rest
    handle(here, first->data, first->bytes, false);
    here.backlog.recycle(first);
  }
  box.poll(receiver{this, here});
  if (recorder* const records = here.recording()) records->task_ends();
  self.bound = was_bound;
  return true;
}

void message_service::make_bound_ready(fiber& target) noexcept {
  worker& home = *target.on;
  home.bound.push(target);
  waker_.call(home);
}

bool message_service::any_under_way() noexcept {
  message_box* const boxes = opened();
  if (boxes == nullptr) return false;
  for (const worker& each : workers_) {
    if (!each.bound.empty() || boxes[each.index].is_under_way()) return true;
  }
  return false;
}

void message_service::spin_wait(worker& self, const std::atomic<std::uintptr_t>& word) noexcept {
  if (workers_.oversubscribed()) return;
  // The kernel may have put the woken thread behind this one on its processor.
  if (std::exchange(self.woke, false)) std::this_thread::yield();
  (void)spin_until([&] { return word.load(std::memory_order_acquire) != 0 || has_messages(self); },
                   worth_spinning);
}

}  // namespace creek::host_backend
