// SPDX-License-Identifier: Apache-2.0
#include <creek/core/messages/section_layout.hpp>

#include <string>

#include <creek/core/error.hpp>

namespace creek {
namespace {

constexpr std::size_t own_lines = 2;      // of a rank's messages to itself: flags, data
constexpr std::size_t distant_lines = 3;  // of a rank that is no neighbour; 96 bytes on the SCC

[[noreturn]] void refuse(int ranks, std::size_t bytes) {
  throw usage_error("write sections: " + std::to_string(bytes) +
                    " bytes of message-passing memory " + "are too few for " +
                    std::to_string(ranks) +
                    " ranks; give cores more of it, or use fewer ranks or smaller mailboxes");
}

/// Returns the sections of a receiver by sender.
std::vector<write_section> sections_of(const neighbour_graph& graph, int receiver,
                                       std::size_t bytes, std::size_t line) {
  const auto senders = static_cast<std::size_t>(graph.size());
  const auto neighbours = graph.of(receiver);
  const std::size_t distant = (distant_lines - 1) * line;
  const std::size_t others = senders - 1;
  const std::size_t front = others * line + (others - neighbours.size()) * distant;
  if (front + neighbours.size() * line > bytes) refuse(graph.size(), bytes);
  std::vector<write_section> all(senders);
  const std::size_t share =
      neighbours.empty() ? 0 : (bytes - front) / neighbours.size() / line * line;
  for (std::size_t i = 0; i < neighbours.size(); ++i) {
    all[static_cast<std::size_t>(neighbours[i])] = {0, front + i * share, share};
  }
  std::size_t flags = 0, data = others * line;
  for (std::size_t sender = 0; sender < senders; ++sender) {
    if (sender == static_cast<std::size_t>(receiver)) continue;
    write_section& section = all[sender];
    section.flags = flags;
    flags += line;
    if (section.bytes != 0) continue;
    section.data = data;
    section.bytes = distant;
    data += distant;
  }
  return all;
}

}  // namespace

section_layout::section_layout(int ranks, std::size_t bytes, std::size_t line_bytes)
    : ranks_{ranks},
      line_bytes_{line_bytes},
      shared_bytes_{shared_bytes(ranks, bytes, line_bytes)} {
  if (ranks > 1 && of(0, 1).bytes < line_bytes) refuse(ranks, bytes);
}

section_layout::section_layout(const neighbour_graph& graph, std::size_t bytes,
                               std::size_t line_bytes)
    : ranks_{graph.size()},
      line_bytes_{line_bytes},
      shared_bytes_{shared_bytes(graph.size(), bytes, line_bytes)} {
  for (int receiver = 0; receiver < ranks_; ++receiver) {
    by_neighbours_.push_back(sections_of(graph, receiver, shared_bytes_, line_bytes));
  }
}

write_section section_layout::of(int receiver, int sender) const noexcept {
  if (sender == receiver) return {shared_bytes_, shared_bytes_ + line_bytes_, line_bytes_};
  if (!by_neighbours_.empty()) {
    return by_neighbours_[static_cast<std::size_t>(receiver)][static_cast<std::size_t>(sender)];
  }
  const auto others = static_cast<std::size_t>(ranks_ - 1);
  const std::size_t whole = shared_bytes_ / others / line_bytes_ * line_bytes_;
  const auto number = static_cast<std::size_t>(sender < receiver ? sender : sender - 1);
  if (whole < line_bytes_) return {};
  return {number * whole, number * whole + line_bytes_, whole - line_bytes_};
}

std::size_t section_layout::shared_bytes(int ranks, std::size_t bytes, std::size_t line) {
  const std::size_t lines = bytes / line;
  if (lines < own_lines) refuse(ranks, bytes);
  return (lines - own_lines) * line;
}

}  // namespace creek
