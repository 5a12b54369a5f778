// SPDX-License-Identifier: Apache-2.0
// A type-erased reference to a callable object: for calls that are too rare to be worth compiling
// the caller for each type. Like std::function_ref of C++26.
#pragma once

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

#include <creek/core/language.hpp>

namespace creek {

template <class Signature>
class function_ref;

/// Refers to a callable object, which must live as long as the calls; copies refer to the same
/// object. A call costs one indirect call, a nanosecond or two. Any thread; safe to call at the
/// same time where the object is.
template <class Result, class... Arguments>
class function_ref<Result(Arguments...)> {
 public:
  template <class Callable>
  requires(!std::same_as<std::remove_cvref_t<Callable>, function_ref>) &&
      std::is_invocable_r_v<Result, Callable&, Arguments...> function_ref(
          Callable&& callable) noexcept
      : object_(const_cast<void*>(static_cast<const volatile void*>(std::addressof(callable)))),
  call_([](void* object, Arguments... arguments) -> Result {
    return (*static_cast<std::remove_reference_t<Callable>*>(object))(
        std::forward<Arguments>(arguments)...);
  }) {}

  Result operator()(Arguments... arguments) const {
    return call_(object_, std::forward<Arguments>(arguments)...);
  }

 private:
  void* object_;
  Result (*call_)(void*, Arguments...);
};

}  // namespace creek
