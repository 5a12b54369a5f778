// SPDX-License-Identifier: Apache-2.0
// The movable tasks of one thread, and their functions.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include <creek/core/messages/wire.hpp>
#include <creek/core/objects/call_signature.hpp>
#include <creek/core/objects/function_table.hpp>

namespace creek {

template <class Result>
class task_bag;

namespace detail {

class movable_bag;

/// A function of movable tasks, and how the arguments of its tasks are stored.
struct movable_type {
  const rank_function* function;  ///< decodes arguments and adds a task with them to a bag
  /// Takes the arguments before the function may add tasks in their place.
  void (*run)(movable_bag& bag, std::byte* arguments);
  void (*encode)(std::byte* arguments, std::vector<std::byte>& to);
  void (*drop)(std::byte* arguments) noexcept;  ///< null: nothing to do
};

/// A task with its arguments: their bytes, or a pointer to them. Moved by copying its bytes.
struct movable_task {
  static constexpr std::size_t max_bytes = 56;
  const movable_type* type;
  alignas(8) std::byte arguments[max_bytes];
};

/// Tasks in the order in which they were added. The thread that has the bag runs the newest first;
/// others are given the oldest, which are the largest if tasks make smaller ones.
class movable_bag {
 public:
  movable_bag() = default;
  /// The tasks move; `result` stays.
  movable_bag(movable_bag&& other) noexcept { swap(other); }
  movable_bag& operator=(movable_bag&& other) noexcept {
    swap(other);
    return *this;
  }
  ~movable_bag() { clear(); }

  [[nodiscard]] std::size_t size() const noexcept { return end_ - first_; }
  [[nodiscard]] bool empty() const noexcept { return end_ == first_; }
  /// Returns the place of a new task, for the caller to fill in before any other use of the bag.
  [[nodiscard]] movable_task& add() {
    if (end_ == capacity_) [[unlikely]]
      make_room();
    return tasks_[end_++];
  }
  /// Runs the newest of at least one task, which may add others. Rethrows what it throws.
  void run_newest() {
    movable_task& one = tasks_[--end_];
    one.type->run(*this, one.arguments);
  }
  /// Takes the older half of the tasks, rounded down.
  [[nodiscard]] movable_bag split();
  /// Takes the oldest `count` tasks, fewer if they make more than `max_bytes` bytes, and appends
  /// them to a message. Returns how many. If the form of an argument throws, the bag is unchanged.
  std::size_t encode_oldest(std::size_t count, std::size_t max_bytes, std::vector<std::byte>& to);
  /// Adds the tasks of a message; returns how many. Throws creek::error (EBADMSG) if it is
  /// malformed.
  std::size_t decode(object_space& space, std::string_view message);
  void clear() noexcept;

  void* result = nullptr;  ///< of the thread that runs its tasks

 private:
  void swap(movable_bag& other) noexcept {
    std::swap(tasks_, other.tasks_);
    std::swap(first_, other.first_);
    std::swap(end_, other.end_);
    std::swap(capacity_, other.capacity_);
  }
  void make_room();
  void forget_oldest(std::size_t count) noexcept;

  std::unique_ptr<movable_task[]> tasks_;
  std::size_t first_ = 0, end_ = 0, capacity_ = 0;
};

template <class R, class Result, class... P>
struct movable_signature {
  static_assert(std::is_void_v<R>, "a movable task returns nothing: it adds to bag.result()");
  static_assert((!std::is_same_v<std::decay_t<P>, std::string_view> && ...),
                "a movable task keeps its arguments: take a std::string instead of a view");
  using result = Result;
  using shape = call_shape<void, P...>;
  using arguments = std::tuple<std::decay_t<P>...>;
  /// They lie in the task itself.
  static constexpr bool in_place = (std::is_trivially_copyable_v<std::decay_t<P>> && ...) &&
                                   sizeof(arguments) <= movable_task::max_bytes &&
                                   alignof(arguments) <= 8;
  static arguments decode(byte_reader& from) {
    // Braces: they evaluate the parts from left to right.
    return arguments{wire<std::decay_t<P>>::get(from)...};
  }
};

// Declared for their types only.
template <class R, class Result, class... P>
movable_signature<R, Result, P...> signature_of_task(R (*)(task_bag<Result>&, P...));
template <class R, class C, class Result, class... P>
movable_signature<R, Result, P...> signature_of_task(R (C::*)(task_bag<Result>&, P...) const);

template <auto F>
auto signature_of_movable() {
  using function = std::remove_cv_t<decltype(F)>;
  if constexpr (std::is_pointer_v<function>) {
    return std::type_identity<decltype(signature_of_task(F))>{};
  } else {
    static_assert(std::is_empty_v<function>, "a function object of movable tasks has no state");
    return std::type_identity<decltype(signature_of_task(&function::operator()))>{};
  }
}

template <auto F>
class movable_function {
 public:
  using signature = typename decltype(signature_of_movable<F>())::type;

  template <class... A>
  static void add(movable_bag& bag, A&&... given) {
    static_assert(std::is_constructible_v<arguments, A&&...>,
                  "a movable task is given other arguments than its function takes");
    if constexpr (signature::in_place && std::is_nothrow_constructible_v<arguments, A&&...>) {
      movable_task& task = bag.add();
      task.type = &type;
      ::new (static_cast<void*>(task.arguments)) arguments(std::forward<A>(given)...);
    } else if constexpr (signature::in_place) {
      add_made(bag, arguments(std::forward<A>(given)...));
    } else {
      add_made(bag, std::make_unique<arguments>(std::forward<A>(given)...));
    }
  }

 private:
  using arguments = typename signature::arguments;

  /// Lies in a task: the arguments, or their owner.
  using stored = std::conditional_t<signature::in_place, arguments, std::unique_ptr<arguments>>;

  static void add_made(movable_bag& bag, stored made) {
    movable_task& task = bag.add();
    task.type = &type;
    ::new (static_cast<void*>(task.arguments)) stored(std::move(made));
  }
  static stored& at(std::byte* task) noexcept {
    return *std::launder(reinterpret_cast<stored*>(task));
  }
  static arguments& values(stored& from) noexcept {
    if constexpr (signature::in_place) {
      return from;
    } else {
      return *from;
    }
  }
  static void run(movable_bag& bag, std::byte* task) {
    stored taken(std::move(at(task)));
    task_bag<typename signature::result> here(bag);
    std::apply([&](auto&... each) { F(here, std::move(each)...); }, values(taken));
  }
  static void encode(std::byte* task, std::vector<std::byte>& to) {
    std::apply([&](const auto&... each) { signature::shape::put(to, each...); }, values(at(task)));
  }
  static void drop(std::byte* task) noexcept { std::destroy_at(&at(task)); }
  static void receive(object_space&, void* bag, byte_reader& from, call_writer&) {
    arguments sent = signature::decode(from);
    std::apply([&](auto&... each) { add(*static_cast<movable_bag*>(bag), std::move(each)...); },
               sent);
  }

  // The type of the object keeps calls of other ranks out: none has an object of this type.
  static inline rank_function entry{typeid(movable_function), &typeid(movable_bag), &receive};
  static constexpr movable_type type{&entry, &run, &encode, signature::in_place ? nullptr : &drop};
};

}  // namespace detail
}  // namespace creek
