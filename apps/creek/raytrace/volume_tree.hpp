// SPDX-License-Identifier: Apache-2.0
// A tree of bounding boxes over the spheres and triangles of a scene: a ray looks at those only
// whose boxes it meets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "scene.hpp"

namespace creek::tool {

struct ray {
  vector3 origin;
  vector3 direction;  ///< of length 1
};

/// The nearest surface on a ray.
struct surface_hit {
  double distance = std::numeric_limits<double>::infinity();
  std::uint32_t object = none;
  static constexpr std::uint32_t none = ~std::uint32_t{0};
};

/// Tests made for rays, from which the work is counted.
struct ray_tests {
  std::uint64_t boxes = 0, spheres = 0, sphere_roots = 0, triangles = 0;
};

/// A box; without points it is empty.
struct bounds {
  vector3 min{1e300, 1e300, 1e300}, max{-1e300, -1e300, -1e300};
  void add(const vector3& point) noexcept;
  void add(const bounds& other) noexcept;
  [[nodiscard]] double area() const noexcept;
};

/// Objects are numbered: the spheres, then the triangles. The scene must outlive the tree and not
/// change. Any number of threads may ask at the same time.
class volume_tree {
 public:
  /// Builds it by the surface area heuristic over 16 bins [Wald 2007].
  explicit volume_tree(const scene& of);

  /// Returns the nearest surface beyond `min_distance`. Of several at the same distance it is the
  /// one with the smallest number, so the result does not depend on the tree.
  [[nodiscard]] surface_hit nearest(const ray& along, ray_tests& tests) const;
  /// Returns whether something is between `min_distance` and `distance`.
  [[nodiscard]] bool is_blocked(const ray& along, double distance, ray_tests& tests) const;

  /// A ray that leaves a surface does not meet it again before this distance.
  static constexpr double min_distance = 1e-6;

 private:
  struct node {
    bounds box;
    std::uint32_t first = 0;  ///< child, the other one follows; or object in order_
    std::uint32_t count = 0;  ///< objects of a leaf; 0: not a leaf
  };
  struct builder;

  [[nodiscard]] bool meet(std::uint32_t object, const ray& along, surface_hit& best,
                          ray_tests& tests) const;
  template <bool IsAnyEnough>
  surface_hit search(const ray& along, double distance, ray_tests& tests) const;

  const scene& scene_;
  std::vector<node> nodes_;
  std::vector<std::uint32_t> order_;
};

}  // namespace creek::tool
