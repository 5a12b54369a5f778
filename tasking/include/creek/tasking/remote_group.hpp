// SPDX-License-Identifier: Apache-2.0
// Objects on many workers, called together: a call travels down a tree from worker to worker, and
// its results are merged on the way up. Source: the groups of TACO [Rotta 2012].
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <creek/tasking/detail/group_call.hpp>
#include <creek/tasking/remote.hpp>

namespace creek {

/// Shapes of the tree along which calls spread over a group.
struct group_shape {
  enum class kind : std::uint8_t {
    tree,      ///< balanced, `arity` children per member
    binomial,  ///< half of the rest to the first child, half of what is left to the next, ...
    flat,      ///< all from the first member
    chain,     ///< from each to the next
    mesh,      ///< along the first row of the backend's mesh, and from there along the columns
  };
  kind form = kind::tree;
  int arity = 4;

  static constexpr group_shape tree(int arity = 4) noexcept { return {kind::tree, arity}; }
  static constexpr group_shape binomial() noexcept { return {kind::binomial, 0}; }
  static constexpr group_shape flat() noexcept { return {kind::flat, 0}; }
  static constexpr group_shape chain() noexcept { return {kind::chain, 0}; }
  static constexpr group_shape mesh() noexcept { return {kind::mesh, 0}; }
};

/// Members 0 .. size() - 1, each an object on a worker. A handle as remote<T> is: copyable, any
/// thread; the members live as long as a handle of the group or of themselves.
///
/// `f` of the calls below is a member function of T, a function or a function object that takes T&
/// and the arguments. All members are given the same `f` and arguments, as const lvalues and
/// perhaps at the same time. On each member the call takes its turn among other calls. If calls
/// throw, the exception of the first such member, in their order, is rethrown when all have ended.
/// A member that waits for a call of its own group would wait for itself, and is refused.
template <class T>
class group {
 public:
  group() = default;

  int size() const noexcept { return state_ ? static_cast<int>(state_->members.size()) : 0; }
  /// Returns the handle of a member. Throws usage_error if there is no such member.
  const remote<T>& operator[](int member) const {
    if (member < 0 || member >= size()) {
      throw usage_error("group: there is no member " + std::to_string(member) + " of " +
                        std::to_string(size()));
    }
    return state_->members[static_cast<std::size_t>(member)];
  }

  /// Calls all members and waits.
  template <class F, class... Arguments>
  void step(F&& f, Arguments&&... arguments) const {
    static_assert(detail::group_call_requirements<T, F, Arguments...>::met);
    run<detail::no_result>(discarding(std::forward<F>(f)), std::forward<Arguments>(arguments)...);
  }
  /// Calls all members without waiting.
  template <class F, class... Arguments>
  future<void> async_step(F&& f, Arguments&&... arguments) const {
    static_assert(detail::group_call_requirements<T, F, Arguments...>::met);
    auto closure = bind(discarding(std::forward<F>(f)), std::forward<Arguments>(arguments)...);
    using call = detail::detached_group_call<T, decltype(closure)>;
    return call::start(required(), std::move(closure));
  }
  /// Calls all members; returns their results, in the members' order.
  template <class F, class... Arguments>
  auto map(F&& f, Arguments&&... arguments) const {
    static_assert(detail::group_call_requirements<T, F, Arguments...>::met);
    using result = detail::group_result_t<F, T, Arguments...>;
    static_assert(!std::is_void_v<result>, "group::map: f returns nothing; use step()");
    return run<detail::all_results<result>>(std::forward<F>(f),
                                            std::forward<Arguments>(arguments)...);
  }
  /// Calls f(member) on all members and merges what they return by op(a, b) on the way up, on the
  /// members' workers. `op` must not call members. It is associative; on a mesh, which merges in
  /// another order than that of the members, commutative as well.
  template <class F, class Op>
  auto reduce(F&& f, Op op) const {
    static_assert(detail::group_call_requirements<T, F>::met);
    using result = detail::group_result_t<F, T>;
    static_assert(std::is_invocable_r_v<result, Op&, result, result>,
                  "group::reduce: op(a, b) must accept two results of f and return one");
    return run_with(detail::merged_result<result, Op>(std::move(op)), std::forward<F>(f));
  }
  /// Assigns `value` to every member.
  template <class V>
  void broadcast(V&& value) const {
    static_assert(std::is_assignable_v<T&, const std::decay_t<V>&>,
                  "group<T>::broadcast assigns the value to every member: T must accept it");
    step([](T& member, const std::decay_t<V>& given) { member = given; }, std::forward<V>(value));
  }
  /// Returns copies of all members, in their order.
  std::vector<T> gather() const {
    static_assert(std::is_copy_constructible_v<T>,
                  "group<T>::gather returns copies of the members: T must be copyable");
    return map([](T& member) { return T(member); });
  }
  /// Returns when the members have run all that the caller called before.
  void barrier() const {
    step([](T&) {});
  }

 private:
  template <class U, class... Arguments>
  friend group<U> make_group(const std::vector<core_id>& cores, group_shape shape,
                             const Arguments&... arguments);

  template <class F>
  static auto discarding(F&& f) {
    return [f = std::decay_t<F>(std::forward<F>(f))](T& member, const auto&... arguments) {
      static_cast<void>(std::invoke(f, member, arguments...));
    };
  }
  template <class F, class... Arguments>
  static auto bind(F&& f, Arguments&&... arguments) {
    return [f = std::decay_t<F>(std::forward<F>(f)),
            ... arguments = std::decay_t<Arguments>(std::forward<Arguments>(arguments))](
               T& member) -> decltype(auto) { return std::invoke(f, member, arguments...); };
  }
  template <class Merge, class F, class... Arguments>
  auto run(F&& f, Arguments&&... arguments) const {
    return run_with(Merge{}, std::forward<F>(f), std::forward<Arguments>(arguments)...);
  }
  template <class Merge, class F, class... Arguments>
  auto run_with(Merge merging, F&& f, Arguments&&... arguments) const {
    auto closure = bind(std::forward<F>(f), std::forward<Arguments>(arguments)...);
    detail::awaited_group_call<T, decltype(closure), Merge> call(required(), std::move(closure),
                                                                 std::move(merging));
    return call.run();
  }
  const std::shared_ptr<const detail::group_state<T>>& required() const {
    if (!state_) throw usage_error("group: the handle is empty");
    return state_;
  }

  std::shared_ptr<const detail::group_state<T>> state_;
};

/// Makes a T(arguments...) on each of `cores`, workers of the current runtime; a core may be named
/// more than once. Throws usage_error if there are no cores, or on a bad shape.
template <class T, class... Arguments>
group<T> make_group(const std::vector<core_id>& cores, group_shape shape = {},
                    const Arguments&... arguments) {
  static_assert(std::is_constructible_v<T, std::decay_t<const Arguments&>...>,
                "make_group<T>: T has no constructor for copies of these arguments, as rvalues");
  detail::executor& home = detail::require_executor("make_group");
  auto state = std::make_shared<detail::group_state<T>>();
  state->tree = detail::make_group_tree(home, cores, static_cast<int>(shape.form), shape.arity);
  for (const core_id core : cores) {
    state->members.push_back(make_on<T>(core, arguments...));
    state->cells.push_back(detail::cell_of(state->members.back()));
  }
  group<T> made;
  made.state_ = std::move(state);
  return made;
}
/// Makes one on each worker.
template <class T>
group<T> make_group(group_shape shape = {}) {
  return make_group<T>(detail::all_workers(detail::require_executor("make_group")), shape);
}

}  // namespace creek
