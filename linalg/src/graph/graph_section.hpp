// SPDX-License-Identifier: Apache-2.0
// Section in which a thread reads and changes what the threads of a task graph share.
#pragma once

#include <array>

#include <creek/core/execution_observer.hpp>

namespace creek::linalg::detail {

/// Tells the observer, if there is one, when the section begins and ends and what was done in it.
/// An observer may order the sections of all workers. So spawning, waiting and calls of power
/// policies must come after the section.
class graph_section {
 public:
  graph_section(execution_observer* observer, unsigned owner) noexcept
      : observer_(observer), owner_(owner) {
    if (observer_ != nullptr) [[unlikely]]
      observer_->entered(owner_);
  }
  ~graph_section() {
    if (observer_ != nullptr) [[unlikely]]
      report();
  }
  graph_section(const graph_section&) = delete;
  graph_section& operator=(const graph_section&) = delete;

  /// Counts a ready task put into the queue of ready tasks or taken out.
  void queued() noexcept { ++queued_; }
  void changed_edges(unsigned edges) noexcept { edges_ += edges; }

 private:
  [[gnu::cold]] void report() const noexcept {
    const std::array done{work_amount{work::task_queued, queued_},
                          work_amount{work::edge_changed, edges_}};
    observer_->left(owner_, done);
  }

  execution_observer* observer_;
  unsigned owner_;
  unsigned queued_ = 0;
  unsigned edges_ = 0;
};

}  // namespace creek::linalg::detail
