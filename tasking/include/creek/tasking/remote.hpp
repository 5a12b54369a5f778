// SPDX-License-Identifier: Apache-2.0
// Objects that live on one worker, called from anywhere: the call goes to the object instead of the
// object's cache lines to the caller. Also plain "run this on that worker".
// Source: TACO [Rotta 2012].
//
// Calls on one object run one at a time, those of one caller in the order in which it made them.
// They run on the object's worker, between tasks and while it is idle, or at once where a strand of
// that worker waits for the call and nothing but calls on the same object comes before it; a call
// that waits (in get(), call(), taskwait() ...) suspends, lets the worker serve others, and resumes
// on the same worker. On the tbb backend a worker is just a number: calls run as tasks, wherever
// oneTBB has a thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <future>
#include <iterator>
#include <ranges>
#include <string>
#include <type_traits>
#include <utility>

#include <creek/core/core_id.hpp>
#include <creek/core/error.hpp>
#include <creek/tasking/detail/posted_call.hpp>
#include <creek/tasking/detail/remote_call.hpp>
#include <creek/tasking/future.hpp>
#include <creek/tasking/merging.hpp>

namespace creek {

template <class T>
class remote;

/// Identifies an object and its worker, for messages and comparing; valid for ever, never reused.
struct remote_address {
  core_id core;                  ///< worker of its runtime
  std::uint64_t generation = 0;  ///< number of the object in this process
  friend auto operator<=>(const remote_address&, const remote_address&) = default;
};

namespace detail {
template <class T>
remote_cell* cell_of(const remote<T>& object) noexcept;
}  // namespace detail

/// A handle of an object that lives on a worker. Copyable, any thread; the object is destroyed on
/// its worker when the last handle is gone, by destroy(), or with the runtime. A handle may outlive
/// the runtime; a call then is an error.
/// `f` of the calls below: a member function of T, a function or a function object that takes
/// T& and the arguments. `f` and the arguments are stored decayed and moved to the worker: up
/// to 72 bytes of trivially copyable ones in the message itself, others by a pointer. What `f`
/// returns is decayed and moved back, what it throws is rethrown. A call on a destroyed object
/// throws usage_error, through the future if the object was destroyed while the call was on its
/// way.
///
/// Threads that belong to no runtime may call as well, any number of them.
template <class T>
class remote {
 public:
  static_assert(std::is_object_v<T> && !std::is_array_v<T>,
                "remote<T> refers to an object: T must not be a reference, an array or void");

  remote() = default;
  remote(const remote& other) noexcept : cell_(other.cell_) {
    if (cell_ != nullptr) cell_->add_handle();
  }
  remote(remote&& other) noexcept : cell_(std::exchange(other.cell_, nullptr)) {}
  remote& operator=(remote other) noexcept {
    std::swap(cell_, other.cell_);
    return *this;
  }
  ~remote() {
    if (cell_ != nullptr) cell_->drop_handle();
  }

  explicit operator bool() const noexcept { return cell_ != nullptr; }
  /// Returns the object's address. Throws usage_error on an empty handle.
  remote_address address() const { return {core(), required("address").place().generation}; }
  core_id core() const { return core_id{static_cast<int>(required("core").place().worker)}; }
  friend bool operator==(const remote& a, const remote& b) noexcept { return a.cell_ == b.cell_; }

  /// Calls `f` and waits; the calling worker does other work meanwhile. Throws usage_error if the
  /// object is running a call that waits, directly or through further call()s, for this one.
  template <class F, class... Arguments>
  auto call(F&& f, Arguments&&... arguments) const {
    static_assert(detail::remote_call_requirements<T, F, Arguments...>::met);
    detail::remote_cell& cell = alive("call");
    return detail::call_closure<detail::remote_result_t<F, T, Arguments...>>(
        cell.place().home, cell.place().worker, &cell,
        detail::bind_call<T>(std::forward<F>(f), std::forward<Arguments>(arguments)...));
  }
  /// Calls `f` without waiting; returns the future of its result.
  template <class F, class... Arguments>
  auto async(F&& f, Arguments&&... arguments) const {
    static_assert(detail::remote_call_requirements<T, F, Arguments...>::met);
    detail::remote_cell& cell = alive("async");
    return detail::async_closure<detail::remote_result_t<F, T, Arguments...>>(
        cell.place().home, cell.place().worker, &cell,
        detail::bind_call<T>(std::forward<F>(f), std::forward<Arguments>(arguments)...));
  }
  /// Like call(), but waits for at most `span`. Returns the result in a std::optional, or true for
  /// an `f` that returns nothing; empty, or false, if the time was over first. The call is then
  /// skipped if it has not begun, and otherwise its result or exception is dropped. In a task of
  /// the simulated chip the span is one of virtual time.
  template <class Rep, class Period, class F, class... Arguments>
  [[nodiscard]] auto call_for(const std::chrono::duration<Rep, Period>& span, F&& f,
                              Arguments&&... arguments) const {
    auto answer = async(std::forward<F>(f), std::forward<Arguments>(arguments)...);
    const bool is_there = answer.wait_for(span) == std::future_status::ready;
    return detail::take_or_give_up(std::move(answer), is_there);
  }
  /// Does the same until `deadline`, by its clock. Throws usage_error in a task of the simulated
  /// chip, in whose time no clock of the process runs.
  template <class Clock, class Duration, class F, class... Arguments>
  [[nodiscard]] auto call_until(const std::chrono::time_point<Clock, Duration>& deadline, F&& f,
                                Arguments&&... arguments) const {
    detail::require_clocks("remote::call_until");
    auto answer = async(std::forward<F>(f), std::forward<Arguments>(arguments)...);
    const bool is_there = answer.wait_until(deadline) == std::future_status::ready;
    return detail::take_or_give_up(std::move(answer), is_there);
  }
  /// Calls `f` without an answer: the result is dropped. An exception is given to the object's
  /// on_post_failure(std::exception_ptr), if T has such a member, and ends the program otherwise.
  /// The call is dropped if the object is destroyed before the call arrives. An `f` that is
  /// mergeable, without arguments, may be sent later, with others (merging.hpp).
  template <class F, class... Arguments>
  void post(F&& f, Arguments&&... arguments) const {
    static_assert(detail::remote_call_requirements<T, F, Arguments...>::met);
    detail::remote_cell& cell = alive("post");
    constexpr detail::post_failure_handler on_failure = detail::failure_handler<T>();
    if constexpr (mergeable<std::decay_t<F>> && sizeof...(Arguments) == 0) {
      std::decay_t<F> added(f);
      constexpr auto& kind = detail::mergeable_post<T, std::decay_t<F>, on_failure>::kind;
      if (keep_post_back(cell, kind, &added)) return;
    }
    detail::post_closure<on_failure>(
        cell.place().home, cell.place().worker, &cell,
        detail::bind_call<T>(std::forward<F>(f), std::forward<Arguments>(arguments)...));
  }
  /// Posts f(object, item), but not at once: the caller's worker keeps the call back and sends up
  /// to 64 of them as one message, by the rules of mergeable operations (merging.hpp). For many
  /// calls in a row, of one object or of some in turns; one alone costs more than a post. `f` is
  /// a function, a method, or a function object with no members but integers and pointers; each
  /// item gets a copy. Tasks that it spawns may still run when the next item's turn comes.
  template <class F, class Item>
  void post_batched(F&& f, Item&& item) const {
    using function = std::decay_t<F>;
    using stored = std::decay_t<Item>;
    static_assert(detail::remote_call_requirements<T, F, Item>::met);
    static_assert(std::is_empty_v<function> || std::has_unique_object_representations_v<function>,
                  "remote<T>::post_batched compares functions byte by byte: f must be a function, "
                  "a method, or a function object that has no members but integers and pointers");
    static_assert(std::is_nothrow_move_constructible_v<stored>,
                  "remote<T>::post_batched moves items: that must not throw");
    constexpr detail::post_failure_handler on_failure = detail::failure_handler<T>();
    using batched = detail::batched_post<T, function, stored, on_failure>;
    detail::remote_cell& cell = alive("post_batched");
    const function called(std::forward<F>(f));
    stored added(std::forward<Item>(item));
    typename batched::addition addition{called, added};
    if (keep_post_back(cell, batched::kind, &addition)) return;
    detail::post_closure<on_failure>(cell.place().home, cell.place().worker, &cell,
                                     detail::bind_call<T>(called, std::move(added)));
  }
  /// Posts the call if that needs no wait, and returns true; returns false if too many messages of
  /// the caller's worker, or of threads outside, wait for the object's worker, or for one to which
  /// a kept post has to go first: nothing is called then, and what was moved into the call is gone.
  /// On the simulated chip it waits like post(), and on tbb there is always room.
  template <class F, class... Arguments>
  [[nodiscard]] bool try_post(F&& f, Arguments&&... arguments) const {
    static_assert(detail::remote_call_requirements<T, F, Arguments...>::met);
    detail::remote_cell& cell = alive("try_post");
    return detail::try_post_closure<detail::failure_handler<T>()>(
        cell, detail::bind_call<T>(std::forward<F>(f), std::forward<Arguments>(arguments)...));
  }
  /// Posts f(object, item) for copies of all items of a range, as one call: nothing comes between.
  /// After an exception the rest is left out. The items travel in the message if they are few and
  /// trivially copyable (about 64 bytes), else in a vector.
  template <class F, std::ranges::forward_range Items>
  void post_many(F&& f, Items&& items) const {
    using item = std::ranges::range_value_t<Items>;
    using function = std::decay_t<F>;
    static_assert(detail::remote_call_requirements<T, F, item>::met);
    static_assert(std::is_copy_constructible_v<item>,
                  "remote<T>::post_many sends copies of the items: they must be copyable");
    if (std::ranges::empty(items)) return;
    constexpr std::size_t room = detail::items_in_a_message<function, item>;
    if constexpr (room > 0) {
      const auto count = static_cast<std::size_t>(std::ranges::distance(items));
      if (count <= room) {
        detail::call_for_few<T, function, item, room> few{
            std::forward<F>(f), static_cast<std::uint32_t>(count), {}};
        std::ranges::copy(items, few.items);
        return post(few);
      }
    }
    detail::call_for_many<T, function, item> many{std::forward<F>(f), {}};
    std::ranges::copy(items, std::back_inserter(many.items));
    post(std::move(many));
  }
  /// Destroys the object after the calls that came before. Later calls are errors.
  void destroy() const { required("destroy").destroy(); }

 private:
  template <class U, class... Arguments>
  friend remote<U> make_on(core_id core, Arguments&&... arguments);
  friend detail::remote_cell* detail::cell_of<T>(const remote& object) noexcept;

  explicit remote(detail::remote_cell* adopted) noexcept : cell_(adopted) {}
  detail::remote_cell& required(const char* what) const {
    if (cell_ == nullptr)
      throw usage_error(std::string("remote::") + what + ": the handle is empty");
    return *cell_;
  }
  detail::remote_cell& alive(const char* what) const {
    detail::remote_cell& cell = required(what);
    require_alive(cell, what);
    return cell;
  }

  detail::remote_cell* cell_ = nullptr;
};

/// Runs f(arguments...) on worker `core` of the current runtime and waits. Several may run there in
/// turns, switching where they wait.
template <class F, class... Arguments>
auto call_on(core_id core, F&& f, Arguments&&... arguments) {
  static_assert(detail::worker_call_requirements<F, Arguments...>::met);
  detail::executor& home = detail::require_executor("call_on");
  return detail::call_closure<detail::worker_result_t<F, Arguments...>>(
      home, detail::checked_worker(home, core, "call_on"), nullptr,
      detail::bind_call<void>(std::forward<F>(f), std::forward<Arguments>(arguments)...));
}
/// Does the same without waiting; returns the future of the result.
template <class F, class... Arguments>
auto async_on(core_id core, F&& f, Arguments&&... arguments) {
  static_assert(detail::worker_call_requirements<F, Arguments...>::met);
  detail::executor& home = detail::require_executor("async_on");
  return detail::async_closure<detail::worker_result_t<F, Arguments...>>(
      home, detail::checked_worker(home, core, "async_on"), nullptr,
      detail::bind_call<void>(std::forward<F>(f), std::forward<Arguments>(arguments)...));
}
/// Does the same without an answer; an exception ends the program.
template <class F, class... Arguments>
void post_on(core_id core, F&& f, Arguments&&... arguments) {
  static_assert(detail::worker_call_requirements<F, Arguments...>::met);
  detail::executor& home = detail::require_executor("post_on");
  detail::post_closure(
      home, detail::checked_worker(home, core, "post_on"), nullptr,
      detail::bind_call<void>(std::forward<F>(f), std::forward<Arguments>(arguments)...));
}

/// Makes a T(arguments...) that lives on worker `core` of the current runtime, and waits until it
/// is there. Rethrows what the constructor throws.
template <class T, class... Arguments>
remote<T> make_on(core_id core, Arguments&&... arguments) {
  static_assert(detail::argument_requirements<Arguments...>::met);
  static_assert(std::is_constructible_v<T, std::decay_t<Arguments>...>,
                "make_on<T>: T has no constructor for copies of these arguments, as rvalues");
  detail::executor& home = detail::require_executor("make_on");
  const unsigned worker = detail::checked_worker(home, core, "make_on");
  remote<T> made(new detail::remote_cell(home, worker));
  detail::remote_cell* const cell = made.cell_;
  auto construct = detail::bind_call<void>(
      [cell](std::decay_t<Arguments>&&... here) {
        cell->object() = {new T(std::move(here)...),
                          [](void* object) noexcept { delete static_cast<T*>(object); }};
      },
      std::forward<Arguments>(arguments)...);
  try {
    detail::call_closure<void>(home, worker, nullptr, std::move(construct));
  } catch (...) {
    // There is an object if the only failure is that of a task that its constructor left behind.
    if (cell->object() == nullptr) delete std::exchange(made.cell_, nullptr);
    throw;
  }
  return made;
}

}  // namespace creek
