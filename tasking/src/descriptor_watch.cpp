// SPDX-License-Identifier: Apache-2.0
// Waits for file descriptors, and the thread that watches them.
#include "descriptor_watch.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <system_error>

#include <creek/core/error.hpp>
#include <creek/core/threads/signals_blocked.hpp>
#include <creek/tasking/descriptors.hpp>

#include "limited_wait.hpp"
#include "per_process.hpp"

namespace creek::detail {

namespace {

using watch_of_process = per_process<descriptor_watch>;

/// Ends the thread at the end of the process, or when dlclose() takes its code away.
struct thread_ender {
  ~thread_ender() {
    if (descriptor_watch* const watch = watch_of_process::if_made()) watch->end_if_idle();
  }
} ender;

/// Returns the events that end a wait for these: a failure and the end of the other side are news
/// for a reader and for a writer.
constexpr std::uint32_t with_ends(std::uint32_t events) noexcept {
  return events | EPOLLERR | EPOLLHUP;
}

}  // namespace

/// Called under the lock. Returns 0 or an errno.
int descriptor_watch::start() noexcept {
  if (is_ended_) return ECANCELED;
  if (thread_.joinable()) return 0;
  if (epoll_ < 0) epoll_ = epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0) return errno;
  if (end_event_ < 0) end_event_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (end_event_ < 0) return errno;
  epoll_event ends{};
  ends.events = EPOLLIN;
  ends.data.fd = end_event_;
  if (epoll_ctl(epoll_, EPOLL_CTL_ADD, end_event_, &ends) != 0 && errno != EEXIST) return errno;
  const signals_blocked left_to_others;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& failure) {
    return failure.code().value();
  }
  return 0;
}

/// Has epoll watch for the events of all waits for a descriptor, or for none. Called under the
/// lock. Returns 0 or an errno.
int descriptor_watch::watch(int descriptor, bool is_new) noexcept {
  epoll_event all{};
  all.data.fd = descriptor;
  const auto found = waits_.find(descriptor);
  for (const descriptor_wait* each = found == waits_.end() ? nullptr : found->second;
       each != nullptr; each = each->next) {
    all.events |= each->events;
  }
  if (all.events == 0) return epoll_ctl(epoll_, EPOLL_CTL_DEL, descriptor, &all) == 0 ? 0 : errno;
  // One that was closed and opened anew during a wait may still be watched, or not any more.
  const int first = is_new ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  const int second = is_new ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
  if (epoll_ctl(epoll_, first, descriptor, &all) == 0) return 0;
  if (errno != (is_new ? EEXIST : ENOENT)) return errno;
  return epoll_ctl(epoll_, second, descriptor, &all) == 0 ? 0 : errno;
}

int descriptor_watch::add(descriptor_wait& added) noexcept {
  const std::lock_guard lock(mutex_);
  if (const int failure = start()) return failure;
  waits::iterator place;
  try {
    place = waits_.try_emplace(added.descriptor, nullptr).first;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
  const bool is_new = place->second == nullptr;
  added.next = place->second;
  place->second = &added;
  mark_if_blocked();
  const int failure = watch(added.descriptor, is_new);
  if (failure != 0) {
    place->second = added.next;
    if (is_new) waits_.erase(place);
    mark_if_blocked();
  }
  return failure;
}

/// Takes the wait at `at` off the list; returns whether there are others. Called under the lock.
bool descriptor_watch::take_off(waits::iterator of, descriptor_wait** at) noexcept {
  *at = (*at)->next;
  if (of->second != nullptr) return true;
  waits_.erase(of);
  mark_if_blocked();
  return false;
}

bool descriptor_watch::remove(descriptor_wait& removed) noexcept {
  const std::lock_guard lock(mutex_);
  const auto of = waits_.find(removed.descriptor);
  if (of == waits_.end()) return false;
  for (descriptor_wait** at = &of->second; *at != nullptr; at = &(*at)->next) {
    if (*at != &removed) continue;
    take_off(of, at);
    (void)watch(removed.descriptor, false);
    return true;
  }
  return false;
}

/// Says whether the thread sleeps until somebody waits for a descriptor. Called under the lock.
void descriptor_watch::mark_if_blocked() noexcept {
  if (!waits_.empty()) {
    blocks_.reset();
  } else if (!blocks_) {
    blocks_.emplace();
  }
}

/// Notifies the listeners of a descriptor whose events have come. Returns a strand to resume, or
/// null if there is none any more.
strand* descriptor_watch::next_ready(int descriptor, std::uint32_t events) noexcept {
  const std::lock_guard lock(mutex_);
  const auto of = waits_.find(descriptor);
  if (of == waits_.end()) return nullptr;
  for (descriptor_wait** at = &of->second; *at != nullptr;) {
    descriptor_wait& seen = **at;
    if ((with_ends(seen.events) & events) == 0) {
      at = &seen.next;
      continue;
    }
    const bool more = take_off(of, at);
    (void)watch(descriptor, false);
    // A strand that this returns stays suspended, and with it its frame; any other may go on.
    strand* const ready = seen.listener->notify(seen.listener);
    if (ready != nullptr || !more) return ready;
  }
  return nullptr;
}

void descriptor_watch::run() noexcept {
  pthread_setname_np(pthread_self(), "creek/epoll");
  std::array<epoll_event, 64> ready{};
  for (;;) {
    const int count = epoll_wait(epoll_, ready.data(), static_cast<int>(ready.size()), -1);
    if (count < 0 && errno != EINTR) {
      std::perror("creek: cannot wait for file descriptors any more; was one of creek's closed?");
      std::abort();
    }
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = ready[static_cast<std::size_t>(i)];
      if (event.data.fd == end_event_) return;
      while (strand* const waiter = next_ready(event.data.fd, event.events))
        waiter->home->resume(waiter);
    }
  }
}

void descriptor_watch::end_if_idle() noexcept {
  std::thread ended;
  {
    const std::lock_guard lock(mutex_);
    if (!waits_.empty() || !thread_.joinable()) return;
    const std::uint64_t one = 1;
    if (write(end_event_, &one, sizeof one) != sizeof one) return;
    is_ended_ = true;
    blocks_.reset();
    ended = std::move(thread_);
  }
  ended.join();
}

namespace {

/// A descriptor as the source of a limited wait.
struct awaited_descriptor {
  static constexpr const char* text = "a file descriptor that is ready";
  static constexpr const char* text_or_a_stop = "a file descriptor or a stop request";
  static constexpr const char* text_for_a_limited_time = "a file descriptor, for a limited time";

  bool listen(ready_listener* listener) noexcept {
    wait.listener = listener;
    failure = watch.add(wait);
    return failure == 0;
  }
  bool unlisten(ready_listener*) noexcept { return watch.remove(wait); }
  wait_reason reason(const char* what) const noexcept { return what; }

  descriptor_watch& watch;
  descriptor_wait wait;
  int failure = 0;  ///< of the system; EPERM: the descriptor is always ready
};

const char* name_of(short events) noexcept {
  return events == POLLIN ? "wait_readable" : "wait_writable";
}

[[noreturn]] void refuse(int reason, short events, int descriptor) {
  throw error(reason, std::string(name_of(events)) + ": descriptor " + std::to_string(descriptor));
}

/// Returns whether the descriptor is ready within `milliseconds`, without end if -1.
bool is_ready(int descriptor, short events, int milliseconds) {
  if (descriptor < 0) refuse(EBADF, events, descriptor);  // poll() passes over these
  pollfd asked{.fd = descriptor, .events = events, .revents = 0};
  int count = 0;
  do {
    count = poll(&asked, 1, milliseconds);
  } while (count < 0 && errno == EINTR);
  if (count < 0) refuse(errno, events, descriptor);
  if ((asked.revents & POLLNVAL) != 0) refuse(EBADF, events, descriptor);
  return count > 0;
}

bool wait_until_ready(int descriptor, short events, const std::stop_token& stop) {
  if (is_ready(descriptor, events, 0)) return true;
  executor* const home = current_executor();
  if (home != nullptr && home->traits().has_own_time) return is_ready(descriptor, events, -1);
  descriptor_watch* const watch = watch_of_process::get();
  if (watch == nullptr) throw std::bad_alloc();
  std::optional<executor::outside_wait> counted;
  if (home != nullptr) counted.emplace(*home);
  awaited_descriptor source{
      *watch, {.descriptor = descriptor, .events = events == POLLIN ? EPOLLIN : EPOLLOUT}};
  do {
    if (stop.stop_requested()) return false;
    const wait_end how = limited_wait<awaited_descriptor>(source).wait(nullptr, &stop);
    if (source.failure == EPERM) return true;
    if (source.failure != 0) refuse(source.failure, events, descriptor);
    if (how == wait_end::stopped) return false;
    // Another strand may have taken what came.
  } while (!is_ready(descriptor, events, 0));
  return true;
}

}  // namespace

}  // namespace creek::detail

namespace creek {

bool wait_readable(int descriptor, const std::stop_token& stop) {
  return detail::wait_until_ready(descriptor, POLLIN, stop);
}
bool wait_writable(int descriptor, const std::stop_token& stop) {
  return detail::wait_until_ready(descriptor, POLLOUT, stop);
}
void wait_readable(int descriptor) {
  (void)wait_readable(descriptor, std::stop_token());
}
void wait_writable(int descriptor) {
  (void)wait_writable(descriptor, std::stop_token());
}

}  // namespace creek
