// SPDX-License-Identifier: Apache-2.0
// Operations on a remote object that their sender merges: many become one message. For counters,
// extremes and the like, where only the total effect matters.
#pragma once

#include <algorithm>
#include <concepts>
#include <type_traits>

namespace creek {

/// A function object that remote<T>::post() may merge: f.merge(g) makes `f` do what calling f, then
/// g on the object would do. It is copied byte by byte, and merge() must not throw.
///
/// The sender's worker keeps such an operation back, merges those that follow for the same object,
/// and sends them as one message: with its next message to any worker, when the strand waits or
/// ends or gives way to messages, or after 64 operations. So the operations of a strand come before
/// the calls that it makes later; those who know of an operation by other ways may come first.
template <class F>
concept mergeable = std::is_trivially_copyable_v<F> && requires(F& into, const F& next) {
  { into.merge(next) }
  noexcept;
};

namespace detail {
template <class Member>
struct member_of;
template <class T, class Value>
struct member_of<Value T::*> {
  using object = T;
  using value = Value;
};
}  // namespace detail

/// Adds to a data member: counter.post(creek::add_to<&statistics::calls>{1}).
template <auto Member>
struct add_to {
  using object = typename detail::member_of<decltype(Member)>::object;
  typename detail::member_of<decltype(Member)>::value amount;

  void operator()(object& target) const { target.*Member += amount; }
  void merge(const add_to& next) noexcept { amount += next.amount; }
};

/// Lowers a data member to a value that is smaller.
template <auto Member>
struct lower_to {
  using object = typename detail::member_of<decltype(Member)>::object;
  typename detail::member_of<decltype(Member)>::value value;

  void operator()(object& target) const { target.*Member = std::min(target.*Member, value); }
  void merge(const lower_to& next) noexcept { value = std::min(value, next.value); }
};

/// Raises a data member to a value that is larger.
template <auto Member>
struct raise_to {
  using object = typename detail::member_of<decltype(Member)>::object;
  typename detail::member_of<decltype(Member)>::value value;

  void operator()(object& target) const { target.*Member = std::max(target.*Member, value); }
  void merge(const raise_to& next) noexcept { value = std::max(value, next.value); }
};

}  // namespace creek
