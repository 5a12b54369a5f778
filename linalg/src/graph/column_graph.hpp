// SPDX-License-Identifier: Apache-2.0
// Right-looking factorizations by blocks of columns, as graphs of tasks: a panel is factored and
// packed as soon as its columns are up to date, even if other tasks of the previous step are not
// done.
#pragma once

#include <utility>
#include <vector>

#include <creek/linalg/matrix.hpp>
#include <creek/linalg/task_graph.hpp>

#include "kernels/shared_pack.hpp"
#include "moved_block.hpp"

namespace creek::linalg::detail {

/// Panel k, once factored, updates the blocks of columns to its right in the form of a Packed,
/// which is freed after the last of these updates.
template <class Packed>
class column_graph {
 public:
  /// The first `panels` of the `blocks` blocks of columns become panels. Records the runs in
  /// `report` unless it is nullptr.
  column_graph(index_t panels, index_t blocks, graph_report* report)
      : blocks_(blocks), report_(report), packed_(static_cast<std::size_t>(panels)) {}

  /// `block(k, j)` is the part of block j that panel k and later ones change; `flops(k, j)` the
  /// cost of panel k's update of it, or of its factorization (j == k); `factor(k)` returns a
  /// std::unique_ptr<Packed>, nullptr to end the factorization; `update(packed, k, j)`.
  template <class Block, class Flops, class Factor, class Update>
  void run(const Block& block, const Flops& flops, const Factor& factor, const Update& update) {
    task_graph graph({.record = report_ != nullptr});
    const auto panels = static_cast<index_t>(packed_.size());
    for (index_t k = 0; k < panels; ++k) {
      // Panels, and updates that the next panel waits for, go first.
      const auto priority = static_cast<int>(2 * (panels - k));
      constexpr int ahead = 1 << 24;
      const operand whole = column(block(k, k), block(0, k), access::inout);
      graph.add({"panel", flops(k, k), priority + ahead}, {whole}, [this, k, &graph, &factor] {
        auto packed = factor(k);
        if (packed == nullptr) return graph.cancel();
        packed_[static_cast<std::size_t>(k)].keep(blocks_ - k - 1, std::move(packed));
      });
      for (index_t j = k + 1; j < blocks_; ++j) {
        graph.add({"update", flops(k, j), priority + (j == k + 1 ? ahead : 0)},
                  {column(block(k, k), block(0, k), access::in),
                   column(block(k, j), block(0, j), access::inout)},
                  [this, k, j, &update] {
                    shared_pack<Packed>& panel = packed_[static_cast<std::size_t>(k)];
                    update(panel.get(), k, j);
                    panel.release();
                  });
      }
    }
    graph_report report = graph.wait();
    if (report_ != nullptr) *report_ = std::move(report);
  }

 private:
  /// Identifies a block of columns by its first element, whichever part of it the task moves.
  template <class View>
  static operand column(const View& part, const View& from_top, access how) noexcept {
    return {from_top.data(), how, bytes_of(part)};
  }

  index_t blocks_;
  graph_report* report_;
  std::vector<shared_pack<Packed>> packed_;  // one per panel
};

}  // namespace creek::linalg::detail
