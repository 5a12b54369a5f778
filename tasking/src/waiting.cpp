// SPDX-License-Identifier: Apache-2.0
// Words for tasks that wait.
#include <algorithm>
#include <creek/core/decimal.hpp>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "wait_report_maker.hpp"

namespace creek {

std::string to_string(std::span<const waiting_task> tasks, std::size_t most) {
  std::vector<const waiting_task*> order;
  order.reserve(tasks.size());
  for (const waiting_task& each : tasks) order.push_back(&each);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->waited > b->waited; });
  std::string text;
  for (std::size_t i = 0; i < std::min(most, order.size()); ++i) {
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%.3f",
                  std::chrono::duration<double>(order[i]->waited).count());
    text += order[i]->task + ": has waited " + seconds + " s for " + order[i]->what;
    if (!order[i]->by.empty()) text += ": " + order[i]->by;
    text += '\n';
  }
  if (order.size() > most) text += "and " + decimal(order.size() - most) + " more\n";
  for (const waiting_task& each : tasks) {
    if (!each.cycle.empty()) text += "a cycle of waits: " + each.cycle + '\n';
  }
  return text;
}

std::unique_ptr<ext::wait_report> ext::wait_report::make(suspended_strands&& found) {
  if (const auto maker = wait_report_maker.load(std::memory_order_relaxed))
    return maker(std::move(found));
  return std::make_unique<wait_report>(std::move(found));
}

std::vector<waiting_task> ext::wait_report::tasks() {
  std::vector<waiting_task> found(strands_.count);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const suspended_strand& each = strands_.first[i];
    found[i].task = readable_name(each.task != nullptr ? each.task : "the task of a run()");
    found[i].what = each.reason.what;
    found[i].waited = each.waited;
  }
  return found;
}

/// Cuts "[with F = creek::detail::bind_call<account, int (account::*)(int), int>(...)::<lambda>]"
/// to "account: int (account::*)(int)"; without an object, to the function's type only.
std::string ext::readable_name(std::string_view name) {
  name = ext::task_site(name);
  // A future's task: "async_state<main()::<lambda()> >::execute()::<lambda()>".
  constexpr std::string_view future = "async_state<", of_future = ">::execute()";
  if (const auto at = name.find(future), end = name.rfind(of_future);
      at != name.npos && end != name.npos) {
    name = name.substr(at + future.size(), end - at - future.size());
    while (name.ends_with(' ')) name.remove_suffix(1);
  }
  constexpr std::string_view made_by = "bind_call<";
  const auto begin = name.find(made_by);
  if (begin == name.npos) return std::string(name);
  const std::string_view rest = name.substr(begin + made_by.size());
  std::size_t ends[2] = {}, found = 0;
  int depth = 0;
  for (std::size_t i = 0; i < rest.size() && found < 2 && depth >= 0; ++i) {
    const char c = rest[i];
    if (c == '<' || c == '(' || c == '{') ++depth;
    if (c == '>' || c == ')' || c == '}') --depth;
    if ((c == ',' && depth == 0) || depth < 0) ends[found++] = i;
  }
  if (found < 2) return std::string(name);
  const std::string type(rest.substr(0, ends[0]));
  const std::string function(rest.substr(ends[0] + 2, ends[1] - ends[0] - 2));
  return type == "void" ? function : type + ": " + function;
}

}  // namespace creek
