// SPDX-License-Identifier: Apache-2.0
// Computes the pixels of a scene by following rays of light backwards [Whitted 1980].
#pragma once

#include <cstdint>
#include <string>

#include "scene.hpp"
#include "volume_tree.hpp"

namespace creek::tool {

/// Rows of a picture, three bytes per pixel: red, green, blue.
struct picture_rows {
  int first = 0, count = 0;
  std::string pixels;
  std::uint64_t rays = 0;
};

/// A pixel depends on the scene only: not on the rows that are asked for together. Any number of
/// threads may render at the same time.
class renderer {
 public:
  /// The scene must outlive the renderer and not change.
  explicit renderer(const scene& of);

  /// Renders rows from the top, and states the work (core/charge.hpp).
  [[nodiscard]] picture_rows render(int first, int count) const;

 private:
  struct work_done;
  struct surface;

  [[nodiscard]] vector3 pixel(int x, int y, work_done& done) const;
  [[nodiscard]] vector3 trace(ray along, work_done& done) const;
  [[nodiscard]] surface surface_at(const ray& along, const surface_hit& hit) const;
  [[nodiscard]] vector3 lit(const surface& at, const vector3& direction, work_done& done) const;
  static void state(const work_done& done);

  const scene& scene_;
  volume_tree tree_;
  vector3 forward_, right_, up_;  // of the picture: right and up span half of its height
};

}  // namespace creek::tool
