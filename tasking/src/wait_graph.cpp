// SPDX-License-Identifier: Apache-2.0
// Follows waits from strand to strand.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <creek/tasking/detail/future_state.hpp>
#include <creek/tasking/ext/remote_cell.hpp>
#include <creek/tasking/ext/task_context.hpp>
#include <creek/tasking/ext/wait_report.hpp>

#include "wait_report_maker.hpp"

namespace creek::ext {

namespace {

std::uintptr_t key_of(const void* thing) noexcept {
  return reinterpret_cast<std::uintptr_t>(thing);
}
/// Returns an odd number, which no address of a key is.
std::uintptr_t key_of_object(std::uint32_t number) noexcept {
  return std::uintptr_t{number} << 1 | 1;
}

void add_number(std::string& text, std::int64_t number) {
  char digits[24];
  std::snprintf(digits, sizeof digits, "%lld", static_cast<long long>(number));
  text += digits;
}

/// The waits of suspended strands. An edge leads from a strand to one that has to go on before the
/// first one's wait can end. Only those edges are found that cost nothing before: to the strand on
/// which the task of a future runs, to the thieves of a branch or of children, and to the call that
/// an object executes.
class wait_graph final : public wait_report {
 public:
  explicit wait_graph(suspended_strands&& found);

  std::vector<waiting_task> tasks() override;

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  /// Findings about a strand: who would end its wait, and the edges from it.
  struct node {
    const char* task = nullptr;       ///< name of the task that would end the wait, or null
    const char* state = "";           ///< what that one does
    std::uint32_t object = 0;         ///< object that would answer, or 0
    std::uint32_t own_object = 0;     ///< object whose call the strand executes, or 0
    std::int64_t children = 0;        ///< awaited tasks that have not ended
    int worker = -1;                  ///< worker that executes the task, if one does
    std::uint32_t first_edge = 0;     ///< index in `keys_`
    std::uint32_t edges = 0;          ///< number of strands that have to go on first
    std::uint32_t followed = 0;       ///< edges that the search has followed
    std::uint32_t before = none;      ///< node from which the search came
    std::uint32_t behind = none;      ///< next node of a cycle
    std::uint32_t leads_back = none;  ///< node on the path to this one, to which an edge leads
    bool is_seen = false;
    bool is_on_path = false;
  };
  /// Something, by its address, that ends only after a strand has gone on. A strand has several.
  struct key {
    std::uintptr_t of;
    std::uint32_t strand;
  };

  void add_key(std::uintptr_t of, std::size_t strand);
  void add_keys();
  void lead_to(node& from, std::uintptr_t of, const char* state) noexcept;
  void follow(const suspended_strand& waiting, node& from) noexcept;
  void search_from(std::uint32_t root) noexcept;
  void add_name(std::string& text, std::size_t strand) const;
  void add_end(std::string& text, const node& from) const;
  void add_cycle(std::string& text, std::uint32_t last);

  std::vector<node> nodes_;
  std::vector<key> keys_;  ///< sorted
};

wait_graph::wait_graph(suspended_strands&& found)
    : wait_report(std::move(found)), nodes_(strands_.count) {
  add_keys();
  for (std::size_t i = 0; i < nodes_.size(); ++i) follow(strands_.first[i], nodes_[i]);
  for (std::size_t i = 0; i < nodes_.size(); ++i) search_from(static_cast<std::uint32_t>(i));
}

// --- Edges --------------------------------------------------------------------------------------

void wait_graph::add_key(std::uintptr_t of, std::size_t strand) {
  if (of != 0) keys_.push_back({of, static_cast<std::uint32_t>(strand)});
}

void wait_graph::add_keys() {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (strands_.first[i].stack == nullptr) continue;
    const strand_record& record = strands_.first[i].stack->record();
    add_key(key_of(strands_.first[i].stack), i);
    add_key(key_of(record.stolen), i);
    for (const activation* call = record.call; call != nullptr; call = call->below) {
      add_key(key_of(call->outcome), i);
      const std::uint32_t object = number_of(call->object);
      if (call == record.call) nodes_[i].own_object = object;
      if (object != 0) add_key(key_of_object(object), i);
    }
  }
  if (keys_.empty()) return;  // qsort() takes no null pointer
  // std::sort() would be ten times as much code.
  std::qsort(keys_.data(), keys_.size(), sizeof(key), [](const void* a, const void* b) {
    const std::uintptr_t left = static_cast<const key*>(a)->of;
    const std::uintptr_t right = static_cast<const key*>(b)->of;
    return static_cast<int>(left > right) - static_cast<int>(left < right);
  });
}

/// Has edges lead to the strands with that key; then `state` is what the first of them does.
void wait_graph::lead_to(node& from, std::uintptr_t of, const char* state) noexcept {
  const auto first = std::partition_point(keys_.begin(), keys_.end(),
                                          [of](const key& each) { return each.of < of; });
  from.first_edge = static_cast<std::uint32_t>(first - keys_.begin());
  for (auto at = first; at != keys_.end() && at->of == of; ++at) ++from.edges;
  if (from.edges != 0) from.state = state;
}

void wait_graph::follow(const suspended_strand& waiting, node& from) noexcept {
  constexpr const char* waits = ", which waits itself";
  if (waiting.stack == nullptr) return;
  const void* const subject = waiting.reason.subject;
  const reply* call = nullptr;
  switch (waiting.reason.of) {
    case wait_reason::kind::other:
      return;
    case wait_reason::kind::children: {
      const auto* context = static_cast<const task_context*>(subject);
      const std::int64_t balance = context->balance.load(std::memory_order_relaxed);
      if ((balance & task_context::waiting) != 0)
        from.children = (task_context::waiting - balance) / task_context::one;
      return lead_to(from, key_of(context), waits);
    }
    case wait_reason::kind::branch:
      return lead_to(from, key_of(subject), waits);
    case wait_reason::kind::answer:
      call = static_cast<const reply*>(subject);
      break;
    case wait_reason::kind::future:
    case wait_reason::kind::limited_future: {
      const auto* state = static_cast<const detail::future_state_base*>(subject);
      const detail::state_producer producer = state->made_by();
      call = producer.call;
      if (state->ready()) {
        from.state = "it is there";
        return;
      }
      if (call != nullptr) break;
      from.task = producer.task;
      from.state = producer.task == nullptr ? "not known who fulfils it"
                   : producer.claim == 0    ? ", which has not begun"
                                            : ", which has begun";
      const std::uintptr_t stack = producer.claim & ~std::uintptr_t{1};
      if (stack == 0) return;
      from.worker = strands_.worker_of(strands_.workers, stack);
      if (from.worker >= 0) from.state = ", which runs on worker ";
      return lead_to(from, stack, waits);
    }
  }
  from.object = call->object;
  lead_to(from, key_of(call), waits);
  if (from.edges != 0 || call->object == 0) return;
  lead_to(from, key_of_object(call->object), ", which has to end first and waits itself");
}

/// Searches in depth from a strand; visits each strand once.
void wait_graph::search_from(std::uint32_t root) noexcept {
  if (nodes_[root].is_seen) return;
  for (std::uint32_t here = root; here != none;) {
    node& from = nodes_[here];
    from.is_seen = from.is_on_path = true;
    // A wait that something else may end is part of no cycle.
    const bool is_limited = strands_.first[here].reason.of == wait_reason::kind::limited_future;
    if (is_limited || from.followed == from.edges) {
      from.is_on_path = false;
      here = from.before;
      continue;
    }
    const std::uint32_t to = keys_[from.first_edge + from.followed++].strand;
    if (!nodes_[to].is_seen) {
      nodes_[to].before = here;
      here = to;
    } else if (nodes_[to].is_on_path) {
      from.leads_back = to;
    }
  }
}

// --- Words --------------------------------------------------------------------------------------

void wait_graph::add_name(std::string& text, std::size_t strand) const {
  if (nodes_[strand].own_object != 0) {
    add_number(text += "object ", nodes_[strand].own_object);
    text += ": ";
  }
  const char* const task = strands_.first[strand].task;
  text += readable_name(task != nullptr ? task : "the task of a run()");
}

void wait_graph::add_end(std::string& text, const node& from) const {
  if (from.task != nullptr) {
    text += readable_name(from.task);
  } else if (from.edges != 0) {
    add_name(text, keys_[from.first_edge].strand);
  } else if (from.object != 0) {
    add_number(text += "object ", from.object);
  }
  text += from.state;
  if (from.worker >= 0) add_number(text, from.worker);
  if (from.children == 0) return;
  if (!text.empty()) text += "; ";
  add_number(text, from.children);
  text += " have not ended";
}

/// Adds the cycle that an edge of `last` closes. Names the task of each wait, and the task that
/// runs on top of that one if it is another.
void wait_graph::add_cycle(std::string& text, std::uint32_t last) {
  const std::uint32_t first = nodes_[last].leads_back;
  nodes_[last].behind = first;
  for (std::uint32_t i = last; i != first; i = nodes_[i].before)
    nodes_[nodes_[i].before].behind = i;
  add_name(text, first);
  const char* verb = " waits for ";
  const auto add = [&](const std::string& name) {
    text += verb;
    text += name;
    verb = ", which waits for ";
  };
  std::uint32_t here = first;
  do {
    std::string awaited, next;
    if (nodes_[here].task != nullptr) add(awaited = readable_name(nodes_[here].task));
    here = nodes_[here].behind;
    add_name(next, here);
    if (next != awaited) add(next);
  } while (here != first);
}

std::vector<waiting_task> wait_graph::tasks() {
  std::vector<waiting_task> tasks = wait_report::tasks();
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (nodes_[i].own_object != 0) add_name(tasks[i].task = {}, i);
    add_end(tasks[i].by, nodes_[i]);
    if (nodes_[i].leads_back != none) add_cycle(tasks[i].cycle, static_cast<std::uint32_t>(i));
  }
  return tasks;
}

std::unique_ptr<wait_report> make_graph(suspended_strands&& found) {
  return std::make_unique<wait_graph>(std::move(found));
}
}  // namespace

wait_reason reason_to_follow(const char* text, wait_reason::kind awaited,
                             const void* thing) noexcept {
  if (wait_report_maker.load(std::memory_order_relaxed) == nullptr) [[unlikely]]
    wait_report_maker.store(&make_graph, std::memory_order_relaxed);
  return {text, awaited, thing};
}

}  // namespace creek::ext
