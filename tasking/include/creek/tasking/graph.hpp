// SPDX-License-Identifier: Apache-2.0
// A task graph that is built once and run many times: nodes, edges, conditions and loops, with the
// words of Taskflow [Huang 2022]. How a run counts: README.md of this module, "Graphs".
#pragma once

#include <array>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory_resource>
#include <new>
#include <ranges>
#include <span>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <creek/tasking/detail/task_name.hpp>
#include <creek/tasking/ext/task_slot.hpp>

namespace creek {

class graph;

namespace detail {

class graph_run;

/// A node: its callable is in the class that derives from it. What a run touches comes first.
class graph_node {
 public:
  enum class kind : std::uint8_t { task, condition, multi_condition, module };

  graph_node(graph& of, kind kind_of, const char* type_name);
  graph_node(const graph_node&) = delete;
  graph_node& operator=(const graph_node&) = delete;
  virtual ~graph_node() = default;
  /// Runs the callable. A condition returns the index of the successor to run, others no_choice.
  virtual std::size_t call() = 0;
  static constexpr std::size_t no_choice = static_cast<std::size_t>(-1);

  /// Strong predecessors that have not ended yet in this round.
  std::atomic<std::uint32_t> missing{0};
  std::uint32_t strong_in = 0;
  std::uint32_t weak_in = 0;
  std::uint32_t index;
  kind what;
  bool is_weak() const noexcept { return what == kind::condition || what == kind::multi_condition; }
  std::pmr::vector<graph_node*> successors;
  task_type type;  ///< its name in reports: of the node, or of the closure if the node has none
  graph& owner;
  std::string name;
};

template <class F>
class task_node final : public graph_node {
 public:
  template <class G>
  task_node(graph& of, G&& function)
      : graph_node(of, kind::task, task_name<F>()), function_(std::forward<G>(function)) {}
  std::size_t call() override {
    std::invoke(function_);
    return no_choice;
  }

 private:
  F function_;
};

template <class F>
class condition_node final : public graph_node {
 public:
  template <class G>
  condition_node(graph& of, G&& function)
      : graph_node(of, kind::condition, task_name<F>()), function_(std::forward<G>(function)) {}
  std::size_t call() override { return static_cast<std::size_t>(std::invoke(function_)); }

 private:
  F function_;
};

/// Keeps what its callable chose, for the run.
class choosing_node : public graph_node {
 public:
  std::vector<std::size_t> chosen;

 protected:
  using graph_node::graph_node;
};

template <class R>
concept range_of_integers = std::ranges::input_range<R> &&
    std::integral<std::remove_cvref_t<std::ranges::range_reference_t<R>>>;

template <class F>
class multi_condition_node final : public choosing_node {
 public:
  template <class G>
  multi_condition_node(graph& of, G&& function)
      : choosing_node(of, kind::multi_condition, task_name<F>()),
        function_(std::forward<G>(function)) {}
  std::size_t call() override {
    chosen.clear();
    for (const auto picked : std::invoke(function_)) {
      chosen.push_back(static_cast<std::size_t>(picked));
    }
    return no_choice;
  }

 private:
  F function_;
};

}  // namespace detail

/// A set of nodes with edges between them. Build it once, then run it, many times if need be, from
/// any task, one run at a time; a run allocates nothing on the host backend, but for the choices of
/// multi_condition(). Each node is a strict task: it may fork, spawn, wait and run other graphs,
/// and its successors begin when all that it spawned has ended. Throws usage_error if it is changed
/// while it runs. Nodes live as long as the graph, or until clear().
class graph {
 public:
  /// A handle to a node; cheap to copy. A default-made one names no node and cannot be used.
  class node {
   public:
    node() noexcept = default;
    /// Adds edges from this node to `after`. The edges of a condition are weak: it picks one of its
    /// successors, counted from 0 in the order of these calls. Other edges are strong: a node
    /// begins when all its strong predecessors have ended.
    template <std::same_as<node>... Nodes>
    node precede(Nodes... after) const {
      (link(*this, after), ...);
      return *this;
    }
    /// Adds edges from `before` to this node.
    template <std::same_as<node>... Nodes>
    node succeed(Nodes... before) const {
      (link(before, *this), ...);
      return *this;
    }
    /// Names the node, for messages, reports of tasks that wait, and dot().
    node name(std::string name) const;
    const std::string& name() const { return used().name; }
    std::size_t successor_count() const { return used().successors.size(); }
    friend bool operator==(node, node) noexcept = default;

   private:
    friend class graph;
    explicit node(detail::graph_node& named) noexcept : node_(&named) {}
    static void link(node from, node to);
    detail::graph_node& used() const;
    detail::graph_node* node_ = nullptr;
  };

  explicit graph(std::string name = {});
  graph(const graph&) = delete;
  graph& operator=(const graph&) = delete;
  ~graph();

  /// Adds a node for each function, in this order, and returns the node, or an array of several.
  template <class F, class... Others>
  auto emplace(F&& f, Others&&... others) {
    if constexpr (sizeof...(Others) == 0) {
      using closure = std::decay_t<F>;
      static_assert(std::is_invocable_v<closure&>, "a node of a graph is called without arguments");
      using result = std::invoke_result_t<closure&>;
      static_assert(!std::integral<std::remove_cvref_t<result>>,
                    "emplace drops what a function returns: give one that picks a successor to "
                    "condition()");
      static_assert(!detail::range_of_integers<result>,
                    "emplace drops what a function returns: give one that picks several successors "
                    "to multi_condition()");
      return make<detail::task_node<closure>>(std::forward<F>(f));
    } else {
      return std::array<node, 1 + sizeof...(Others)>{emplace(std::forward<F>(f)),
                                                     emplace(std::forward<Others>(others))...};
    }
  }
  /// Adds a condition: `f` returns the index of the successor to run next. This successor begins at
  /// once, whatever its other predecessors do; if there is none of this index, none does.
  template <class F>
  node condition(F&& f) {
    using closure = std::decay_t<F>;
    static_assert(std::is_invocable_v<closure&>, "a node of a graph is called without arguments");
    static_assert(std::integral<std::remove_cvref_t<std::invoke_result_t<closure&>>>,
                  "a condition returns an integer: the index of the successor to run");
    return make<detail::condition_node<closure>>(std::forward<F>(f));
  }
  /// Adds a condition whose `f` returns a range of indexes: of all successors to run next.
  template <class F>
  node multi_condition(F&& f) {
    using closure = std::decay_t<F>;
    static_assert(std::is_invocable_v<closure&>, "a node of a graph is called without arguments");
    static_assert(detail::range_of_integers<std::invoke_result_t<closure&>>,
                  "a multi_condition returns a range of integers: the indexes of the successors to "
                  "run");
    return make<detail::multi_condition_node<closure>>(std::forward<F>(f));
  }
  /// Adds a node that runs all of `inner`, which must live as long as this graph. Throws
  /// usage_error if `inner` is this graph or contains it. `inner` runs once at a time, as every
  /// graph does.
  node composed_of(graph& inner);
  /// Makes each node precede the next one.
  void linearize(std::span<const node> nodes);
  void linearize(std::initializer_list<node> nodes) { linearize(std::span(nodes)); }

  /// Runs the graph and returns when no node is left to run: begins with the nodes that have no
  /// predecessor at all. Rethrows the first exception of a node; after an exception, and once a
  /// stop is requested of `stop`, no further node begins. After a stop it returns normally: ask the
  /// token. Throws usage_error outside of a runtime, if the graph runs already, if no node can be
  /// the first, or if strong edges form a cycle; the message names the nodes.
  void run(std::stop_token stop = {}) { run_n(1, std::move(stop)); }
  /// Runs the graph `times` times, one run after the other.
  void run_n(std::size_t times, std::stop_token stop = {}) {
    run_until([&times] { return times-- == 0; }, std::move(stop));
  }
  /// Runs the graph until predicate() returns true; it is asked before each run.
  template <std::predicate Predicate>
  void run_until(Predicate&& predicate, std::stop_token stop = {}) {
    using callable = std::remove_reference_t<Predicate>;
    run_while([](void* asked) { return !std::invoke(*static_cast<callable*>(asked)); },
              const_cast<void*>(static_cast<const volatile void*>(std::addressof(predicate))),
              std::move(stop), nullptr);
  }
  /// Does the same as run(): a graph can be given to runtime::run(), and std::ref(graph) to
  /// spawn().
  void operator()() { run(); }

  std::size_t size() const noexcept { return nodes_.size(); }
  bool empty() const noexcept { return nodes_.empty(); }
  const std::string& name() const noexcept { return name_; }
  /// Removes all nodes.
  void clear();
  /// Returns the graph as text for Graphviz: conditions are diamonds, weak edges dashed, and each
  /// graph that this one is composed of a box of its own.
  std::string dot() const;

 private:
  friend class detail::graph_node;
  friend class detail::graph_run;
  class module_node;

  template <class Node, class F>
  node make(F&& f) {
    require_idle("emplace");
    nodes_.push_back(nullptr);
    try {
      nodes_.back() =
          ::new (memory_.allocate(sizeof(Node), alignof(Node))) Node(*this, std::forward<F>(f));
    } catch (...) {
      nodes_.pop_back();
      throw;
    }
    return node(*nodes_.back());
  }
  void run_while(bool (*again)(void*), void* argument, std::stop_token stop,
                 detail::graph_run* outer);
  void prepare();
  void refuse_strong_cycle();
  void destroy_nodes() noexcept;
  void require_idle(const char* what);
  bool contains(const graph& other) const;
  std::string text() const;

  std::pmr::monotonic_buffer_resource memory_;
  std::vector<detail::graph_node*> nodes_;
  std::vector<detail::graph_node*> sources_;  ///< without any predecessor
  std::vector<detail::graph_node*> joins_;    ///< with more than one strong predecessor
  bool is_prepared_ = false;
  bool has_conditions_ = false;
  std::atomic<detail::graph_run*> running_{nullptr};
  std::string name_;
};

}  // namespace creek
