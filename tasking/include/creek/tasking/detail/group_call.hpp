// SPDX-License-Identifier: Apache-2.0
// A call of all members of a group: one node per member, touched on that member's worker alone
// until its parent takes the result. No waiter is woken before the last result has come.
#pragma once

#include <atomic>
#include <cstddef>
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

template <class T>
struct group_state {
  std::vector<remote<T>> members;
  std::vector<remote_cell*> cells;  ///< the members' cells
  group_tree tree;
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

 protected:
  /// `chain`: the caller's chain of activations, if it waits.
  group_call(const std::vector<remote_cell*>& cells, const group_tree& tree,
             const activation* chain, std::size_t argument_bytes, std::size_t result_bytes);
  ~group_call() = default;

  void start();
  /// Calls the member and keeps the result; may throw. Runs on the member's worker.
  virtual void call_member(int member, void* object) = 0;
  /// Merges the results of a child and of those below it. Runs on the member's worker.
  virtual void merge_child(int member, int child) = 0;
  /// Ends the call, which may be gone afterwards. Runs on the root's worker.
  virtual void end() noexcept = 0;
  /// Returns the exception of the first member that threw, or null.
  std::exception_ptr failure() const noexcept;

 private:
  struct alignas(64) node : reply {
    group_call* call = nullptr;
    int member = 0;
    std::atomic<int> missing{0};  ///< children that have not ended, and the member's own call
    std::exception_ptr thrown;
  };
  /// Header of a message: the call and the member that it is about.
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

  static route route_of(const std::byte* data) noexcept;
  static void run_arrival(std::byte* data) noexcept;
  static void run_member(std::byte* data) noexcept;
  static void run_child_ended(std::byte* data) noexcept;
  void send(int member, void (*run)(std::byte*) noexcept, int about, std::size_t load_bytes);
  void one_ended(int member) noexcept;
  void merge_children(int member) noexcept;
  remote_cell& cell(int member) const noexcept { return *cells_[static_cast<std::size_t>(member)]; }
  node& at(int member) const noexcept { return nodes_[static_cast<std::size_t>(member)]; }
  const std::vector<int>& children(int member) const noexcept {
    return tree_.children[static_cast<std::size_t>(member)];
  }

  const std::vector<remote_cell*>& cells_;
  const group_tree& tree_;
  std::size_t argument_bytes_, result_bytes_;
  std::unique_ptr<node[]> nodes_;
};

// --- What becomes of the results ----------------------------------------------------------------

struct no_result {
  using value = void;
  static constexpr std::size_t bytes = 0;
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
class awaited_group_call final : public group_call {
 public:
  awaited_group_call(const std::shared_ptr<const group_state<T>>& on, F closure, Merge merge)
      : group_call(on->cells, on->tree, current_activation(), sizeof(F), Merge::bytes),
        closure_(std::move(closure)),
        merge_(std::move(merge)),
        state_(on) {
    merge_.make_room(on->cells.size());
    const executor& home = on->cells.front()->place().home;
    outcome_.asked_by = current_executor() == &home ? home.worker_index() : -1;
  }
  auto run() {
    for (const remote<T>& each : state_->members) require_alive(*cell_of(each), "group call");
    start();
    outcome_.take();
    if (std::exception_ptr why = failure()) std::rethrow_exception(std::move(why));
    return merge_.take(state_->tree.root);
  }

 private:
  void call_member(int member, void* object) override {
    merge_.store(member, [&]() -> decltype(auto) { return closure_(*static_cast<T*>(object)); });
  }
  void merge_child(int member, int child) override { merge_.merge(member, child); }
  void end() noexcept override {
    state_->cells.front()->place().home.messages().answer(outcome_, outcome_.tell, Merge::bytes);
  }

  const F closure_;  // first: on one line with the other data that members read, if it is short
  Merge merge_;
  std::shared_ptr<const group_state<T>> state_;
  awaited_reply<void> outcome_;
};

/// A group call whose caller holds a future; deletes itself.
template <class T, class F>
class detached_group_call final : public group_call {
 public:
  static future<void> start(const std::shared_ptr<const group_state<T>>& on, F closure) {
    for (const remote<T>& each : on->members) require_alive(*cell_of(each), "group call");
    std::unique_ptr<detached_group_call> call(new detached_group_call(on, std::move(closure)));
    state_ptr<future_state<void>> owned(call->outcome_);
    call->group_call::start();
    static_cast<void>(call.release());
    return future<void>(std::move(owned));
  }

 private:
  friend std::default_delete<detached_group_call>;
  detached_group_call(const std::shared_ptr<const group_state<T>>& on, F closure)
      : group_call(on->cells, on->tree, nullptr, sizeof(F), 0),
        state_(on),
        closure_(std::move(closure)) {
    const executor& home = on->cells.front()->place().home;
    outcome_->asked_by = current_executor() == &home ? home.worker_index() : -1;
  }
  void call_member(int, void* object) override { closure_(*static_cast<T*>(object)); }
  void merge_child(int, int) override {}
  void end() noexcept override {
    future_reply<void>* const outcome = outcome_;
    executor& home = state_->cells.front()->place().home;
    if (std::exception_ptr why = failure()) {
      outcome->store_failure(*outcome, std::move(why));
    } else {
      outcome->emplace();
    }
    delete this;
    home.messages().answer(*outcome, outcome->tell, 0);
  }

  std::shared_ptr<const group_state<T>> state_;
  const F closure_;
  future_reply<void>* outcome_ = new future_reply<void>;
};

}  // namespace creek::detail
