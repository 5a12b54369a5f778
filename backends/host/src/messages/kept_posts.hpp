// SPDX-License-Identifier: Apache-2.0
// Posts that a worker keeps back, to merge others with them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <creek/tasking/ext/remote_cell.hpp>

namespace creek::host_backend {

/// One post an object at most, for 64 objects: an object's number gives its place. Only the worker
/// uses them.
class kept_posts {
 public:
  static constexpr std::size_t max_objects = 64;

  bool empty() const noexcept { return count_ == 0; }
  /// Returns the post to `object`, or an empty one for the caller to fill. Returns nullptr if the
  /// place is taken: all have to be sent first. Throws std::bad_alloc.
  ext::merged_post* place_of(const ext::remote_cell& object) {
    if (posts_ == nullptr) posts_ = std::make_unique<ext::merged_post[]>(max_objects);
    const auto index = static_cast<std::uint8_t>(object.place().generation % max_objects);
    ext::merged_post& found = posts_[index];
    if (found.object != nullptr) return found.object == &object ? &found : nullptr;
    // It may have been listed before, for a caller that has failed to fill it.
    if ((listed_ >> index & 1) == 0) add(index);
    return &found;
  }
  /// Calls send(post), which returns whether it was sent, for each post, the first kept first,
  /// until one is not. There seem to be none meanwhile. Returns whether all were sent.
  template <class Send>
  bool send_all(Send send) {
    const std::array<std::uint8_t, max_objects> order = order_;
    const std::size_t count = count_;
    count_ = 0;
    listed_ = 0;
    std::size_t i = 0;
    const auto keep_rest = [&] {
      for (std::size_t left = i; left < count; ++left) add(order[left]);
    };
    try {
      while (i < count && (posts_[order[i]].object == nullptr || send(posts_[order[i]]))) ++i;
    } catch (...) {
      keep_rest();
      throw;
    }
    keep_rest();
    return i == count;
  }

 private:
  void add(std::uint8_t index) noexcept {
    listed_ |= std::uint64_t{1} << index;
    order_[count_++] = index;
  }

  std::unique_ptr<ext::merged_post[]> posts_;
  std::array<std::uint8_t, max_objects> order_{};  ///< places in use, the first used first
  std::size_t count_ = 0;
  std::uint64_t listed_ = 0;  ///< the same as bits
};

}  // namespace creek::host_backend
