// SPDX-License-Identifier: Apache-2.0
// The shapes of groups, and how a call of all members travels.
#include <creek/tasking/detail/group_call.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <string>

#include <creek/core/charge.hpp>
#include <creek/core/decimal.hpp>
#include <creek/core/error.hpp>
#include <creek/core/threads/sanitizer.hpp>
#include <creek/tasking/remote_group.hpp>

namespace creek::detail {

namespace {

using kind = group_shape::kind;

/// Links `child` to `parent`: what concerns it and its subtree passes through `parent`.
void link(group_tree& tree, int parent, int child) {
  tree.parent[static_cast<std::size_t>(child)] = parent;
  tree.children[static_cast<std::size_t>(parent)].push_back(child);
}

/// Links members begin .. end - 1 under the first of them, in ranges as equal as possible: as
/// children are merged in order, results are merged in the order of the members.
void link_tree(group_tree& tree, int begin, int end, int arity) {
  int first = begin + 1;
  for (int left = std::min(arity, end - first); left > 0; --left) {
    const int next = first + (end - first + left - 1) / left;
    link(tree, begin, first);
    link_tree(tree, first, next, arity);
    first = next;
  }
}

void link_binomial(group_tree& tree, int begin, int end) {
  while (end - begin > 1) {
    const int middle = begin + (end - begin + 1) / 2;
    link(tree, begin, middle);
    link_binomial(tree, middle, end);
    end = middle;
  }
  auto& children = tree.children[static_cast<std::size_t>(begin)];
  std::sort(children.begin(), children.end());
}

/// Returns the worker's place on the mesh; without a mesh, its place in a square of all workers.
mesh_place place_of(const executor_traits& home, std::size_t worker) noexcept {
  if (!home.mesh.empty()) return home.mesh[worker];
  const auto columns = static_cast<std::size_t>(std::ceil(std::sqrt(home.worker_count)));
  return {static_cast<int>(worker % columns), static_cast<int>(worker / columns)};
}

/// Links along the mesh. The first member of each place stands for the others there; those of a
/// column form a chain from the one nearest to the root's row, and these a chain along the row.
void link_mesh(group_tree& tree, const executor& home, const std::vector<core_id>& cores) {
  std::map<std::pair<int, int>, int> at_place;  // column, row
  const auto place = [&](int member) {
    const mesh_place where =
        place_of(home.traits(), cores[static_cast<std::size_t>(member)].index());
    return std::pair{where.column, where.row};
  };
  for (int member = 0; member < static_cast<int>(cores.size()); ++member) {
    const auto [found, is_first] = at_place.try_emplace(place(member), member);
    if (!is_first) link(tree, found->second, member);
  }
  tree.root = at_place.begin()->second;
  int head = -1, above = -1, column = -1;
  for (const auto& [where, member] : at_place) {
    if (where.first != column) {
      if (head >= 0) link(tree, head, member);
      head = member;
    } else {
      link(tree, above, member);
    }
    column = where.first;
    above = member;
  }
}

}  // namespace

std::vector<core_id> all_workers(const executor& home) {
  std::vector<core_id> cores;
  for (unsigned i = 0; i < home.traits().worker_count; ++i)
    cores.push_back(core_id{static_cast<int>(i)});
  return cores;
}

group_tree make_group_tree(const executor& home, const std::vector<core_id>& cores, int form,
                           int arity) {
  if (cores.empty()) throw usage_error("make_group: give at least one core");
  for (const core_id core : cores) checked_worker(home, core, "make_group");
  const auto size = static_cast<int>(cores.size());
  group_tree tree;
  tree.parent.assign(cores.size(), -1);
  tree.children.resize(cores.size());
  switch (static_cast<kind>(form)) {
    case kind::tree:
      if (arity < 1) {
        throw usage_error("make_group: a tree needs an arity of at least 1, not " + decimal(arity));
      }
      link_tree(tree, 0, size, arity);
      break;
    case kind::binomial:
      link_binomial(tree, 0, size);
      break;
    case kind::flat:
      for (int i = 1; i < size; ++i) link(tree, 0, i);
      break;
    case kind::chain:
      for (int i = 1; i < size; ++i) link(tree, i - 1, i);
      break;
    case kind::mesh:
      link_mesh(tree, home, cores);
      break;
  }
  return tree;
}

// --- Nodes --------------------------------------------------------------------------------------

/// The part of a member in a call. Its first line hardly changes: every worker may read it.
struct alignas(64) group_call::node : reply {
  group_nodes* nodes = nullptr;
  remote_cell* cell = nullptr;
  const std::vector<int>* children = nullptr;
  int member = 0;
  int parent = -1;

  /// Children that have not ended, and the member's own call. A leaf does not use it. Whoever
  /// counts the last one sets it for the next call.
  alignas(64) std::atomic<int> missing{0};
  std::exception_ptr thrown;

  void expect_all() noexcept {
    missing.store(1 + static_cast<int>(children->size()), std::memory_order_relaxed);
  }
};

/// The nodes of a call, one for each member.
class group_nodes {
 public:
  using node = group_call::node;

  /// `like`: what the nodes do as replies.
  group_nodes(const group_layout& on, const reply& like)
      : by_message(!on.cells.front()->place().home.traits().shares_memory),
        each(std::make_unique<node[]>(on.cells.size())) {
    for (std::size_t i = 0; i < on.cells.size(); ++i) {
      node& made = each[i];
      static_cast<reply&>(made) = like;
      made.nodes = this;
      made.cell = on.cells[i];
      made.children = &on.tree.children[i];
      made.member = static_cast<int>(i);
      made.parent = on.tree.parent[i];
      made.expect_all();
    }
  }

  node& at(int member) const noexcept { return each[static_cast<std::size_t>(member)]; }
  executor& home() const noexcept { return each[0].cell->place().home; }

  const bool by_message;  ///< a child that has ended sends a message to its parent
  group_call::properties of_call;
  const std::unique_ptr<node[]> each;
  alignas(64) std::atomic<bool> any_thrown{false};
};

group_layout::~group_layout() {
  delete spare.load(std::memory_order_acquire);
}

namespace {

/// Keeps the nodes of a call that has ended.
void keep_nodes(const group_layout& on, std::unique_ptr<group_nodes> nodes) noexcept {
  if (nodes->any_thrown.load(std::memory_order_relaxed)) {
    for (std::size_t i = 0; i < on.cells.size(); ++i) nodes->each[i].thrown = nullptr;
    nodes->any_thrown.store(false, std::memory_order_relaxed);
  }
  sanitizer::releases(&on.spare);
  nodes.reset(on.spare.exchange(nodes.release(), std::memory_order_acq_rel));
}

}  // namespace

// --- A call -------------------------------------------------------------------------------------

/// Throws usage_error if a member is gone: then its runtime may be gone, too.
std::unique_ptr<group_nodes> group_call::take_nodes(const group_layout& on) {
  for (const remote_cell* each : on.cells) require_alive(*each, "group call");
  std::unique_ptr<group_nodes> kept(on.spare.exchange(nullptr, std::memory_order_acquire));
  sanitizer::acquired(&on.spare);
  if (kept != nullptr) return kept;
  reply like;
  like.store_failure = &keep_failure;
  like.tell = &one_ended;
  return std::make_unique<group_nodes>(on, like);
}

group_call::group_call(std::shared_ptr<const group_layout> on, const activation* chain,
                       properties given)
    : layout_(std::move(on)), nodes_(take_nodes(*layout_).release()) {
  given.call = this;
  // Repeated calls have equal properties: the lines stay in the caches of the workers.
  if (!(nodes_->of_call == given)) nodes_->of_call = given;
  for (std::size_t i = 0; i < layout_->cells.size(); ++i) {
    if (nodes_->each[i].chain != chain) nodes_->each[i].chain = chain;
  }
}

group_call::~group_call() {
  keep_nodes(*layout_, std::unique_ptr<group_nodes>(nodes_));
}

/// Sends a message that calls `run`, about the member of the node, to that member's worker.
void group_call::send(node& to, message& sent, run_function run, std::size_t load_bytes) {
  sent.to.head = {run, nullptr, &to};
  sent.to.call = to.nodes->of_call.call;
  sent.to.member = to.member;
  const std::size_t in_message = std::min(load_bytes, sizeof sent.load);
  if (in_message < load_bytes) {
    charge(work::byte_copied, static_cast<std::int64_t>(2 * (load_bytes - in_message)));
  }
  const object_place& place = to.cell->place();
  place.home.messages().send(place.worker, &sent, sizeof sent.to + in_message);
}

void group_call::start(message& sent, run_function arrival, run_function arrival_here) {
  node& root = nodes_->at(layout_->tree.root);
  const std::size_t bytes = nodes_->of_call.argument_bytes;
  if (arrival_here != nullptr) {
    const object_place& place = root.cell->place();
    sent.to = {{arrival_here, nullptr, &root}, this, root.member};
    if (place.home.messages().handle_here(place.worker, reinterpret_cast<std::byte*>(&sent),
                                          sizeof sent)) {
      return;
    }
  }
  send(root, sent, arrival, bytes);
}

void group_call::arrive(std::byte* data, run_function arrival, run_function run,
                        bool here) noexcept {
  message came;
  came.to = route_of(data);
  node& self = static_cast<node&>(*came.to.head.outcome);
  const std::size_t load = std::min(self.nodes->of_call.argument_bytes, sizeof came.load);
  std::memcpy(came.load, data + sizeof came.to, load);
  for (const int child : *self.children) {
    send(self.nodes->at(child), came, arrival, self.nodes->of_call.argument_bytes);
  }
  came.to = {{run, self.cell, &self}, self.nodes->of_call.call, self.member};
  executor& home = self.cell->place().home;
  auto* const own = reinterpret_cast<std::byte*>(&came);
  if (here) {
    self.cell->take_here(home, own, sizeof came.to + load);
  } else {
    self.cell->take(home, own, sizeof came.to + load);
  }
}

void group_call::run_child_ended(std::byte* data) noexcept {
  one_ended(*route_of(data).head.outcome);
}

void group_call::keep_failure(reply& ended, std::exception_ptr why) noexcept {
  auto& here = static_cast<node&>(ended);
  if (here.thrown) return;
  here.thrown = std::move(why);
  here.nodes->any_thrown.store(true, std::memory_order_relaxed);
}

/// Called when the member's own call, or a child with all below, has ended. The last one merges the
/// results and goes on with the parent, or sends it a message.
void group_call::one_ended(reply& ended) noexcept {
  auto* here = &static_cast<node&>(ended);
  group_nodes& nodes = *here->nodes;
  const activation caller =
      nodes.by_message ? activation{} : activation{here->cell, here};  // a merge runs in its turn
  for (;;) {
    if (!here->children->empty()) {
      tell_others();
      sanitizer::releases(&here->missing);
      if (here->missing.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
      follow_others();
      sanitizer::acquired(&here->missing);
      here->expect_all();
      if (nodes.of_call.merges || nodes.by_message) merge_children(*here, caller);
    }
    if (here->parent < 0) return tell_end(nodes);
    node& parent = nodes.at(here->parent);
    if (nodes.by_message) {
      message sent;
      return send(parent, sent, &run_child_ended, nodes.of_call.result_bytes);
    }
    here = &parent;
  }
}

void group_call::tell_end(const group_nodes& nodes) noexcept {
  const properties& ended = nodes.of_call;
  if (ended.outcome == nullptr) return ended.call->end();
  nodes.home().messages().answer(*ended.outcome, ended.outcome->tell, ended.result_bytes);
}

void group_call::merge_children(node& here, const activation& caller) noexcept {
  const auto merge = [&] {
    for (const int child : *here.children) {
      try {
        here.nodes->of_call.call->merge_child(here.member, child);
      } catch (...) {
        keep_failure(here, std::current_exception());
      }
    }
  };
  static constexpr task_type type{nullptr, "[with F = merging of results]"};
  std::exception_ptr later = run_invocation(caller, &type, merge);
  if (later) keep_failure(here, std::move(later));
}

std::exception_ptr group_call::failure() const noexcept {
  if (!nodes_->any_thrown.load(std::memory_order_relaxed)) return nullptr;
  for (std::size_t i = 0; i < layout_->cells.size(); ++i) {
    if (nodes_->each[i].thrown) return nodes_->each[i].thrown;
  }
  return nullptr;
}

}  // namespace creek::detail
