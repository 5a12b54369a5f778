// SPDX-License-Identifier: Apache-2.0
// Posts that a worker keeps back, to merge others with them.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <creek/tasking/ext/remote_cell.hpp>

namespace creek::host_backend {

/// One post an object at most, for 64 objects: an object's number gives its place. Only the worker
/// uses them.
class kept_posts {
 public:
  static constexpr std::size_t max_objects = 64;

  bool empty() const noexcept { return in_use_ == 0; }
  /// Returns the post to `object`, or an empty one for the caller to fill. Returns nullptr if the
  /// place is taken: all have to be sent first. Throws std::bad_alloc.
  ext::merged_post* place_of(const ext::remote_cell& object) {
    if (posts_ == nullptr) posts_ = std::make_unique<ext::merged_post[]>(max_objects);
    const std::uint64_t index = object.place().generation % max_objects;
    ext::merged_post& found = posts_[index];
    if (found.object != nullptr) return found.object == &object ? &found : nullptr;
    in_use_ |= std::uint64_t{1} << index;
    return &found;
  }
  /// Calls send(post), which returns whether it was sent, for each post until one is not. There
  /// seem to be none meanwhile. Returns whether all were sent.
  template <class Send>
  bool send_all(Send send) {
    std::uint64_t left = std::exchange(in_use_, 0);
    try {
      for (; left != 0; left &= left - 1) {
        ext::merged_post& post = posts_[static_cast<std::size_t>(std::countr_zero(left))];
        if (post.object != nullptr && !send(post)) break;
      }
    } catch (...) {
      in_use_ = left;
      throw;
    }
    in_use_ = left;
    return left == 0;
  }

 private:
  std::unique_ptr<ext::merged_post[]> posts_;
  std::uint64_t in_use_ = 0;  ///< a bit a place; it may be empty if its caller failed to fill it
};

}  // namespace creek::host_backend
