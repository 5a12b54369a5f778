// SPDX-License-Identifier: Apache-2.0
// Operations on a remote object that their sender merges: many become one message. For counters,
// extremes and the like, where only the total effect matters.
#pragma once

#include <functional>
#include <type_traits>

#include <creek/core/language.hpp>

namespace creek {

/// A function object that remote<T>::post() may merge: f.merge(g) makes `f` do what calling f, then
/// g on the object would do. It is copied byte by byte, and merge() must not throw. With a member
/// bool may_merge(const F& next) const noexcept it says which ones it can be merged with.
///
/// The sender's worker keeps such an operation back, merges those that follow for the same object,
/// and sends them as one message, at the latest after 64 operations: before its next message, and
/// before the strand waits, ends, answers a call, or makes a future or an item of a channel ready.
/// So the operations come before the calls of all that know of them by such ways, like any posts.
/// Others may come first: tasks that the strand makes later, and whoever knows of them by variables
/// of the program's own. Operations of a strand on different objects are not in order. A strand
/// that waits for such a variable without suspending sends nothing. The object lives until the
/// operation has been sent.
template <class F>
concept mergeable = std::is_trivially_copyable_v<F> && std::is_copy_constructible_v<F> && requires {
  static_cast<void (F::*)(const F&) noexcept>(&F::merge);
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

namespace detail {
/// Replaces a data member by a value that comes before it.
template <auto Member, class Before>
struct replace_by {
  using object = typename member_of<decltype(Member)>::object;
  using value_type = typename member_of<decltype(Member)>::value;
  value_type value;

  void operator()(object& target) const { replace(target.*Member, value); }
  void merge(const replace_by& next) noexcept { replace(value, next.value); }

 private:
  static void replace(value_type& old, const value_type& next) {
    if (Before{}(next, old)) old = next;
  }
};
}  // namespace detail

/// Lowers a data member to a value that is smaller.
template <auto Member>
using lower_to = detail::replace_by<Member, std::less<>>;
/// Raises a data member to a value that is larger.
template <auto Member>
using raise_to = detail::replace_by<Member, std::greater<>>;

}  // namespace creek
