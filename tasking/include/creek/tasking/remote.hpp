// SPDX-License-Identifier: Apache-2.0
// Objects that live on one worker, called from anywhere: the call goes to the object instead of the
// object's cache lines to the caller. Also plain "run this on that worker".
// Source: TACO [Rotta 2012].
//
// Calls on one object run one at a time, those of one caller in the order in which it made them.
// They run on the object's worker, between tasks and while it is idle, or at once where a strand of
// that worker waits for the call and nothing comes before it; a call that waits (in
// get(), call(), taskwait() ...) suspends, lets the worker serve others, and resumes on the same
// worker. On the tbb backend a worker is just a number: calls run as tasks, wherever oneTBB has a
// thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <future>
#include <iterator>
#include <optional>
#include <ranges>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <creek/core/core_id.hpp>
#include <creek/core/error.hpp>
#include <creek/tasking/detail/closure_message.hpp>
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

/// Type of a result that is moved back to the caller.
template <class Returned>
struct returned_result {
  static_assert(
      std::is_void_v<Returned> || std::is_constructible_v<std::decay_t<Returned>, Returned>,
      "what a remote call returns is moved to the caller: it must be movable, and copyable if it "
      "is returned by reference");
  using type = std::decay_t<Returned>;
};

template <class F, class T, class... Arguments>
using remote_result_t = typename returned_result<
    std::invoke_result_t<std::decay_t<F>&, T&, std::decay_t<Arguments>...>>::type;
template <class F, class... Arguments>
using worker_result_t = typename returned_result<
    std::invoke_result_t<std::decay_t<F>&, std::decay_t<Arguments>...>>::type;

template <class T>
remote_cell* cell_of(const remote<T>& object) noexcept;

// The requirements below are classes so that a compiler checks them, and prints their sentence,
// before it looks at the rest of the function that names them.

template <class... Arguments>
struct argument_requirements {
  static_assert((std::is_move_constructible_v<std::decay_t<Arguments>> && ...),
                "an argument of a remote call is moved to the object's worker: it must have a move "
                "or copy constructor; pass a remote<T> or a pointer to what cannot be moved");
  static constexpr bool met = true;
};

template <class T, class F, class... Arguments>
struct remote_call_requirements : argument_requirements<F, Arguments...> {
  static_assert(std::is_invocable_v<std::decay_t<F>&, T&, std::decay_t<Arguments>...>,
                "f of a remote<T> call must be a method of T, or accept T& first, and copies of "
                "the arguments, as rvalues");
};

template <class F, class... Arguments>
struct worker_call_requirements : argument_requirements<F, Arguments...> {
  static_assert(std::is_invocable_v<std::decay_t<F>&, std::decay_t<Arguments>...>,
                "call_on, async_on and post_on call f(arguments...) with copies, as rvalues: f "
                "must accept them");
};

/// Returns the call as a closure of an object; trivially copyable if all that it captures is.
template <class T, class F, class... Arguments>
auto bind_call(F&& f, Arguments&&... arguments) {
  return [f = std::decay_t<F>(std::forward<F>(f)),
          ... arguments = std::decay_t<Arguments>(std::forward<Arguments>(arguments))](
             void* object) mutable -> decltype(auto) {
    if constexpr (std::is_void_v<T>) {
      return std::invoke(f, std::move(arguments)...);
    } else {
      return std::invoke(f, *static_cast<T*>(object), std::move(arguments)...);
    }
  };
}

const activation* current_activation() noexcept;
/// Returns the worker. Throws usage_error if `home` has no such worker, or is a parent process's.
unsigned checked_worker(const executor& home, core_id core, const char* what);

/// Sends a call and waits for its result.
template <class R, class F>
R call_closure(executor& home, unsigned worker, remote_cell* object, F&& closure) {
  awaited_reply<R> outcome;
  outcome.asked_by = current_executor() == &home ? home.worker_index() : -1;
  outcome.object = number_of(object);
  outcome.chain = current_activation();
  closure_message<std::decay_t<F>, awaited_reply<R>>::send(home, worker, object, std::move(closure),
                                                           &outcome);
  return outcome.take();
}

template <class R, class F>
future<R> async_closure(executor& home, unsigned worker, remote_cell* object, F&& closure) {
  auto* outcome = new future_reply<R>;
  state_ptr<future_state<R>> owned(outcome);
  state_ptr<future_state<R>> of_call(outcome);  // if sending throws
  outcome->asked_by = current_executor() == &home ? home.worker_index() : -1;
  outcome->object = number_of(object);
  closure_message<std::decay_t<F>, future_reply<R>>::send(home, worker, object, std::move(closure),
                                                          outcome);
  of_call.disown();
  return future<R>(std::move(owned));
}

/// Takes the answer to async_closure() if it is there; otherwise gives the call up.
template <class R>
auto take_or_give_up(future<R>&& answer, bool is_there) {
  using result = std::conditional_t<std::is_void_v<R>, bool, std::optional<R>>;
  if (!is_there) {
    static_cast<future_reply<R>*>(answer.state())->give_up();
    answer.detach();
    return result{};
  }
  if constexpr (std::is_void_v<R>) {
    answer.get();
    return true;
  } else {
    return result(answer.get());
  }
}

template <post_failure_handler OnFailure = nullptr, class F>
void post_closure(executor& home, unsigned worker, remote_cell* object, F&& closure) {
  closure_message<std::decay_t<F>, void, OnFailure>::send(home, worker, object, std::move(closure),
                                                          nullptr);
  if (current_executor() == &home) home.messages().yield();
}

/// A post of F that is merged with others. Lies in the message.
template <class T, class F, post_failure_handler OnFailure>
struct mergeable_post {
  using closure = decltype(bind_call<T>(std::declval<const F&>()));
  using message = closure_message<closure, void, OnFailure>;
  static_assert(message::in_place && sizeof(closure) == sizeof(F),
                "a mergeable operation may have at most 72 bytes");

  static bool merge(std::byte* into, void* added) noexcept {
    union room {
      room() {}
      F merged;
    } here;
    const F& next = *static_cast<const F*>(added);
    std::memcpy(static_cast<void*>(&here.merged), into + sizeof(message_head), sizeof(F));
    if constexpr (requires { here.merged.may_merge(next); }) {
      if (!here.merged.may_merge(next)) return false;
    }
    here.merged.merge(next);
    std::memcpy(into + sizeof(message_head), static_cast<const void*>(&here.merged), sizeof(F));
    return true;
  }
  static std::size_t write(std::byte* bytes, remote_cell* object, void* added) {
    const message_head head{&message::run, object, nullptr};
    std::memcpy(bytes, &head, sizeof head);
    std::memcpy(bytes + sizeof head, added, sizeof(F));
    return sizeof head + sizeof(F);
  }
  static constexpr merged_post::operation kind{&merge, &write};
};

/// Posts of F with an item each, as one message that carries a pointer to all.
template <class T, class F, class Item, post_failure_handler OnFailure>
struct batched_post {
  struct batch {
    F f;
    std::vector<Item> items;
    void operator()(void* object) {
      for (auto&& each : items) {
        if constexpr (OnFailure == nullptr) {
          call(object, static_cast<Item&&>(each));
        } else {
          try {
            call(object, static_cast<Item&&>(each));
          } catch (...) {
            OnFailure(object, std::current_exception());
          }
        }
      }
    }
    void call(void* object, Item&& item) const {
      F own = f;
      std::invoke(own, *static_cast<T*>(object), std::move(item));
    }
  };
  struct addition {
    const F& f;
    Item& item;
  };
  using message = closure_message<batch, void, OnFailure>;
  static_assert(!message::in_place);

  static bool merge(std::byte* into, void* added) noexcept {
    const auto& next = *static_cast<addition*>(added);
    batch* carried = nullptr;
    std::memcpy(&carried, into + sizeof(message_head), sizeof carried);
    if constexpr (!std::is_empty_v<F>) {
      if (std::memcmp(&carried->f, &next.f, sizeof(F)) != 0) return false;
    }
    carried->items.push_back(std::move(next.item));  // there is room
    return true;
  }
  static std::size_t write(std::byte* bytes, remote_cell* object, void* added) {
    const auto& first = *static_cast<addition*>(added);
    auto made = std::make_unique<batch>(batch{first.f, {}});
    made->items.reserve(merged_post::max_merged);
    made->items.push_back(std::move(first.item));
    const message_head head{&message::run, object, nullptr};
    batch* const carried = made.release();
    std::memcpy(bytes, &head, sizeof head);
    std::memcpy(bytes + sizeof head, &carried, sizeof carried);
    return sizeof head + sizeof carried;
  }
  static constexpr merged_post::operation kind{&merge, &write};
};

/// Posts if there is room; returns false if not.
template <post_failure_handler OnFailure, class F>
bool try_post_closure(remote_cell& object, F&& closure) {
  executor& home = object.place().home;
  if (!closure_message<std::decay_t<F>, void, OnFailure>::try_send(home, object.place().worker,
                                                                   &object, std::move(closure)))
    return false;
  if (current_executor() == &home) home.messages().yield();
  return true;
}

template <class T>
void take_post_failure(void* object, std::exception_ptr why) {
  static_cast<T*>(object)->on_post_failure(std::move(why));
}
/// Returns the handler of T for exceptions of posts, or null.
template <class T>
constexpr post_failure_handler failure_handler() noexcept {
  static_assert(sizeof(T) > 0, "remote<T>::post needs to know whether T has on_post_failure()");
  if constexpr (requires(T & object, std::exception_ptr why) {
                  object.on_post_failure(std::move(why));
                }) {
    return &take_post_failure<T>;
  } else {
    return nullptr;
  }
}

/// Calls `f` with the object and each item of a message.
template <class T, class F, class Item, std::size_t Room>
struct call_for_few {
  F f;
  std::uint32_t count = 0;
  Item items[Room];

  void operator()(T& object) {
    for (std::uint32_t i = 0; i < count; ++i) std::invoke(f, object, std::move(items[i]));
  }
};
/// Number of items that travel in a message with F; 0 if they, or F, cannot.
template <class F, class Item>
inline constexpr std::size_t items_in_a_message = [] {
  constexpr std::size_t room = active_message_bytes - sizeof(message_head) - 2 * sizeof(long);
  if constexpr (!std::is_trivially_copyable_v<F> || !std::is_trivially_copyable_v<Item> ||
                !std::is_trivially_default_constructible_v<Item> ||
                !std::is_copy_assignable_v<Item> || alignof(Item) > alignof(long) ||
                alignof(F) > alignof(long) || sizeof(F) > 2 * sizeof(long)) {
    return std::size_t{0};
  } else {
    return (room - (sizeof(F) > sizeof(long) ? sizeof(long) : 0)) / sizeof(Item);
  }
}();
template <class T, class F, class Item>
struct call_for_many {
  F f;
  std::vector<Item> items;

  void operator()(T& object) {
    for (auto&& each : items) std::invoke(f, object, static_cast<Item&&>(each));
  }
};

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
                  "a method, or "
                  "a function object that has no members but integers and pointers");
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
