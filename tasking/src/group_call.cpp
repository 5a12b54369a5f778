// SPDX-License-Identifier: Apache-2.0
// The shapes of groups, and how a call of all members travels.
#include <creek/tasking/detail/group_call.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <string>

#include <creek/core/charge.hpp>
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
        throw usage_error("make_group: a tree needs an arity of at least 1, not " +
                          std::to_string(arity));
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

// --- A call -------------------------------------------------------------------------------------

group_call::group_call(const std::vector<remote_cell*>& cells, const group_tree& tree,
                       const activation* chain, std::size_t argument_bytes,
                       std::size_t result_bytes)
    : cells_(cells),
      tree_(tree),
      argument_bytes_(argument_bytes),
      result_bytes_(result_bytes),
      nodes_(std::make_unique<node[]>(cells.size())) {
  for (int i = 0; i < static_cast<int>(cells.size()); ++i) {
    node& made = at(i);
    made.call = this;
    made.member = i;
    made.chain = chain;
    made.missing.store(1 + static_cast<int>(children(i).size()), std::memory_order_relaxed);
    made.store_failure = [](reply& self, std::exception_ptr why) noexcept {
      static_cast<node&>(self).thrown = std::move(why);
    };
    made.tell = [](reply& self) noexcept {
      auto& ended = static_cast<node&>(self);
      ended.call->one_ended(ended.member);
    };
  }
}

/// Sends a message that calls `run` on the worker of `member`, about member `about`.
void group_call::send(int member, void (*run)(std::byte*) noexcept, int about,
                      std::size_t load_bytes) {
  message sent;
  sent.to.head.run = run;
  sent.to.call = this;
  sent.to.member = about;
  const std::size_t in_message = std::min(load_bytes, sizeof sent.load);
  if (in_message < load_bytes) {
    charge(work::byte_copied, static_cast<std::int64_t>(2 * (load_bytes - in_message)));
  }
  remote_cell& to = cell(member);
  to.place().home.messages().send(to.place().worker, &sent, sizeof sent.to + in_message);
}

group_call::route group_call::route_of(const std::byte* data) noexcept {
  route came;
  std::memcpy(&came, data, sizeof came);
  return came;
}

void group_call::start() {
  send(tree_.root, &run_arrival, tree_.root, argument_bytes_);
}

/// Passes the call on first, then has it run when it is the member's turn.
void group_call::run_arrival(std::byte* data) noexcept {
  route came = route_of(data);
  group_call& call = *came.call;
  for (const int child : call.children(static_cast<int>(came.member))) {
    call.send(child, &run_arrival, child, call.argument_bytes_);
  }
  remote_cell& cell = call.cell(static_cast<int>(came.member));
  came.head = {&run_member, &cell, &call.at(static_cast<int>(came.member))};
  cell.take(cell.place().home, reinterpret_cast<std::byte*>(&came), sizeof came);
}

void group_call::run_member(std::byte* data) noexcept {
  route came = route_of(data);
  group_call& call = *came.call;
  node& here = call.at(static_cast<int>(came.member));
  static constexpr task_type type{nullptr, "[with F = group call]"};
  void* const object = came.head.object->object().get();
  const auto body = [&] {
    try {
      if (object == nullptr) std::rethrow_exception(death_of(*came.head.object, "group call"));
      call.call_member(static_cast<int>(came.member), object);
    } catch (...) {
      here.thrown = std::current_exception();
    }
  };
  std::exception_ptr later = run_invocation(activation{came.head.object, &here}, &type, body);
  if (later && !here.thrown) here.thrown = std::move(later);
  call.one_ended(static_cast<int>(came.member));
}

void group_call::run_child_ended(std::byte* data) noexcept {
  route came = route_of(data);
  came.call->one_ended(static_cast<int>(came.member));
}

/// Called when the member's own call, or a child with all below, has ended; the last one merges the
/// results and sends them up. A leaf does not touch its node, which lies in the caller's cache.
void group_call::one_ended(int member) noexcept {
  if (!children(member).empty()) {
    std::atomic<int>& missing = at(member).missing;
    sanitizer::releases(&missing);
    if (missing.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    sanitizer::acquired(&missing);
    merge_children(member);
  }
  const int parent = tree_.parent[static_cast<std::size_t>(member)];
  if (parent < 0) {
    end();
  } else {
    send(parent, &run_child_ended, parent, result_bytes_);
  }
}

void group_call::merge_children(int member) noexcept {
  node& here = at(member);
  const auto merge = [&] {
    for (const int child : children(member)) {
      try {
        merge_child(member, child);
      } catch (...) {
        if (!here.thrown) here.thrown = std::current_exception();
      }
    }
  };
  static constexpr task_type type{nullptr, "[with F = merging of results]"};
  std::exception_ptr later = run_invocation(activation{}, &type, merge);
  if (!here.thrown) here.thrown = std::move(later);
}

std::exception_ptr group_call::failure() const noexcept {
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    if (nodes_[i].thrown) return nodes_[i].thrown;
  }
  return nullptr;
}

}  // namespace creek::detail
