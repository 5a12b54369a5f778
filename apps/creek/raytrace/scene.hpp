// SPDX-License-Identifier: Apache-2.0
// A scene: camera, lights, and spheres and triangles with their materials.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "vector3.hpp"

namespace creek::tool {

struct material {
  vector3 colour{1, 1, 1};
  double specular = 0;    ///< weight of the highlight
  double shininess = 1;   ///< exponent of the highlight
  double reflection = 0;  ///< share of the light that comes by reflection, 0 to 1
};

struct sphere {
  vector3 centre;
  double radius = 1;
  std::uint32_t material = 0;
};

/// A corner and the two edges that leave it.
struct triangle {
  vector3 corner, edge1, edge2;
  std::uint32_t material = 0;
};

struct light {
  vector3 position, colour;
};

struct camera {
  vector3 position{0, 1, 5};
  vector3 target;
  double degrees = 50;  ///< of view, from the top of the picture to the bottom
};

struct scene {
  static constexpr int max_size = 65'535, max_samples = 64, max_depth = 64;
  int width = 640, height = 480;
  int samples = 2;  ///< per side of a pixel: 2 are four rays
  int depth = 5;    ///< reflections that a ray follows
  vector3 background, ambient{0.1, 0.1, 0.1};
  camera view;
  std::vector<light> lights;
  std::vector<material> materials;
  std::vector<sphere> spheres;
  std::vector<triangle> triangles;
};

/// Reads a scene in the form of docs/raytrace.md. Throws creek::error with the name of the file and
/// the line of the first mistake.
[[nodiscard]] scene parse_scene(std::string_view text, std::string_view name);

/// Returns the text of the scene that is drawn without a file.
[[nodiscard]] std::string_view demo_scene() noexcept;

}  // namespace creek::tool
