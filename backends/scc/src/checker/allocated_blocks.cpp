// SPDX-License-Identifier: Apache-2.0
#include "allocated_blocks.hpp"

#include <algorithm>

namespace creek::scc_backend {

allocated_blocks::allocated_blocks(const address_map& map, int cores, program_points& points,
                                   shadow_memory& shadow)
    : map_(map) {
  views_.reserve(static_cast<std::size_t>(cores));
  for (int i = 0; i < cores; ++i) views_.emplace_back(core_id{i}, map, points, shadow);
}

void allocated_blocks::view::allocated(std::size_t offset, std::size_t bytes,
                                       const char* name) noexcept {
  points_->called_from(__builtin_return_address(0), __builtin_frame_address(0));
  block_at_.assign(offset, offset + std::max(bytes, line_size),
                   static_cast<std::int32_t>(blocks_.size()));
  blocks_.push_back({name, offset, bytes, points_->access_now(), {}, true});
}

void allocated_blocks::view::released(std::size_t offset, std::size_t) noexcept {
  points_->called_from(__builtin_return_address(0), __builtin_frame_address(0));
  const std::int32_t number = block_at_.at(offset);
  if (number == block_map::none) return;  // allocated before the checker was attached
  allocated_block& gone = blocks_[static_cast<std::size_t>(number)];
  gone.live = false;
  gone.freed = points_->access_now();
  // Off the chip there is one part for all cores, on the chip each core frees its own.
  if (map_->is_share(offset)) forget_known_writes(gone);
}

/// Forgets the writes to the core's own part of the block that the core knows of.
void allocated_blocks::view::forget_known_writes(const allocated_block& freed) {
  const causal_clock& clock = points_->clock(self_);
  const std::size_t first = map_->from_view(self_, freed.offset);
  for (std::size_t at = 0; at < freed.bytes; at += line_size) {
    line_shadow* shadow = shadow_->find((first + at) / line_size);
    if (shadow == nullptr) continue;
    std::erase_if(shadow->writes,
                  [&](const access_record& write) { return clock.knows(write.core, write.sent); });
  }
}

const allocated_block* allocated_blocks::view::find(std::size_t offset) const noexcept {
  const std::int32_t number = block_at_.at(offset);
  return number == block_map::none ? nullptr : &blocks_[static_cast<std::size_t>(number)];
}

const allocated_block* allocated_blocks::find(core_id core, std::size_t at) const noexcept {
  return views_[core.index()].find(map_.in_view(at));
}

std::string allocated_blocks::describe(std::size_t at, core_id asker) const {
  const core_id owner = map_.is_on_chip(at) ? map_.owner(at) : asker;
  const allocated_block* in = find(owner, at);
  if (in == nullptr) in = find(asker, at);
  if (in == nullptr) return {};
  return (in->name.empty() ? "block" : in->name) + " + " +
         std::to_string(map_.in_view(at) - in->offset);
}

std::vector<const allocated_block*> allocated_blocks::lost(core_id core) const {
  const std::vector<allocated_block>& blocks = views_[core.index()].blocks();
  std::vector<const allocated_block*> found;
  for (const allocated_block& each : blocks) {
    const bool frees = std::ranges::any_of(
        blocks, [&](const allocated_block& b) { return !b.live && b.name == each.name; });
    if (each.live && frees && !each.name.empty()) found.push_back(&each);
  }
  return found;
}

}  // namespace creek::scc_backend
