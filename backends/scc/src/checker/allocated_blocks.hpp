// SPDX-License-Identifier: Apache-2.0
// Blocks that programs allocate: who made and freed them, and which were never freed.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <creek/core/messages/symmetric_allocator.hpp>

#include "address_map.hpp"
#include "program_points.hpp"

namespace creek::scc_backend {

/// A block in the view of a core.
struct allocated_block {
  std::string name;
  std::size_t offset = 0;
  std::size_t bytes = 0;
  access_record made;
  access_record freed;
  bool live = true;
};

/// Each core has its own view of the blocks: all cores allocate and free alike, but not at the same
/// time. Offsets are those of address_map::in_view().
class allocated_blocks {
 public:
  allocated_blocks(const address_map& map, int cores, program_points& points,
                   shadow_memory& shadow);

  /// Returns the observer that is notified of this core's allocations.
  [[nodiscard]] allocation_observer* observer(core_id core) noexcept {
    return &views_[core.index()];
  }
  /// Returns the block that a core sees at `at`, an offset into all memory, or null.
  [[nodiscard]] const allocated_block* find(core_id core, std::size_t at) const noexcept;
  /// Returns name and offset of the block at `at`, as its owner or else `asker` sees it; empty
  /// without one.
  [[nodiscard]] std::string describe(std::size_t at, core_id asker) const;
  /// Returns the core's named blocks that it has not freed though it freed others of the name.
  [[nodiscard]] std::vector<const allocated_block*> lost(core_id core) const;

 private:
  class view final : public allocation_observer {
   public:
    view(core_id self, const address_map& map, program_points& points,
         shadow_memory& shadow) noexcept
        : self_(self), map_(&map), points_(&points), shadow_(&shadow) {}
    void allocated(std::size_t offset, std::size_t bytes, const char* name) noexcept override;
    void released(std::size_t offset, std::size_t bytes) noexcept override;
    const allocated_block* find(std::size_t offset) const noexcept;
    const std::vector<allocated_block>& blocks() const noexcept { return blocks_; }

   private:
    void forget_known_writes(const allocated_block& freed);

    core_id self_;
    const address_map* map_;
    program_points* points_;
    shadow_memory* shadow_;
    std::vector<allocated_block> blocks_;
    block_map block_at_;  ///< by offset; also blocks that the core has freed
  };

  const address_map& map_;
  std::vector<view> views_;
};

}  // namespace creek::scc_backend
