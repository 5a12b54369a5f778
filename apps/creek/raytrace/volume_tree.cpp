// SPDX-License-Identifier: Apache-2.0
#include "volume_tree.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace creek::tool {
namespace {

constexpr std::uint32_t max_leaf = 4;
constexpr int bins = 16;
/// Below this depth nodes are halved, so that a tree of 2^32 objects is at most 32 levels deeper.
constexpr int max_uneven_depth = 30;
constexpr int max_depth = max_uneven_depth + 33;

bounds box_of(const sphere& s) {
  const vector3 r{s.radius, s.radius, s.radius};
  bounds box;
  box.add(s.centre - r);
  box.add(s.centre + r);
  return box;
}
bounds box_of(const triangle& t) {
  bounds box;
  box.add(t.corner);
  box.add(t.corner + t.edge1);
  box.add(t.corner + t.edge2);
  return box;
}

/// Makes the box larger by more than the rounding of a test of it.
bounds padded(bounds box) {
  const double extent = std::max({std::abs(box.min.x), std::abs(box.min.y), std::abs(box.min.z),
                                  std::abs(box.max.x), std::abs(box.max.y), std::abs(box.max.z)});
  const vector3 by{1e-9 * extent + 1e-12, 1e-9 * extent + 1e-12, 1e-9 * extent + 1e-12};
  return {box.min - by, box.max + by};
}

/// Returns where the ray enters the box, or infinity if it misses it or enters beyond `limit`.
/// std::min and std::max return their first argument if the second is no number, which is the case
/// for a ray within a side of the box.
double entry(const bounds& box, const vector3& origin, const vector3& inverse, double limit) {
  double enters = 0, leaves = limit;
  for (int axis = 0; axis < 3; ++axis) {
    const double a = (box.min[axis] - origin[axis]) * inverse[axis];
    const double b = (box.max[axis] - origin[axis]) * inverse[axis];
    enters = std::max(enters, std::min(a, b));
    leaves = std::min(leaves, std::max(a, b));
  }
  return enters <= leaves ? enters : std::numeric_limits<double>::infinity();
}

}  // namespace

void bounds::add(const vector3& point) noexcept {
  min = {std::min(min.x, point.x), std::min(min.y, point.y), std::min(min.z, point.z)};
  max = {std::max(max.x, point.x), std::max(max.y, point.y), std::max(max.z, point.z)};
}
void bounds::add(const bounds& other) noexcept {
  add(other.min);
  add(other.max);
}
double bounds::area() const noexcept {
  if (max.x < min.x) return 0;
  const vector3 side = max - min;
  return 2 * (side.x * side.y + side.y * side.z + side.z * side.x);
}

struct volume_tree::builder {
  volume_tree& tree;
  std::vector<bounds> boxes;
  std::vector<vector3> centres;

  struct cut {
    int axis = -1;  ///< -1: none is better than a leaf or a half
    double position = 0;
    double cost = 0;
  };

  void build(std::uint32_t at, std::uint32_t first, std::uint32_t count, int depth) {
    bounds box, middle;
    for (std::uint32_t i = first; i < first + count; ++i) {
      box.add(boxes[tree.order_[i]]);
      middle.add(centres[tree.order_[i]]);
    }
    tree.nodes_[at].box = padded(box);
    if (count <= max_leaf) {
      tree.nodes_[at].first = first;
      tree.nodes_[at].count = count;
      return;
    }
    const std::uint32_t left = divide(first, count, middle, depth);
    const auto child = static_cast<std::uint32_t>(tree.nodes_.size());
    tree.nodes_.resize(tree.nodes_.size() + 2);
    tree.nodes_[at].first = child;
    build(child, first, left, depth + 1);
    build(child + 1, first + left, count - left, depth + 1);
  }

  /// Orders the objects of a node into two parts; returns the size of the first.
  std::uint32_t divide(std::uint32_t first, std::uint32_t count, const bounds& middle, int depth) {
    const auto begin = tree.order_.begin() + first, end = begin + count;
    const cut best = depth < max_uneven_depth ? best_cut(first, count, middle) : cut{};
    if (best.axis >= 0) {
      const auto border = std::stable_partition(begin, end, [&](std::uint32_t object) {
        return centres[object][best.axis] < best.position;
      });
      if (border != begin && border != end) return static_cast<std::uint32_t>(border - begin);
    }
    return count / 2;
  }

  cut best_cut(std::uint32_t first, std::uint32_t count, const bounds& middle) const {
    cut best;
    for (int axis = 0; axis < 3; ++axis) {
      const double low = middle.min[axis], width = (middle.max[axis] - low) / bins;
      if (width > 0) try_axis(axis, low, width, first, count, best);
    }
    return best;
  }

  /// Compares the cuts between the bins of an axis by area times number of objects.
  void try_axis(int axis, double low, double width, std::uint32_t first, std::uint32_t count,
                cut& best) const {
    std::array<bounds, bins> box;
    std::array<std::uint32_t, bins> number{};
    for (std::uint32_t i = first; i < first + count; ++i) {
      const std::uint32_t object = tree.order_[i];
      const int bin = std::min(bins - 1, static_cast<int>((centres[object][axis] - low) / width));
      box[static_cast<std::size_t>(bin)].add(boxes[object]);
      ++number[static_cast<std::size_t>(bin)];
    }
    std::array<double, bins> right{};  // cost of the bins from here on
    bounds all;
    std::uint32_t objects = 0;
    for (std::size_t i = bins - 1; i > 0; --i) {
      if (number[i] != 0) all.add(box[i]);
      objects += number[i];
      right[i] = all.area() * objects;
    }
    all = {};
    objects = 0;
    for (std::size_t i = 0; i + 1 < bins; ++i) {
      if (number[i] != 0) all.add(box[i]);
      objects += number[i];
      const double cost = all.area() * objects + right[i + 1];
      if (objects != 0 && objects != count && (best.axis < 0 || cost < best.cost))
        best = {axis, low + width * static_cast<double>(i + 1), cost};
    }
  }
};

volume_tree::volume_tree(const scene& of) : scene_(of) {
  builder made{*this, {}, {}};
  for (const sphere& each : of.spheres) made.boxes.push_back(box_of(each));
  for (const triangle& each : of.triangles) made.boxes.push_back(box_of(each));
  for (const bounds& each : made.boxes) made.centres.push_back((each.min + each.max) * 0.5);
  order_.resize(made.boxes.size());
  std::iota(order_.begin(), order_.end(), 0U);
  if (order_.empty()) return;
  nodes_.resize(1);
  made.build(0, 0, static_cast<std::uint32_t>(order_.size()), 0);
}

/// Takes the object for `best` if it is nearer; returns whether it did.
bool volume_tree::meet(std::uint32_t object, const ray& along, surface_hit& best,
                       ray_tests& tests) const {
  double distance = 0;
  if (object < scene_.spheres.size()) {
    const sphere& s = scene_.spheres[object];
    ++tests.spheres;
    const vector3 to = s.centre - along.origin;
    const double nearest = dot(to, along.direction);
    const double inside = s.radius * s.radius - (dot(to, to) - nearest * nearest);
    if (inside < 0) return false;
    ++tests.sphere_roots;
    const double half = std::sqrt(inside);
    distance = nearest - half > min_distance ? nearest - half : nearest + half;
  } else {  // [Möller 1997]
    const triangle& t = scene_.triangles[object - scene_.spheres.size()];
    ++tests.triangles;
    const vector3 p = cross(along.direction, t.edge2);
    const double determinant = dot(t.edge1, p);
    if (determinant == 0) return false;
    const double inverse = 1 / determinant;
    const vector3 from = along.origin - t.corner;
    const double u = dot(from, p) * inverse;
    if (u < 0 || u > 1) return false;
    const vector3 q = cross(from, t.edge1);
    const double v = dot(along.direction, q) * inverse;
    if (v < 0 || u + v > 1) return false;
    distance = dot(t.edge2, q) * inverse;
  }
  if (!(distance > min_distance) || distance > best.distance) return false;
  if (distance == best.distance && object > best.object) return false;
  best = {distance, object};
  return true;
}

/// Goes down the tree, into the nearer child first.
template <bool IsAnyEnough>
surface_hit volume_tree::search(const ray& along, double distance, ray_tests& tests) const {
  surface_hit best{distance, surface_hit::none};
  if (nodes_.empty()) return best;
  struct waiting {
    std::uint32_t node;
    double enters;
  };
  const vector3& d = along.direction;
  const vector3 inverse{1 / d.x, 1 / d.y, 1 / d.z};
  std::array<waiting, max_depth + 1> stack;
  std::size_t height = 0;
  stack[height++] = {0, 0};
  while (height != 0) {
    const waiting next = stack[--height];
    if (next.enters > best.distance) continue;
    const node& here = nodes_[next.node];
    if (here.count != 0) {
      for (std::uint32_t i = here.first; i < here.first + here.count; ++i) {
        if (meet(order_[i], along, best, tests) && IsAnyEnough) return best;
      }
      continue;
    }
    tests.boxes += 2;
    waiting a{here.first, entry(nodes_[here.first].box, along.origin, inverse, best.distance)};
    waiting b{here.first + 1,
              entry(nodes_[here.first + 1].box, along.origin, inverse, best.distance)};
    if (a.enters < b.enters) std::swap(a, b);
    if (std::isfinite(a.enters)) stack[height++] = a;
    if (std::isfinite(b.enters)) stack[height++] = b;
  }
  return best;
}

surface_hit volume_tree::nearest(const ray& along, ray_tests& tests) const {
  return search<false>(along, std::numeric_limits<double>::infinity(), tests);
}
bool volume_tree::is_blocked(const ray& along, double distance, ray_tests& tests) const {
  return search<true>(along, distance, tests).object != surface_hit::none;
}

}  // namespace creek::tool
