// SPDX-License-Identifier: Apache-2.0
// Write sections: a receiver's memory is cut into a section per sender, which that sender alone
// writes and the receiver reads in its own memory. Source: the channel of RCKMPI [Ureña 2011], and
// its layout by topology [Christgau 2012].
#pragma once

#include <cstddef>
#include <vector>

#include <creek/core/messages/neighbour_graph.hpp>

namespace creek {

/// Offsets of a section from the beginning of the sections; whole lines.
struct write_section {
  std::size_t flags = 0;  ///< a line for two words: flags share no line with messages
  std::size_t data = 0;
  std::size_t bytes = 0;  ///< of `data`
};

/// The sections in the memory of every rank of a team.
///
/// Equal sections: with n ranks and B bytes, each of the n - 1 other ranks has a section of B / (n
/// - 1) bytes, rounded down to whole lines: its flag line, then its data. By neighbours: all flag
/// lines come first; then each rank that is no neighbour has two lines, so that it keeps three in
/// all; the neighbours share the rest evenly, in the order of the graph. A rank's messages to
/// itself have two lines at the end of the memory, which B does not count.
class section_layout {
 public:
  /// Lays out equal sections in `bytes` bytes. Throws usage_error if a section has less than two
  /// lines.
  section_layout(int ranks, std::size_t bytes, std::size_t line_bytes);
  /// Lays out sections by neighbours. Throws usage_error if a neighbour's has less than two lines.
  section_layout(const neighbour_graph& graph, std::size_t bytes, std::size_t line_bytes);

  /// Returns the section in the receiver's memory that `sender` writes.
  [[nodiscard]] write_section of(int receiver, int sender) const noexcept;

 private:
  [[nodiscard]] static std::size_t shared_bytes(int ranks, std::size_t bytes, std::size_t line);

  int ranks_;
  std::size_t line_bytes_;
  std::size_t shared_bytes_;  // of the sections of all other ranks
  // By receiver, then sender; empty: equal sections.
  std::vector<std::vector<write_section>> by_neighbours_;
};

}  // namespace creek
