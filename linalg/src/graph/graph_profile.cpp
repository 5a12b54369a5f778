// SPDX-License-Identifier: Apache-2.0
#include "graph_profile.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <numeric>
#include <ostream>
#include <string_view>

#include <fmt/format.h>
#include <creek/core/error.hpp>

namespace creek::linalg::detail {

namespace {

const char* to_string(dependence kind) noexcept {
  switch (kind) {
    case dependence::flow:
      return "flow";
    case dependence::anti:
      return "anti";
    case dependence::output:
      return "output";
  }
  return "";
}

int strength(dependence kind) noexcept {
  return kind == dependence::flow ? 2 : kind == dependence::output ? 1 : 0;
}

/// Returns quoted, escaped text, valid in DOT and JSON alike.
std::string json_string(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      result += ' ';
    } else {
      result += c;
    }
  }
  return result + '"';
}

}  // namespace

std::uint32_t graph_profile::name_index(const char* name) {
  // Names are literals: the same text has few addresses.
  const auto known = std::find(name_addresses_.begin(), name_addresses_.end(), name);
  if (known != name_addresses_.end()) {
    return name_of_address_[static_cast<std::size_t>(known - name_addresses_.begin())];
  }
  const auto same = std::find_if(counts_.begin(), counts_.end(),
                                 [&](const task_count& each) { return each.name == name; });
  const auto index = static_cast<std::uint32_t>(same - counts_.begin());
  if (same == counts_.end()) counts_.push_back({name, 0, 0});
  name_of_address_.push_back(index);
  name_addresses_.push_back(name);
  return index;
}

void graph_profile::find_edges(std::span<const operand> operands) {
  const auto all_live = [](node_name) { return true; };
  blocks_.look_up(operands, all_live);
  const std::size_t most = edges_.size() + blocks_.max_edges();
  if (edges_.capacity() < most) edges_.reserve(std::max(most, 2 * edges_.capacity()));
  const auto self = static_cast<node_name>(nodes_.size());
  blocks_.enter(self, operands, all_live, [&](node_name name, dependence kind, bool) noexcept {
    node& from = nodes_[name - 1];
    if (from.seen_by != self) {
      from.seen_by = self;
      from.seen_at = static_cast<std::uint32_t>(edges_.size() - nodes_.back().first_edge);
      edges_.push_back({name - 1, kind});
      return;
    }
    dependence& known = edges_[nodes_.back().first_edge + from.seen_at].kind;
    if (strength(kind) > strength(known)) known = kind;
  });
}

void graph_profile::add(const task_info& info, std::span<const operand> operands) {
  if (finished_) clear();
  if (nodes_.size() >= std::numeric_limits<node_name>::max() - 1) {
    throw usage_error("task_graph: a dry run holds at most 2^32 - 2 tasks");
  }
  const std::uint32_t name = name_index(info.name);
  nodes_.push_back({info.flops, info.flops, edges_.size(), name, 0, info.priority, 0, 0});
  find_edges(operands);
  node& added = nodes_.back();
  for (const edge& each : edges_into(nodes_.size() - 1)) {
    const node& from = nodes_[each.from];
    added.finish = std::max(added.finish, from.finish + info.flops);
    added.level = std::max(added.level, from.level + 1);
  }
  if (added.level >= width_.size()) width_.resize(added.level + 1);
  ++width_[added.level];
  ++counts_[name].tasks;
  counts_[name].flops += info.flops;
  flops_ += info.flops;
  critical_path_ = std::max(critical_path_, added.finish);
}

std::span<const graph_profile::edge> graph_profile::edges_into(std::size_t task) const noexcept {
  const std::size_t first = nodes_[task].first_edge;
  const std::size_t last = task + 1 < nodes_.size() ? nodes_[task + 1].first_edge : edges_.size();
  return {edges_.data() + first, last - first};
}

bool graph_profile::verify() const noexcept {
  for (std::size_t task = 0; task < nodes_.size(); ++task) {
    for (const edge& each : edges_into(task)) {
      if (each.from >= task || nodes_[each.from].level >= nodes_[task].level) return false;
    }
  }
  std::size_t named = 0;
  for (const task_count& each : counts_) named += each.tasks;
  return named == nodes_.size() &&
         std::accumulate(width_.begin(), width_.end(), std::size_t{0}) == nodes_.size() &&
         blocks_.verify();
}

graph_report graph_profile::finish() {
  if (finished_) clear();
  finished_ = true;
  assert(verify());
  graph_report report;
  report.tasks = report.peak_unfinished = nodes_.size();
  report.edges = edges_.size();
  report.flops = flops_;
  report.peak_bytes =
      nodes_.capacity() * sizeof(node) + edges_.capacity() * sizeof(edge) + blocks_.peak_bytes();
  report.critical_path = critical_path_;
  report.depth = width_.size();
  report.parallelism = critical_path_ > 0 ? flops_ / critical_path_ : 0;
  if (!width_.empty()) report.widest_level = *std::max_element(width_.begin(), width_.end());
  report.counts = counts_;
  return report;
}

void graph_profile::clear() noexcept {
  finished_ = false;
  blocks_.clear();
  nodes_.clear();
  edges_.clear();
  name_addresses_.clear();
  name_of_address_.clear();
  counts_.clear();
  width_.clear();
  critical_path_ = flops_ = 0;
}

work_graph graph_profile::plan() const {
  work_graph planned;
  planned.tasks.reserve(nodes_.size());
  for (const node& each : nodes_) {
    planned.tasks.push_back({counts_[each.name].name, each.flops, each.priority, {}});
  }
  for (std::uint32_t to = 0; to < nodes_.size(); ++to) {
    for (const edge& each : edges_into(to)) planned.tasks[each.from].successors.push_back(to);
  }
  return planned;
}

void graph_profile::write_dot(std::ostream& to) const {
  to << "digraph tasks {\n  node [shape=box];\n";
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    to << fmt::format("  t{} [label={}];\n", i, json_string(counts_[nodes_[i].name].name));
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    for (const edge& each : edges_into(i)) {
      // Anti and output dependences (dashed) are those that copies of blocks would remove.
      to << fmt::format("  t{} -> t{}{};\n", each.from, i,
                        each.kind == dependence::flow ? "" : " [style=dashed]");
    }
  }
  to << "}\n";
}

void graph_profile::write_json(std::ostream& to) const {
  to << fmt::format("{{\"flops\":{},\"critical_path\":{},\"tasks\":[", flops_, critical_path_);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const node& each = nodes_[i];
    to << fmt::format("{}\n{{\"id\":{},\"name\":{},\"flops\":{},\"level\":{}}}", i == 0 ? "" : ",",
                      i, json_string(counts_[each.name].name), each.flops, each.level);
  }
  to << "\n],\"edges\":[";
  const char* separator = "";
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    for (const edge& each : edges_into(i)) {
      to << fmt::format("{}\n{{\"from\":{},\"to\":{},\"kind\":\"{}\"}}",
                        std::exchange(separator, ","), each.from, i, to_string(each.kind));
    }
  }
  to << "\n]}\n";
}

}  // namespace creek::linalg::detail
