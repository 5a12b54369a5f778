// SPDX-License-Identifier: Apache-2.0
#include "renderer.hpp"

#include <algorithm>
#include <cmath>
#include <creek/core/charge.hpp>
#include <numbers>

namespace creek::tool {
namespace {

/// Work in operations of the source: an addition, a multiplication or a comparison of doubles is a
/// `flop` of work_costs.hpp, which counts two cycles for it. A box has 12 and 7, a sphere 17, a
/// triangle 46 if all of its tests pass.
constexpr std::int64_t flops_per_box = 19, flops_per_sphere = 17, flops_per_triangle = 46;
/// The point, the normal, the side, the reflection.
constexpr std::int64_t flops_per_surface = 40;
/// Direction and distance, two cosines, the mirrored direction, the sum of two terms.
constexpr std::int64_t flops_per_light = 45;
constexpr std::int64_t flops_per_ray = 20;

/// Cycles of the Pentium for a square root and a division of doubles [Intel 241430], and for a
/// power (FYL2X and F2XM1, at most 111 and 57).
constexpr std::int64_t root_cycles = 70, division_cycles = 39, power_cycles = 168;

/// Returns the byte of a component: the transfer function of sRGB (IEC 61966-2-1), rounded.
char byte_of(double linear) {
  const double c = std::clamp(linear, 0.0, 1.0);
  const double coded = c <= 0.0031308 ? 12.92 * c : 1.055 * std::pow(c, 1 / 2.4) - 0.055;
  return static_cast<char>(static_cast<unsigned char>(std::floor(coded * 255 + 0.5)));
}

}  // namespace

struct renderer::work_done {
  ray_tests tests;
  std::int64_t rays = 0, surfaces = 0, lights = 0, highlights = 0, pixels = 0;
};

/// The place where a ray meets a surface.
struct renderer::surface {
  vector3 point;
  vector3 normal;  ///< towards the side that the ray comes from
  const material* made_of;
};

renderer::renderer(const scene& of) : scene_(of), tree_(of) {
  const double half = std::tan(of.view.degrees * std::numbers::pi / 360);
  forward_ = unit(of.view.target - of.view.position);
  const vector3 right = unit(cross(forward_, {0, 1, 0}));
  right_ = right * half;
  up_ = cross(right, forward_) * half;
}

picture_rows renderer::render(int first, int count) const {
  picture_rows rows{first, count, {}, 0};
  rows.pixels.reserve(static_cast<std::size_t>(count) * static_cast<std::size_t>(scene_.width) * 3);
  work_done done;
  for (int y = first; y < first + count; ++y) {
    for (int x = 0; x < scene_.width; ++x) {
      const vector3 colour = pixel(x, y, done);
      rows.pixels += {byte_of(colour.x), byte_of(colour.y), byte_of(colour.z)};
    }
  }
  rows.rays = static_cast<std::uint64_t>(done.rays);
  state(done);
  return rows;
}

void renderer::state(const work_done& done) {
  const auto number = [](std::uint64_t n) { return static_cast<std::int64_t>(n); };
  charge(work::flop,
         number(done.tests.boxes) * flops_per_box + number(done.tests.spheres) * flops_per_sphere +
             number(done.tests.triangles) * flops_per_triangle + done.surfaces * flops_per_surface +
             done.lights * flops_per_light + done.rays * flops_per_ray);
  const std::int64_t roots = number(done.tests.sphere_roots) + done.lights;
  const std::int64_t divisions =
      number(done.tests.triangles) + 3 * done.rays + done.surfaces + done.lights;
  const std::int64_t powers = done.highlights + 3 * done.pixels;
  charge(cycles{roots * root_cycles + divisions * division_cycles + powers * power_cycles});
}

/// Returns the mean of samples * samples rays, at the middles of equal squares of the pixel.
vector3 renderer::pixel(int x, int y, work_done& done) const {
  const double side = scene_.samples, height = scene_.height;
  vector3 sum;
  for (int j = 0; j < scene_.samples; ++j) {
    for (int i = 0; i < scene_.samples; ++i) {
      const double right = (2 * (x + (i + 0.5) / side) - scene_.width) / height;
      const double up = (height - 2 * (y + (j + 0.5) / side)) / height;
      sum = sum + trace({scene_.view.position, unit(forward_ + right_ * right + up_ * up)}, done);
    }
  }
  ++done.pixels;
  return sum * (1 / (side * side));
}

vector3 renderer::trace(ray along, work_done& done) const {
  vector3 colour;
  double weight = 1;
  for (int reflections = 0;; ++reflections) {
    ++done.rays;
    const surface_hit hit = tree_.nearest(along, done.tests);
    if (hit.object == surface_hit::none) return colour + scene_.background * weight;
    const surface at = surface_at(along, hit);
    ++done.surfaces;
    const double mirrored = reflections < scene_.depth ? at.made_of->reflection : 0;
    colour = colour + lit(at, along.direction, done) * (weight * (1 - mirrored));
    if (mirrored == 0) return colour;
    weight *= mirrored;
    along = {at.point, unit(along.direction - at.normal * (2 * dot(along.direction, at.normal)))};
  }
}

renderer::surface renderer::surface_at(const ray& along, const surface_hit& hit) const {
  const vector3 point = along.origin + along.direction * hit.distance;
  const auto towards = [&](const vector3& normal, std::uint32_t material) {
    const bool is_behind = dot(normal, along.direction) > 0;
    return surface{point, is_behind ? normal * -1 : normal, &scene_.materials[material]};
  };
  if (hit.object < scene_.spheres.size()) {
    const sphere& s = scene_.spheres[hit.object];
    return towards((point - s.centre) * (1 / s.radius), s.material);
  }
  const triangle& t = scene_.triangles[hit.object - scene_.spheres.size()];
  return towards(unit(cross(t.edge1, t.edge2)), t.material);
}

/// Returns the light that a surface sends back: ambient, and of each light that is seen from there
/// the diffuse share and the highlight [Phong 1975].
vector3 renderer::lit(const surface& at, const vector3& direction, work_done& done) const {
  const material& m = *at.made_of;
  vector3 colour = scene_.ambient * m.colour;
  for (const light& each : scene_.lights) {
    ++done.lights;
    const vector3 to = each.position - at.point;
    const double distance = length(to);
    if (distance == 0) continue;
    const vector3 towards = to * (1 / distance);
    const double cosine = dot(at.normal, towards);
    if (cosine <= 0) continue;
    ++done.rays;
    if (tree_.is_blocked({at.point, towards}, distance, done.tests)) continue;
    colour = colour + each.colour * m.colour * cosine;
    if (m.specular == 0) continue;
    ++done.highlights;
    const vector3 mirrored = at.normal * (2 * cosine) - towards;
    const double highlight = std::max(0.0, -dot(mirrored, direction));
    colour = colour + each.colour * (m.specular * std::pow(highlight, m.shininess));
  }
  return colour;
}

}  // namespace creek::tool
