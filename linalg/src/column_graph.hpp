// SPDX-License-Identifier: Apache-2.0
// Right-looking factorizations by blocks of columns, as graphs of tasks: a panel is factored and
// packed as soon as its columns are up to date, whatever else of the step before is still to be
// done.
#pragma once

#include <utility>
#include <vector>

#include <creek/linalg/matrix.hpp>
#include <creek/linalg/task_graph.hpp>

#include "moved_block.hpp"
#include "shared_pack.hpp"

namespace creek::linalg::detail {

/// Panel k, once factored, updates the blocks of columns behind it in the form of a Packed, which
/// lives until the last of these updates.
template <class Packed>
class column_graph {
 public:
  /// The first `panels` of so many blocks of columns become panels. The runs are recorded in
  /// `report` unless that is null.
  column_graph(index_t panels, index_t blocks, graph_report* report)
      : blocks_(blocks), report_(report), packed_(static_cast<std::size_t>(panels)) {}

  /// `block(k, j)` is the part of block j that panel k and those after it change; `flops(k, j)`
  /// what panel k does to it, of which j = k is its factorization; `factor(k)` returns a
  /// std::unique_ptr<Packed>, a null one to end the factorization there; `update(packed, k, j)`.
  template <class Block, class Flops, class Factor, class Update>
  void run(const Block& block, const Flops& flops, const Factor& factor, const Update& update) {
    task_graph graph({.record = report_ != nullptr});
    const auto panels = static_cast<index_t>(packed_.size());
    for (index_t k = 0; k < panels; ++k) {
      // Panels, and what the next one waits for, go first.
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
  /// A task knows a block of columns by its first element, whatever part of it it moves.
  template <class View>
  static operand column(const View& part, const View& from_top, access how) noexcept {
    return {from_top.data(), how, bytes_of(part)};
  }

  index_t blocks_;
  graph_report* report_;
  std::vector<shared_pack<Packed>> packed_;  // of each panel
};

}  // namespace creek::linalg::detail
