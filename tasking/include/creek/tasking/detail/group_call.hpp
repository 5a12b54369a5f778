// SPDX-License-Identifier: Apache-2.0
// A call of all members of a group. Each member has a node, kept for the group's next calls: what
// all workers read of it lies on a line that hardly changes. No waiter is woken before the last
// result has come.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <creek/tasking/remote.hpp>

namespace creek::detail {

/// Tree along which members pass calls on.
struct group_tree {
  int root = 0;
  std::vector<int> parent;                 ///< -1 for the root
  std::vector<std::vector<int>> children;  ///< in the order in which results are merged
};
/// Builds the tree. Throws usage_error if there are no cores or the arity is not positive.
group_tree make_group_tree(const executor& home, const std::vector<core_id>& cores, int form,
                           int arity);
std::vector<core_id> all_workers(const executor& home);

class group_nodes;

/// The part of a group that does not depend on its type.
struct group_layout {
  std::vector<remote_cell*> cells;  ///< the members' cells
  group_tree tree;
  /// Nodes of a call that has ended, for the next one.
  mutable std::atomic<group_nodes*> spare{nullptr};

  group_layout() = default;
  group_layout(const group_layout&) = delete;
  group_layout& operator=(const group_layout&) = delete;
  ~group_layout();
};

template <class T>
struct group_state : group_layout {
  std::vector<remote<T>> members;
};

template <class T>
remote_cell* cell_of(const remote<T>& object) noexcept {
  return object.cell_;
}

template <class F, class T, class... Arguments>
using group_result_t = typename returned_result<
    std::invoke_result_t<const std::decay_t<F>&, T&, const std::decay_t<Arguments>&...>>::type;

/// Checks a call of `f` on all members of a group of T.
template <class T, class F, class... Arguments>
struct group_call_requirements : argument_requirements<F, Arguments...> {
  static_assert(
      std::is_invocable_v<const std::decay_t<F>&, T&, const std::decay_t<Arguments>&...>,
      "f of a group<T> call must be a method of T, or accept T& first, and const arguments");
};

/// The part of a group call that does not depend on types.
class group_call {
 public:
  group_call(const group_call&) = delete;
  group_call& operator=(const group_call&) = delete;

  struct node;
  /// Properties of a call that the workers of its members need.
  struct properties {
    reply* outcome = nullptr;  ///< told of the end; null: end() is called
    std::size_t argument_bytes = 0, result_bytes = 0;
    bool merges = false;         ///< merge_child() does something
    group_call* call = nullptr;  ///< set by the call
    friend bool operator==(const properties&, const properties&) = default;
  };

 protected:
  /// Header of a message: the call and the member that it is about. `head.outcome` is its node.
  struct route {
    message_head head;
    group_call* call = nullptr;
    std::int64_t member = 0;
  };
  struct message {
    route to;
    /// Holds the arguments on the way down and the results on the way up.
    std::byte load[active_message_bytes - sizeof(route)] = {};
  };
  static_assert(sizeof(message) == active_message_bytes);
  using run_function = void (*)(std::byte* message) noexcept;

  /// `chain`: the caller's chain of activations, if it waits.
  group_call(std::shared_ptr<const group_layout> on, const activation* chain, properties given);
  ~group_call();

  /// Sends the call, with its arguments in `sent.load` if they travel there, to the root, which is
  /// to call `arrival`. A caller that waits names also `arrival_here`, for a root on its worker.
  void start(message& sent, run_function arrival, run_function arrival_here);
  /// Passes a call that has arrived at a member on to those below it, which are to call `arrival`.
  /// Then has `run` called when it is the member's turn; `here`: on the strand of a caller that
  /// waits for the call.
  static void arrive(std::byte* data, run_function arrival, run_function run, bool here) noexcept;
  /// Calls body(object) in the scope of an invocation, on the member's worker.
  template <class Body>
  static void run_member(const route& came, const Body& body) noexcept {
    static constexpr task_type type{nullptr, "[with F = group call]"};
    void* const object = came.head.object->object().get();
    const auto guarded = [&] {
      try {
        if (object == nullptr) std::rethrow_exception(death_of(*came.head.object, "group call"));
        body(object);
      } catch (...) {
        keep_failure(*came.head.outcome, std::current_exception());
      }
    };
    std::exception_ptr later =
        run_invocation(activation{came.head.object, came.head.outcome}, &type, guarded);
    if (later) keep_failure(*came.head.outcome, std::move(later));
    one_ended(*came.head.outcome);
  }
  static route route_of(const std::byte* data) noexcept {
    route came;
    std::memcpy(&came, data, sizeof came);
    return came;
  }
  const group_layout& layout() const noexcept { return *layout_; }
  executor& home() const noexcept { return layout_->cells.front()->place().home; }
  /// Returns the exception of the first member that threw, or null.
  std::exception_ptr failure() const noexcept;

 private:
  /// Merges the results of a child and of those below it.
  virtual void merge_child(int member, int child) = 0;
  /// Ends a call without an outcome, which may be gone afterwards.
  virtual void end() noexcept {}

  static std::unique_ptr<group_nodes> take_nodes(const group_layout& on);
  static void run_child_ended(std::byte* data) noexcept;
  static void send(node& to, message& sent, run_function run, std::size_t load_bytes);
  /// `ended`: a node.
  static void keep_failure(reply& ended, std::exception_ptr why) noexcept;
  static void one_ended(reply& ended) noexcept;
  static void merge_children(node& here, const activation& caller) noexcept;
  static void tell_end(const group_nodes& nodes) noexcept;

  const std::shared_ptr<const group_layout> layout_;
  group_nodes* const nodes_;
};

/// A group call with a closure of type F, which travels in the message if it fits. `Derived` has
/// `void call_member(int member, const F& closure, void* object)`, which may throw.
template <class Derived, class T, class F>
class group_call_with : public group_call {
 protected:
  static constexpr bool travels =
      std::is_trivially_copyable_v<F> && sizeof(F) <= sizeof(message::load) && alignof(F) <= 16;

  group_call_with(const std::shared_ptr<const group_state<T>>& on, const activation* chain,
                  const group_call::properties& given, F closure)
      : group_call(on, chain, given), closure_(std::move(closure)) {}
  ~group_call_with() = default;

  /// `waits`: the caller does, for nothing else.
  void start(bool waits) {
    message sent;
    if constexpr (travels) std::memcpy(sent.load, static_cast<const void*>(&closure_), sizeof(F));
    group_call::start(sent, &run_arrival, waits ? &run_arrival_here : nullptr);
  }

 private:
  static void run_arrival(std::byte* data) noexcept { arrive(data, &run_arrival, &run, false); }
  static void run_arrival_here(std::byte* data) noexcept { arrive(data, &run_arrival, &run, true); }
  static void run(std::byte* data) noexcept {
    const route came = route_of(data);
    auto& call = static_cast<Derived&>(*came.call);
    const int member = static_cast<int>(came.member);
    if constexpr (travels) {
      union room {
        room() {}
        F closure;
      } copy;
      std::memcpy(static_cast<void*>(&copy.closure), data + sizeof(route), sizeof(F));
      run_member(came, [&](void* object) { call.call_member(member, copy.closure, object); });
    } else {
      run_member(came, [&](void* object) {
        call.call_member(member, static_cast<group_call_with&>(call).closure_, object);
      });
    }
  }

  const F closure_;
};

// --- What becomes of the results ----------------------------------------------------------------

struct no_result {
  using value = void;
  static constexpr std::size_t bytes = 0;
  static constexpr bool merges = false;
  void make_room(std::size_t) {}
  template <class F>
  void store(int, F&& function) {
    function();
  }
  void merge(int, int) {}
  void take(int) {}
};

template <class R>
struct all_results {
  static constexpr std::size_t bytes = sizeof(R);
  static constexpr bool merges = false;
  std::vector<std::optional<R>> values;

  void make_room(std::size_t members) { values.resize(members); }
  template <class F>
  void store(int member, F&& function) {
    values[static_cast<std::size_t>(member)].emplace(function());
  }
  void merge(int, int) {}
  std::vector<R> take(int) {
    std::vector<R> all;
    all.reserve(values.size());
    for (auto& each : values) all.push_back(std::move(*each));
    return all;
  }
};

template <class R, class Op>
struct merged_result {
  static constexpr std::size_t bytes = sizeof(R);
  static constexpr bool merges = true;
  explicit merged_result(Op chosen) : op(std::move(chosen)) {}
  Op op;
  std::vector<std::optional<R>> values;

  void make_room(std::size_t members) { values.resize(members); }
  template <class F>
  void store(int member, F&& function) {
    values[static_cast<std::size_t>(member)].emplace(function());
  }
  /// Merges nothing for members whose call threw: they have no result.
  void merge(int member, int child) {
    auto& here = values[static_cast<std::size_t>(member)];
    auto& there = values[static_cast<std::size_t>(child)];
    if (here && there) here.emplace(op(std::move(*here), std::move(*there)));
  }
  R take(int root) { return std::move(*values[static_cast<std::size_t>(root)]); }
};

/// A group call whose caller waits; lies in the caller's frame.
template <class T, class F, class Merge>
class awaited_group_call final : public group_call_with<awaited_group_call<T, F, Merge>, T, F> {
  using base = group_call_with<awaited_group_call, T, F>;

 public:
  awaited_group_call(const std::shared_ptr<const group_state<T>>& on, F closure, Merge merge)
      : base(on, current_activation(), {&outcome_, sizeof(F), Merge::bytes, Merge::merges},
             std::move(closure)),
        merge_(std::move(merge)) {
    merge_.make_room(on->cells.size());
    outcome_.asked_by = current_executor() == &this->home() ? this->home().worker_index() : -1;
  }
  auto run() {
    this->start(true);
    outcome_.take();
    if (std::exception_ptr why = this->failure()) std::rethrow_exception(std::move(why));
    return merge_.take(this->layout().tree.root);
  }

 private:
  friend base;
  void call_member(int member, const F& closure, void* object) {
    merge_.store(member, [&]() -> decltype(auto) { return closure(*static_cast<T*>(object)); });
  }
  void merge_child(int member, int child) override { merge_.merge(member, child); }

  Merge merge_;
  awaited_reply<void> outcome_;
};

/// A group call whose caller holds a future; deletes itself.
template <class T, class F>
class detached_group_call final : public group_call_with<detached_group_call<T, F>, T, F> {
  using base = group_call_with<detached_group_call, T, F>;

 public:
  static future<void> start(const std::shared_ptr<const group_state<T>>& on, F closure) {
    std::unique_ptr<detached_group_call> call(new detached_group_call(on, std::move(closure)));
    state_ptr<future_state<void>> owned(call->outcome_);
    call->base::start(false);
    static_cast<void>(call.release());
    return future<void>(std::move(owned));
  }

 private:
  friend base;
  friend std::default_delete<detached_group_call>;
  detached_group_call(const std::shared_ptr<const group_state<T>>& on, F closure)
      : base(on, nullptr, {nullptr, sizeof(F), 0, false}, std::move(closure)) {
    outcome_->asked_by = current_executor() == &this->home() ? this->home().worker_index() : -1;
  }
  ~detached_group_call() = default;
  void call_member(int, const F& closure, void* object) { closure(*static_cast<T*>(object)); }
  void merge_child(int, int) override {}
  void end() noexcept override {
    future_reply<void>* const outcome = outcome_;
    executor& home = this->home();
    if (std::exception_ptr why = this->failure()) {
      outcome->store_failure(*outcome, std::move(why));
    } else {
      outcome->emplace();
    }
    delete this;
    home.messages().answer(*outcome, outcome->tell, 0);
  }

  future_reply<void>* outcome_ = new future_reply<void>;
};

}  // namespace creek::detail
