// SPDX-License-Identifier: Apache-2.0
// A queue of objects that wait while what they need is fetched into the caches.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>

#include <creek/core/language.hpp>

namespace creek::mapreduce::detail {

/// Number of objects that come after an object before it is processed.
inline constexpr std::size_t max_ahead = 64;

/// Objects are constructed where they stay: copying what was just written by parts stalls most
/// processors. They are processed by dozens, in short loops.
template <class T>
class waiting_objects {
 public:
  waiting_objects() = default;
  waiting_objects(waiting_objects&& other) noexcept { swap(other); }
  waiting_objects& operator=(waiting_objects&& other) noexcept {
    swap(other);
    return *this;
  }
  ~waiting_objects() {
    progress all(*this);
    all.pass(all.first, all.end, [](T& object) { std::destroy_at(&object); });
  }

  [[nodiscard]] bool is_full() const noexcept { return size_ == places; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  /// An object behind the waiting ones, which is destroyed unless it is kept.
  class candidate {
   public:
    candidate(waiting_objects& in, T* at) noexcept : in_(&in), at_(at) {}
    candidate(const candidate&) = delete;
    candidate& operator=(const candidate&) = delete;
    ~candidate() {
      if (at_ != nullptr) std::destroy_at(at_);
    }
    [[nodiscard]] T& operator*() const noexcept { return *at_; }
    [[nodiscard]] T* operator->() const noexcept { return at_; }
    /// Lets the object wait.
    void keep() noexcept {
      ++in_->size_;
      at_ = nullptr;
    }

   private:
    waiting_objects* in_;
    T* at_;
  };
  /// The queue must not be full.
  template <class... Args>
  [[nodiscard, gnu::always_inline]] candidate make(Args&&... args) {
    if (!room_) [[unlikely]]
      room_ = std::make_unique_for_overwrite<place[]>(places);
    auto* const at = reinterpret_cast<T*>(&room_[(first_ + size_) % places]);
    return candidate(*this, std::construct_at(at, std::forward<Args>(args)...));
  }

  /// Calls `f(T&&)` for the `count` objects that wait longest and removes each, also if the call
  /// throws: map() may handle an exception of the job's combine() and go on. Each object was passed
  /// to `ask(T&)` before, and to `ask_again(T&)` some objects before its turn, which must not
  /// throw.
  template <class Ask, class AskAgain, class F>
  [[gnu::always_inline]] void process(std::size_t count, Ask&& ask, AskAgain&& ask_again, F&& f) {
    progress now(*this);
    now.pass(now.asked, now.end, ask);
    for (const std::size_t stop = now.first + count; now.first != stop;) {
      const std::size_t next = std::min(stop, now.first + max_ahead / 2);
      now.pass(now.asked_again, std::min(next + max_ahead / 2, now.end), ask_again);
      now.pass(now.first, next, [&](T& object) {
        struct guard {
          T& of;
          ~guard() { std::destroy_at(&of); }
        } const drop{object};
        f(std::move(object));
      });
    }
  }

 private:
  static constexpr std::size_t places = 2 * max_ahead;
  static_assert(std::has_single_bit(places));
  struct place {
    alignas(T) std::byte bytes[sizeof(T)];
  };

  /// Positions in the queue, in registers while they change.
  struct progress {
    waiting_objects& of;
    place* const room;
    const std::size_t end;
    std::size_t first, asked, asked_again;

    explicit progress(waiting_objects& queue) noexcept
        : of(queue),
          room(queue.room_.get()),
          end(queue.first_ + queue.size_),
          first(queue.first_),
          asked(first + queue.asked_),
          asked_again(first + queue.asked_again_) {}
    ~progress() {
      of.first_ = first == end ? 0 : first % places;
      of.size_ = end - first;
      of.asked_ = asked - first;
      of.asked_again_ = asked_again - first;
    }
    /// Moves `position` up to `stop`, and calls `f(T&)` for each object that it has passed: in runs
    /// that do not reach over the end of the room, so that a step is an addition.
    template <class F>
    [[gnu::always_inline]] void pass(std::size_t& position, std::size_t stop, F&& f) const {
      while (position < stop) {
        const std::size_t begin = position % places;
        T* object = std::launder(reinterpret_cast<T*>(&room[begin]));
        for (std::size_t left = std::min(stop - position, places - begin); left != 0; --left) {
          ++position;
          f(*object++);
        }
      }
    }
  };

  void swap(waiting_objects& other) noexcept {
    std::swap(room_, other.room_);
    std::swap(first_, other.first_);
    std::swap(size_, other.size_);
    std::swap(asked_, other.asked_);
    std::swap(asked_again_, other.asked_again_);
  }

  std::unique_ptr<place[]> room_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
  std::size_t asked_ = 0, asked_again_ = 0;  // of the waiting objects, from the first one on
};

}  // namespace creek::mapreduce::detail
