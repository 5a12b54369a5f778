// SPDX-License-Identifier: Apache-2.0
// Graphs of tasks: building them, checking them, and the run. The protocol: README.md of this
// module, "Graphs".
#include <creek/tasking/graph.hpp>

#include <algorithm>
#include <cassert>
#include <exception>
#include <optional>

#include <creek/core/decimal.hpp>
#include <creek/core/error.hpp>
#include <creek/core/threads/sanitizer.hpp>
#include <creek/tasking/spawn.hpp>

namespace creek {

namespace detail {

/// One run, or several one after the other; lies in the frame of the call that runs the graph.
class graph_run {
 public:
  explicit graph_run(graph_run* outer) noexcept : outer_(outer) {}

  /// Keeps nodes that have not begun from running.
  void stop() noexcept { stopped_.store(true, std::memory_order_relaxed); }
  bool is_stopped() const noexcept {
    return stopped_.load(std::memory_order_relaxed) || (outer_ != nullptr && outer_->is_stopped());
  }
  /// Runs `sources` and all that follows, and returns when nothing is left. Returns the first
  /// exception of a node.
  std::exception_ptr run_from(const std::vector<graph_node*>& sources, const task_type& type);
  static graph_run* of(const graph& running) noexcept {
    return running.running_.load(std::memory_order_relaxed);
  }

 private:
  struct chain_task;

  void run_chain(graph_node* first, task_context& context) noexcept;
  void run_stolen_chain(graph_node* first) noexcept;
  graph_node* run_node(graph_node& node, task_context& context) noexcept;
  graph_node* run_successors(graph_node& node, std::size_t choice, task_context& context);
  void spawn_chain(graph_node& first, task_context& context);
  void fail(std::exception_ptr failure) noexcept;

  std::atomic<bool> stopped_{false};
  graph_run* const outer_;
  root_scope root_;
  error_slot error_;
};

/// A chain as a task: a node, its first ready successor, and so on.
struct graph_run::chain_task {
  graph_run* run;
  task_context* context;
  graph_node* first;

  void operator()() const noexcept {
    const task_stack* const here = current_stack;
    if (here == nullptr || context->owned_by(here)) {
      run->run_chain(first, *context);
    } else {
      run->run_stolen_chain(first);
    }
  }
};

namespace {

/// Makes the counter ready for the next round. Called by the only thread that starts the node.
void rearm(graph_node& node) noexcept {
  node.missing.store(node.strong_in, std::memory_order_relaxed);
}

/// Counts the end of a strong predecessor; returns whether it was the last one.
bool is_last_predecessor(graph_node& node) noexcept {
  if (node.strong_in == 1) return true;
  tell_others();
  // The last one sees that it is the last and need not write.
  if (node.missing.load(std::memory_order_acquire) != 1) {
    sanitizer::releases(&node.missing);
    if (node.missing.fetch_sub(1, std::memory_order_acq_rel) != 1) return false;
  }
  sanitizer::acquired(&node.missing);
  follow_others();
  rearm(node);
  return true;
}

}  // namespace

void graph_run::fail(std::exception_ptr failure) noexcept {
  error_.store(std::move(failure));
  stop();
}

void graph_run::spawn_chain(graph_node& first, task_context& context) {
  spawn_into<ending::unframed>(context, chain_task{this, &context, &first});
}

/// Starts the successors of `node` that are ready: returns the first of them and spawns the others,
/// so that a worker alone runs them in their order.
graph_node* graph_run::run_successors(graph_node& node, std::size_t choice, task_context& context) {
  graph_node* next = nullptr;
  const auto start = [&](graph_node& ready) {
    if (next != nullptr) spawn_chain(*next, context);
    next = &ready;
  };
  const auto jump = [&](std::size_t index) {
    if (index >= node.successors.size()) return;
    rearm(*node.successors[index]);
    start(*node.successors[index]);
  };
  if (!node.is_weak()) [[likely]] {
    for (std::size_t i = node.successors.size(); i-- > 0;) {
      if (is_last_predecessor(*node.successors[i])) start(*node.successors[i]);
    }
  } else if (node.what == graph_node::kind::condition) {
    jump(choice);
  } else {
    // A chain that is started may lead back to this node, which then chooses again.
    const auto chosen = std::move(static_cast<choosing_node&>(node).chosen);
    for (std::size_t i = chosen.size(); i-- > 0;) jump(chosen[i]);
  }
  return next;
}

graph_node* graph_run::run_node(graph_node& node, task_context& context) noexcept {
  std::size_t choice = graph_node::no_choice;
  error_slot error;
  const auto call = [&] { choice = node.call(); };
  run_framed<ending::strict>(call, current_stack, nullptr, &node.type, error);
  if (std::exception_ptr failure = error.take()) [[unlikely]] {
    fail(std::move(failure));
    return nullptr;
  }
  try {
    return run_successors(node, choice, context);
  } catch (...) {  // no memory for a task
    fail(std::current_exception());
    return nullptr;
  }
}

void graph_run::run_chain(graph_node* first, task_context& context) noexcept {
  for (graph_node* node = first; node != nullptr && !is_stopped();) node = run_node(*node, context);
}

/// Runs a chain on another strand than the one that spawned it. What it spawns is counted by its
/// own strand, so that each theft costs a few atomic operations and each task none.
void graph_run::run_stolen_chain(graph_node* first) noexcept {
  task_frame frame(&root_, &first->type);
  try {
    task_context& context = context_of(frame.scope());
    run_chain(first, context);
    while (current_stack->run_newest(frame.scope().base, &context)) {
    }
  } catch (...) {  // no memory for a context
    fail(std::current_exception());
  }
  frame.finish();
}

std::exception_ptr graph_run::run_from(const std::vector<graph_node*>& sources,
                                       const task_type& type) {
  task_frame frame(&root_, &type);
  task_context* context = nullptr;
  try {
    context = &context_of(frame.scope());
    for (std::size_t i = sources.size(); i-- > 1;) spawn_chain(*sources[i], *context);
  } catch (...) {
    fail(std::current_exception());
  }
  if (context != nullptr) {
    run_chain(sources.front(), *context);
    context->wait();
  }
  frame.finish();
  (void)root_.wait_all();
  return error_.take();
}

graph_node::graph_node(graph& of, kind kind_of, const char* type_name)
    : index(static_cast<std::uint32_t>(of.nodes_.size() - 1)),
      what(kind_of),
      successors(&of.memory_),
      type{nullptr, type_name},
      owner(of) {
  of.is_prepared_ = false;
}

}  // namespace detail

using detail::graph_node;
using detail::graph_run;

class graph::module_node final : public graph_node {
 public:
  module_node(graph& of, graph& inner)
      : graph_node(of, kind::module, "[with F = a graph]"), inner_(inner) {}
  std::size_t call() override {
    bool again = true;
    inner_.run_while([](void* first) { return std::exchange(*static_cast<bool*>(first), false); },
                     &again, {}, graph_run::of(owner));
    return no_choice;
  }
  const graph& inner() const noexcept { return inner_; }

 private:
  graph& inner_;
};

namespace {

std::string text_of(const graph_node& node) {
  return node.name.empty() ? "node " + decimal(node.index) : node.name;
}

}  // namespace

// --- Building -----------------------------------------------------------------------------------

graph::graph(std::string name) : name_(std::move(name)) {}

graph::~graph() {
  assert(running_.load(std::memory_order_relaxed) == nullptr);
  destroy_nodes();
}

void graph::destroy_nodes() noexcept {
  for (graph_node* each : nodes_) each->~graph_node();
  nodes_.clear();
}

void graph::clear() {
  require_idle("clear");
  destroy_nodes();
  memory_.release();
  is_prepared_ = false;
}

std::string graph::text() const {
  return name_.empty() ? "the graph" : "the graph '" + name_ + "'";
}

void graph::require_idle(const char* what) {
  if (running_.load(std::memory_order_relaxed) == nullptr) return;
  throw usage_error(std::string("graph: ") + what + " was called while " + text() +
                    " runs; change it before or after the run");
}

graph_node& graph::node::used() const {
  if (node_ == nullptr) throw usage_error("graph: this handle names no node");
  return *node_;
}

graph::node graph::node::name(std::string name) const {
  graph_node& named = used();
  named.owner.require_idle("name");
  named.name = std::move(name);
  named.type.name = named.name.c_str();
  return *this;
}

void graph::node::link(node from, node to) {
  graph_node &first = from.used(), &second = to.used();
  graph& owner = first.owner;
  if (&owner != &second.owner) {
    throw usage_error("graph: '" + text_of(first) + "' and '" + text_of(second) +
                      "' belong to two graphs; an edge joins nodes of one");
  }
  owner.require_idle("precede or succeed");
  first.successors.push_back(&second);
  owner.is_prepared_ = false;
}

void graph::linearize(std::span<const node> nodes) {
  for (std::size_t i = 1; i < nodes.size(); ++i) node::link(nodes[i - 1], nodes[i]);
}

graph::node graph::composed_of(graph& inner) {
  if (&inner == this || inner.contains(*this)) {
    throw usage_error("graph: " + text() + " cannot be composed of itself");
  }
  return make<module_node>(inner);
}

bool graph::contains(const graph& other) const {
  return std::any_of(nodes_.begin(), nodes_.end(), [&](const graph_node* each) {
    if (each->what != graph_node::kind::module) return false;
    const graph& inner = static_cast<const module_node*>(each)->inner();
    return &inner == &other || inner.contains(other);
  });
}

// --- Checking -----------------------------------------------------------------------------------

/// Counts the predecessors of each node, and refuses a graph that could not run.
void graph::prepare() {
  has_conditions_ = false;
  sources_.clear();
  joins_.clear();
  for (graph_node* each : nodes_) each->strong_in = each->weak_in = 0;
  for (const graph_node* each : nodes_) {
    has_conditions_ |= each->is_weak();
    for (graph_node* after : each->successors)
      ++(each->is_weak() ? after->weak_in : after->strong_in);
  }
  for (graph_node* each : nodes_) {
    if (each->strong_in + each->weak_in == 0) sources_.push_back(each);
    if (each->strong_in > 1) joins_.push_back(each);
  }
  refuse_strong_cycle();
  if (sources_.empty()) {
    throw usage_error("graph: no node of " + text() +
                      " can be the first, as each has a predecessor (" + text_of(*nodes_.front()) +
                      " among them)");
  }
  for (graph_node* each : joins_) detail::rearm(*each);
  is_prepared_ = true;
}

/// Takes nodes without strong predecessors away until none is left; what remains has a cycle.
void graph::refuse_strong_cycle() {
  std::vector<std::uint32_t> missing(nodes_.size());
  std::vector<graph_node*> ready;
  for (graph_node* each : nodes_) {
    missing[each->index] = each->strong_in;
    if (each->strong_in == 0) ready.push_back(each);
  }
  std::size_t taken = 0;
  for (; taken < ready.size(); ++taken) {
    if (ready[taken]->is_weak()) continue;
    for (graph_node* after : ready[taken]->successors) {
      if (--missing[after->index] == 0) ready.push_back(after);
    }
  }
  if (taken == nodes_.size()) return;
  // Each remaining node has a remaining strong predecessor: going back leads into a cycle.
  std::vector<graph_node*> before(nodes_.size());
  graph_node* at = nullptr;
  for (graph_node* each : nodes_) {
    if (missing[each->index] == 0 || each->is_weak()) continue;
    for (graph_node* after : each->successors) {
      if (missing[after->index] != 0) before[(at = after)->index] = each;
    }
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) at = before[at->index];
  std::string cycle = text_of(*at);
  const graph_node* const last = at;
  do {
    at = before[at->index];
    cycle = text_of(*at) + " -> " + cycle;
  } while (at != last);
  throw usage_error("graph: strong edges of " + text() +
                    " form a cycle, which cannot begin: " + cycle + "; a loop needs a condition");
}

// --- Running ------------------------------------------------------------------------------------

void graph::run_while(bool (*again)(void*), void* argument, std::stop_token stop,
                      graph_run* outer) {
  detail::require_executor("graph::run");
  graph_run run(outer);
  graph_run* idle = nullptr;
  if (!running_.compare_exchange_strong(idle, &run, std::memory_order_acquire)) {
    throw usage_error("graph: " + text() +
                      " is run while it runs; runs of one graph follow each other");
  }
  struct run_end {
    std::atomic<graph_run*>& running;
    ~run_end() { running.store(nullptr, std::memory_order_release); }
  } const end{running_};
  if (!is_prepared_ && !nodes_.empty()) prepare();
  const auto request = [&run] { run.stop(); };
  std::optional<std::stop_callback<decltype(request)>> callback;
  if (stop.stop_possible()) callback.emplace(std::move(stop), request);
  const detail::task_type type{nullptr, "[with F = a graph]"};
  while (!run.is_stopped() && again(argument)) {
    if (nodes_.empty()) continue;
    std::exception_ptr failure = run.run_from(sources_, type);
    // A branch that was not taken leaves counters of the nodes behind it.
    if (has_conditions_ || run.is_stopped()) {
      for (graph_node* each : joins_) detail::rearm(*each);
    }
    if (failure) std::rethrow_exception(std::move(failure));
  }
}

// --- Drawing ------------------------------------------------------------------------------------

namespace {

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

}  // namespace

std::string graph::dot() const {
  std::vector<const graph*> drawn{this};
  std::string result = "digraph " + quoted(name_) + " {\n";
  for (std::size_t number = 0; number < drawn.size(); ++number) {
    const graph& shown = *drawn[number];
    const auto id = [&](const graph_node& each) {
      return "n" + decimal(number) + "_" + decimal(each.index);
    };
    if (number != 0) {
      result += "subgraph cluster_" + decimal(number) + " {\nlabel=" + quoted(shown.name_) + ";\n";
    }
    for (const graph_node* each : shown.nodes_) {
      std::string label = text_of(*each);
      const char* shape = each->is_weak() ? ", shape=diamond" : "";
      if (each->what == graph_node::kind::module) {
        const graph& inner = static_cast<const module_node*>(each)->inner();
        if (std::find(drawn.begin(), drawn.end(), &inner) == drawn.end()) drawn.push_back(&inner);
        shape = ", shape=box3d";
        label += ": " + inner.text();
      }
      result += id(*each) + " [label=" + quoted(label) + shape + "];\n";
      for (std::size_t i = 0; i < each->successors.size(); ++i) {
        result += id(*each) + " -> " + id(*each->successors[i]);
        if (each->is_weak()) result += " [style=dashed, label=\"" + decimal(i) + "\"]";
        result += ";\n";
      }
    }
    if (number != 0) result += "}\n";
  }
  return result + "}\n";
}

}  // namespace creek
