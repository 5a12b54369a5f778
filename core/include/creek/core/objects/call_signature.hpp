// SPDX-License-Identifier: Apache-2.0
// Arguments and results of functions that other ranks call, by the type of the function.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include <creek/core/messages/wire.hpp>
#include <creek/core/objects/call_blocks.hpp>
#include <creek/core/objects/function_table.hpp>

namespace creek::detail {

/// An object that is not in the table of its rank yet.
struct new_object {
  void* object = nullptr;
  const std::type_info* type = nullptr;
  void (*destroy)(void*) noexcept = nullptr;
  void destroy_now() noexcept {
    if (object != nullptr) destroy(std::exchange(object, nullptr));
  }
};

/// A parameter that can be sent: not a reference through which a function would change the
/// caller's variable.
template <class P>
inline constexpr bool is_sent_parameter =
    !std::is_lvalue_reference_v<P> || std::is_const_v<std::remove_reference_t<P>>;

[[noreturn]] void throw_bytes_left(std::size_t bytes);

template <class R, class... P>
struct call_shape {
  static_assert((is_sent_parameter<P> && ...),
                "a function that other ranks call cannot change its arguments: take them by value "
                "or by reference to const, and return what changes");
  static_assert((sendable<std::decay_t<P>> && ...) &&
                    (readable_from<std::decay_t<P>, byte_reader> && ...),
                "arguments go to another rank as bytes: give their types a function serialize or a "
                "form, see creek/core/messages/wire.hpp");
  using result = std::decay_t<R>;
  static_assert(std::is_void_v<R> || (sendable<result> && readable_from<result, byte_reader> &&
                                      !std::same_as<result, std::string_view>),
                "results come from another rank as bytes: give their type a function serialize or "
                "a form, see creek/core/messages/wire.hpp; a view cannot be returned");

  static constexpr bool may_have_blocks = (block_value<std::decay_t<P>> || ...);

  template <class... A>
  static void put(call_writer& to, A&&... arguments) {
    static_assert(sizeof...(A) == sizeof...(P), "a call has another number of arguments");
    (to.put<std::decay_t<P>>(std::forward<A>(arguments)), ...);
  }
  /// Appends all arguments to the bytes.
  static void put(std::vector<std::byte>& to, const std::decay_t<P>&... arguments) {
    (wire<std::decay_t<P>>::put(to, arguments), ...);
  }
  /// Reads the arguments, gives them to `f` and appends the result.
  template <class F>
  static void run(F&& f, byte_reader& from, call_writer& to) {
    // Braces: they evaluate the parts from left to right.
    arguments_type arguments{wire<std::decay_t<P>>::get(from)...};
    if (from.left() != 0) throw_bytes_left(from.left());
    apply(f, arguments, to);
  }

  /// Reads the arguments, whose blocks have not arrived.
  static std::unique_ptr<arriving_values> prepare(byte_reader& from, const block_sizes& sizes) {
    block_value_reader reader(from, sizes);
    auto made = std::make_unique<arriving>(reader);
    if (from.left() != 0) throw_bytes_left(from.left());
    return made;
  }
  template <class F>
  static void run_prepared(F&& f, arriving_values& prepared, call_writer& to) {
    apply(f, static_cast<arriving&>(prepared).arguments, to);
  }

 private:
  using arguments_type = std::tuple<std::decay_t<P>...>;

  struct arriving final : arriving_values {
    explicit arriving(block_value_reader& from) : arguments{from.get<std::decay_t<P>>()...} {
      viewed = std::move(from.viewed);
      std::apply([&](const auto&... each) { (from.add_block(each, blocks), ...); }, arguments);
    }
    arguments_type arguments;
    std::vector<std::unique_ptr<std::byte[]>> viewed;
  };

  template <class F>
  static void apply(F&& f, arguments_type& arguments, call_writer& to) {
    std::apply(
        [&](std::decay_t<P>&... each) {
          if constexpr (std::is_void_v<R>) {
            f(static_cast<P&&>(each)...);
          } else {
            to.put<result>(f(static_cast<P&&>(each)...));
          }
        },
        arguments);
  }
};

/// The entry in the table of functions for a Function that has a shape and is called by
/// `invoke(space, object, arguments...)`.
template <class Function>
struct entry_points {
  static void run(object_space& space, void* object, byte_reader& from, call_writer& to) {
    Function::shape::run(caller{space, object}, from, to);
  }
  static void run_prepared(object_space& space, void* object, arriving_values& arguments,
                           call_writer& to) {
    Function::shape::run_prepared(caller{space, object}, arguments, to);
  }
  static constexpr rank_function::block_form in_blocks() {
    if constexpr (Function::shape::may_have_blocks) {
      return {&Function::shape::prepare, &run_prepared};
    }
    return {};
  }

 private:
  struct caller {
    object_space& space;
    void* object;
    template <class... A>
    decltype(auto) operator()(A&&... arguments) const {
      return Function::invoke(space, object, std::forward<A>(arguments)...);
    }
  };
};

template <class T, class R, class... P>
struct function_shape;
template <class T, class R, class Object, class... P>
requires(!std::is_void_v<T>) struct function_shape<T, R, Object, P...> {
  static_assert(std::is_invocable_v<R (*)(Object), T&>,
                "a function that ranks call on an object takes a reference to it first");
  using shape = call_shape<R, P...>;
};
template <class R, class... P>
struct function_shape<void, R, P...> {
  using shape = call_shape<R, P...>;
};

// Declared for their types only: the shape of a call of a member, of a function that takes the
// object first (none if T is void), and of a function object.
template <class R, class C, class... P>
call_shape<R, P...> member_shape(R (C::*)(P...));
template <class R, class C, class... P>
call_shape<R, P...> member_shape(R (C::*)(P...) const);
template <class R, class C>
requires(!std::is_function_v<R>) call_shape<R> member_shape(R C::*);
template <class T, class R, class... P>
typename function_shape<T, R, P...>::shape free_shape(R (*)(P...));
template <class T, class R, class C, class... P>
typename function_shape<T, R, P...>::shape function_object_shape(R (C::*)(P...));
template <class T, class R, class C, class... P>
typename function_shape<T, R, P...>::shape function_object_shape(R (C::*)(P...) const);

template <class T, auto F>
auto shape_of_call() {
  using function = std::remove_cv_t<decltype(F)>;
  if constexpr (std::is_member_pointer_v<function>) {
    return std::type_identity<decltype(member_shape(F))>{};
  } else if constexpr (std::is_pointer_v<function>) {
    return std::type_identity<decltype(free_shape<T>(F))>{};
  } else {
    static_assert(std::is_empty_v<function>, "a function object that ranks call has no state");
    return std::type_identity<decltype(function_object_shape<T>(&function::operator()))>{};
  }
}
template <class T, auto F>
using shape_of = typename decltype(shape_of_call<T, F>())::type;

/// The handler of exceptions of posts that T has, or null.
template <class T>
constexpr rank_function::failure_handler failure_handler_of() {
  if constexpr (requires(T & object, std::exception_ptr why) { object.on_post_failure(why); }) {
    return [](void* object, std::exception_ptr why) {
      static_cast<T*>(object)->on_post_failure(std::move(why));
    };
  }
  return nullptr;
}

/// The entry in the table of functions for F, called on an object of type T, or without one.
template <class T, auto F>
struct function_on_object {
  using shape = shape_of<T, F>;
  using points = entry_points<function_on_object>;
  template <class... A>
  static decltype(auto) invoke(object_space&, void* object, A&&... arguments) {
    return std::invoke(F, *static_cast<T*>(object), std::forward<A>(arguments)...);
  }
  static inline rank_function entry{typeid(function_on_object), &typeid(T), &points::run,
                                    points::in_blocks(), failure_handler_of<T>()};
};
template <auto F>
struct function_on_object<void, F> {
  using shape = shape_of<void, F>;
  using points = entry_points<function_on_object>;
  template <class... A>
  static decltype(auto) invoke(object_space&, void*, A&&... arguments) {
    return std::invoke(F, std::forward<A>(arguments)...);
  }
  static inline rank_function entry{typeid(function_on_object), nullptr, &points::run,
                                    points::in_blocks()};
};

}  // namespace creek::detail
