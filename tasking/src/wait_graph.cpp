// SPDX-License-Identifier: Apache-2.0
// Follows waits from strand to strand.
#include <creek/tasking/ext/wait_graph.hpp>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include <creek/tasking/detail/future_state.hpp>
#include <creek/tasking/ext/remote_cell.hpp>
#include <creek/tasking/ext/task_context.hpp>

namespace creek::ext {

namespace {

constexpr std::size_t max_cycles = 10;

std::uintptr_t key_of(const void* thing) noexcept {
  return reinterpret_cast<std::uintptr_t>(thing);
}
/// Odd, unlike an address.
std::uintptr_t key_of_object(std::uint32_t number) noexcept {
  return std::uintptr_t{number} << 1 | 1;
}

}  // namespace

wait_graph::wait_graph(std::vector<suspended_strand> strands,
                       std::span<const stealable_stack* const> running)
    : strands_(std::move(strands)), nodes_(strands_.size()) {
  add_keys();
  for (std::size_t i = 0; i < strands_.size(); ++i) follow(i, running);
  find_cycles();
}

void wait_graph::add_keys() {
  for (std::size_t i = 0; i < strands_.size(); ++i) {
    if (strands_[i].stack == nullptr) continue;
    const strand_record& record = strands_[i].stack->record();
    std::uintptr_t found[4] = {key_of(strands_[i].stack), key_of(record.stolen)};
    if (record.call != nullptr) {
      found[2] = key_of(record.call->outcome);
      nodes_[i].own_object = number_of(record.call->object);
      if (nodes_[i].own_object != 0) found[3] = key_of_object(nodes_[i].own_object);
    }
    for (const std::uintptr_t each : found) {
      if (each != 0) keys_.push_back({each, static_cast<std::uint32_t>(i)});
    }
  }
  // Not std::sort(), which is ten times as much code.
  std::qsort(keys_.data(), keys_.size(), sizeof(key), [](const void* a, const void* b) {
    const std::uintptr_t left = static_cast<const key*>(a)->of;
    const std::uintptr_t right = static_cast<const key*>(b)->of;
    return left < right ? -1 : static_cast<int>(left > right);
  });
}

void wait_graph::lead_to(node& from, std::uintptr_t key) noexcept {
  const auto first = std::partition_point(keys_.begin(), keys_.end(),
                                          [key](const auto& each) { return each.of < key; });
  auto last = first;
  while (last != keys_.end() && last->of == key) ++last;
  from.first_edge = static_cast<std::uint32_t>(first - keys_.begin());
  from.edges = static_cast<std::uint32_t>(last - first);
}

void wait_graph::follow(std::size_t strand, std::span<const stealable_stack* const> running) {
  const wait_reason& reason = strands_[strand].reason;
  node& from = nodes_[strand];
  if (strands_[strand].stack == nullptr) return;
  const reply* call = nullptr;
  switch (reason.of) {
    case wait_reason::kind::other:
      return;
    case wait_reason::kind::future:
    case wait_reason::kind::limited_future: {
      const auto* state = static_cast<const detail::future_state_base*>(reason.subject);
      const detail::state_producer producer = state->made_by();
      from.is_ready = state->ready();
      if (from.is_ready) return;
      call = producer.call;
      from.task = producer.task;
      from.is_known = producer.task != nullptr || call != nullptr;
      from.has_begun = producer.claim != 0;
      const std::uintptr_t stack = producer.claim & ~std::uintptr_t{1};
      if (stack == 0) break;
      lead_to(from, stack);
      for (std::size_t i = 0; i < running.size(); ++i) {
        if (key_of(running[i]) == stack) from.worker = static_cast<int>(i);
      }
      break;
    }
    case wait_reason::kind::children: {
      const auto* context = static_cast<const task_context*>(reason.subject);
      const std::int64_t balance = context->balance.load(std::memory_order_relaxed);
      if ((balance & task_context::waiting) != 0)
        from.children = (task_context::waiting - balance) / task_context::one;
      lead_to(from, key_of(context));
      break;
    }
    case wait_reason::kind::branch:
      lead_to(from, key_of(reason.subject));
      break;
    case wait_reason::kind::answer:
      call = static_cast<const reply*>(reason.subject);
      break;
  }
  if (call == nullptr) return;
  from.is_known = true;
  from.object = call->object;
  lead_to(from, key_of(call));
  from.has_begun = from.edges != 0;
  if (!from.has_begun && call->object != 0) lead_to(from, key_of_object(call->object));
}

/// Searches in depth, each strand once.
void wait_graph::find_cycles() {
  enum : std::uint8_t { unseen, on_path, finished };
  std::vector<std::uint8_t> state(nodes_.size(), unseen);
  struct step {
    std::uint32_t strand, next_edge;
  };
  std::vector<step> path;
  for (std::size_t root = 0; root < nodes_.size(); ++root) {
    if (state[root] == unseen) path.push_back({static_cast<std::uint32_t>(root), 0});
    while (!path.empty()) {
      step& here = path.back();
      const node& from = nodes_[here.strand];
      state[here.strand] = on_path;
      // A wait that something else may end is in no cycle.
      if (here.next_edge == from.edges ||
          strands_[here.strand].reason.of == wait_reason::kind::limited_future) {
        state[here.strand] = finished;
        path.pop_back();
        continue;
      }
      const std::uint32_t to = keys_[from.first_edge + here.next_edge++].strand;
      if (state[to] == unseen) {
        path.push_back({to, 0});
      } else if (state[to] == on_path && cycles_.size() < max_cycles) {
        auto begin = path.end();
        while ((--begin)->strand != to) {
        }
        std::vector<std::uint32_t>& cycle = cycles_.emplace_back();
        for (; begin != path.end(); ++begin) cycle.push_back(begin->strand);
      }
    }
  }
}

// --- Words --------------------------------------------------------------------------------------

std::string wait_graph::name_of(std::size_t strand) const {
  const char* const task = strands_[strand].task;
  std::string name = task != nullptr ? readable_name(task) : "the task of a run()";
  if (const std::uint32_t object = nodes_[strand].own_object)
    name = "object " + std::to_string(object) + ": " + name;
  return name;
}

std::string wait_graph::who_ends(std::size_t strand) const {
  const node& from = nodes_[strand];
  const wait_reason::kind of = strands_[strand].reason.of;
  if (strands_[strand].stack == nullptr || of == wait_reason::kind::other) return {};
  if (from.is_ready) return "it is there";
  const std::string first =
      from.edges != 0 ? name_of(keys_[from.first_edge].strand) : std::string();
  if (of == wait_reason::kind::children || of == wait_reason::kind::branch) {
    std::string text = from.children != 0 ? std::to_string(from.children) + " have not ended" : "";
    if (!first.empty()) text += (text.empty() ? "" : ", ") + first + " waits itself";
    return text;
  }
  if (!from.is_known) return "not known who fulfils it";
  if (from.task == nullptr) {
    if (from.edges != 0)
      return first + (from.has_begun ? ", which waits itself" : ", which waits itself, comes first");
    return from.object != 0 ? "object " + std::to_string(from.object) : "a worker";
  }
  const std::string task = readable_name(from.task);
  if (!from.has_begun) return task + ", which has not begun";
  if (from.edges != 0) return task + ", which waits itself";
  if (from.worker >= 0) return task + ", which runs on worker " + std::to_string(from.worker);
  return task + ", which has begun";
}

/// Names the task of each wait, and the one that runs on top of it where that is another.
std::string wait_graph::spell_cycle(std::span<const std::uint32_t> cycle) const {
  const std::string begin = name_of(cycle.front());
  std::string text = begin, last = begin;
  const char* verb = " waits for ";
  const auto add = [&](const std::string& name) {
    text += verb + name;
    verb = ", which waits for ";
    last = name;
  };
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    if (const char* task = nodes_[cycle[i]].task) add(readable_name(task));
    const std::string next = name_of(cycle[(i + 1) % cycle.size()]);
    if (last != next || nodes_[cycle[i]].task == nullptr) add(next);
  }
  return text;
}

std::vector<waiting_task> wait_graph::report() const {
  std::vector<waiting_task> tasks;
  tasks.reserve(strands_.size());
  for (std::size_t i = 0; i < strands_.size(); ++i) {
    tasks.push_back({name_of(i), strands_[i].reason.what, strands_[i].waited, who_ends(i)});
  }
  for (const auto& cycle : cycles_) tasks[cycle.front()].cycle = spell_cycle(cycle);
  return tasks;
}

}  // namespace creek::ext
