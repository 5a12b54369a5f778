// SPDX-License-Identifier: Apache-2.0
// Messages that bring invocations to an object on a worker. Source: TACO [Rotta 2012].
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>

#include <creek/core/messages/active_message.hpp>
#include <creek/tasking/ext/executor.hpp>
#include <creek/tasking/ext/messages.hpp>

namespace creek::ext {

/// A running invocation; lies in the frame that runs it.
struct activation {
  const remote_cell* object = nullptr;
  /// Its `chain` is the activation that waits for this one in call(), or null. Not followed before
  /// it must be: it lies in the caller's cache.
  const reply* outcome = nullptr;
  /// The invocation on the same strand that waits for this one, or null; for reports.
  const activation* below = nullptr;
};

using tell_function = void (*)(reply& self) noexcept;

/// Destination of an invocation's outcome.
struct reply {
  int asked_by = -1;  ///< calling worker of the object's runtime; -1: none of them
  /// Number of the object, for reports; 0: none. `given_up` in its place: a reply with a short
  /// result is a cache line.
  std::uint32_t object = 0;
  const activation* chain = nullptr;  ///< the caller's chain, if it waits in call()
  /// Stores an exception; the answer still has to be sent.
  void (*store_failure)(reply& self, std::exception_ptr why) noexcept = nullptr;
  /// Notifies the waiter. The reply may be gone afterwards.
  tell_function tell = nullptr;

  /// Has the call skipped if it has not begun. Any thread that knows that the reply lives.
  void give_up() noexcept { std::atomic_ref(object).store(given_up, std::memory_order_relaxed); }
  bool is_given_up() noexcept {
    return std::atomic_ref(object).load(std::memory_order_relaxed) == given_up;
  }
  static constexpr std::uint32_t given_up = ~std::uint32_t{0};
};

/// The first bytes of every message. Messages need not be aligned. `run` copies what it needs of
/// its message before it sends anything or waits.
struct message_head {
  /// Null: the object's retirement, which its last handle sends. Never recognised by its address: a
  /// linker may give functions of equal code one address.
  void (*run)(std::byte* message) noexcept = nullptr;
  remote_cell* object = nullptr;  ///< object that runs it, one at a time; null: it runs at once
  reply* outcome = nullptr;       ///< null: no caller wants the outcome
  bool is_retirement() const noexcept { return run == nullptr; }
};
static_assert(sizeof(message_head) == 24);

/// Copies the head word by word, as most of it is wanted: a processor waits for the stores of a
/// copy that a wider load spans.
inline message_head head_of(const std::byte* message) noexcept {
  message_head head;
  std::memcpy(&head.run, message + offsetof(message_head, run), sizeof head.run);
  std::memcpy(&head.object, message + offsetof(message_head, object), sizeof head.object);
  std::memcpy(&head.outcome, message + offsetof(message_head, outcome), sizeof head.outcome);
  return head;
}

/// Copies a message of at most active_message_bytes word by word: most are short, and were written
/// only just before by stores of words.
inline void copy_message(void* to, const void* from, std::size_t bytes) noexcept {
  auto* const out = static_cast<std::byte*>(to);
  const auto* const in = static_cast<const std::byte*>(from);
  constexpr std::size_t word_bytes = sizeof(std::uint64_t);
  std::size_t at = 0;
#pragma GCC unroll 1
  for (; at + word_bytes <= bytes; at += word_bytes) {
    std::uint64_t word;
    std::memcpy(&word, in + at, word_bytes);
    asm("" : "+r"(word));  // or the compiler makes the loop a call of memcpy()
    std::memcpy(out + at, &word, word_bytes);
  }
  if (at < bytes) [[unlikely]]
    std::memcpy(out + at, in + at, bytes - at);
}

/// A posted operation that its sender keeps back, to merge it with those that follow. Only the
/// sender's worker uses it.
struct merged_post {
  struct operation {
    /// Merges `added` into the operation of a message; returns false if they do not go together.
    bool (*merge)(std::byte* message, void* added) noexcept;
    /// Writes a message that does what was added; returns its bytes.
    std::size_t (*write)(std::byte* message, remote_cell* object, void* added);
  };
  static constexpr unsigned max_merged = 64;

  remote_cell* object = nullptr;  ///< null: there is none. One of its handles belongs to this
  const operation* kind = nullptr;
  unsigned merged = 0;
  std::size_t bytes = 0;
  alignas(16) std::byte message[active_message_bytes];
};

/// A message that waits its turn, or that travels as a task.
struct kept_message : submitted_task {
  kept_message() = default;
  kept_message(const void* message, std::size_t length) noexcept { assign(message, length); }
  void assign(const void* message, std::size_t length) noexcept {
    bytes = length;
    copy_message(data, message, length);
  }
  kept_message* next = nullptr;
  std::size_t bytes = 0;
  std::uint64_t turn = 0;  ///< for the transport
  alignas(16) std::byte data[active_message_bytes];
};

/// A first-in, first-out list of kept messages.
class message_queue {
 public:
  bool empty() const noexcept { return first_ == nullptr; }
  std::size_t size() const noexcept { return size_; }
  void push(kept_message* added) noexcept {
    added->next = nullptr;
    (last_ != nullptr ? last_->next : first_) = added;
    last_ = added;
    ++size_;
  }
  void push_front(kept_message* added) noexcept {
    added->next = first_;
    if (first_ == nullptr) last_ = added;
    first_ = added;
    ++size_;
  }
  kept_message* front() const noexcept { return first_; }
  kept_message* pop() noexcept {
    kept_message* const taken = first_;
    if (taken != nullptr) first_ = taken->next;
    if (first_ == nullptr) last_ = nullptr;
    if (taken != nullptr) --size_;
    return taken;
  }

 private:
  kept_message* first_ = nullptr;
  kept_message* last_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace creek::ext
