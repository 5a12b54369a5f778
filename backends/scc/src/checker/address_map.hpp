// SPDX-License-Identifier: Apache-2.0
// Which memory an offset into all memory of the chip means.
#pragma once

#include <cstddef>

#include <creek/core/core_id.hpp>
#include <creek/scc/chip.hpp>

namespace creek::scc_backend {

/// The message-passing memory of core after core comes first, then off-chip memory. A core sees one
/// core's share of message-passing memory, which allocators take for the same everywhere, followed
/// by off-chip memory: that is the offset in its view.
class address_map {
 public:
  explicit address_map(const chip& of) noexcept
      : share_(of.mpb_bytes), on_chip_(static_cast<std::size_t>(of.cores()) * share_) {}

  [[nodiscard]] bool is_on_chip(std::size_t at) const noexcept { return at < on_chip_; }
  /// Returns the core whose message-passing memory it is; `at` must be on the chip.
  [[nodiscard]] core_id owner(std::size_t at) const noexcept {
    return core_id{static_cast<int>(at / share_)};
  }
  /// Returns the offset in the owner's share, or in off-chip memory.
  [[nodiscard]] std::size_t offset(std::size_t at) const noexcept {
    return is_on_chip(at) ? at % share_ : at - on_chip_;
  }
  [[nodiscard]] std::size_t in_view(std::size_t at) const noexcept {
    return is_on_chip(at) ? at % share_ : at - on_chip_ + share_;
  }
  [[nodiscard]] bool is_share(std::size_t view_offset) const noexcept {
    return view_offset < share_;
  }
  /// Returns the offset into all memory of an offset in the core's view.
  [[nodiscard]] std::size_t from_view(core_id core, std::size_t view_offset) const noexcept {
    return is_share(view_offset) ? core.index() * share_ + view_offset
                                 : view_offset - share_ + on_chip_;
  }

 private:
  std::size_t share_;
  std::size_t on_chip_;
};

}  // namespace creek::scc_backend
