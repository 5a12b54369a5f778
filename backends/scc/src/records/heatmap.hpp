// SPDX-License-Identifier: Apache-2.0
// A picture of the mesh after a run: how busy each core was, the traffic into and out of its
// message-passing memory and over the links, and its power.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <creek/scc/chip.hpp>
#include <creek/scc/usage.hpp>
#include <creek/scc/virtual_time.hpp>

namespace creek::scc_backend {

/// Bytes sent from tile to tile.
class tile_flows {
 public:
  explicit tile_flows(int tiles)
      : tiles_(static_cast<std::size_t>(tiles)), bytes_(tiles_ * tiles_) {}
  void add(int from, int to, std::size_t size) noexcept { bytes_[index(from, to)] += size; }
  [[nodiscard]] std::uint64_t between(int from, int to) const noexcept {
    return bytes_[index(from, to)];
  }

 private:
  std::size_t index(int from, int to) const noexcept {
    return static_cast<std::size_t>(from) * tiles_ + static_cast<std::size_t>(to);
  }
  std::size_t tiles_;
  std::vector<std::uint64_t> bytes_;
};

/// Bytes over the links of a mesh, both directions added, routed along X, then Y [Mattson 2010].
struct link_loads {
  link_loads(const chip& of, const tile_flows& flows);
  /// Loads from the tile to its right neighbour, and to the one above; zero where there is none.
  std::vector<std::uint64_t> right, up;
  [[nodiscard]] std::uint64_t highest() const noexcept;
};

/// Returns the picture as SVG, for light and dark surroundings.
std::string heatmap(const chip& of, const usage_report& usage, const tile_flows& flows,
                    virtual_time length);

}  // namespace creek::scc_backend
