// SPDX-License-Identifier: Apache-2.0
// Points, directions and colours: three numbers.
#pragma once

#include <cmath>

namespace creek::tool {

struct vector3 {
  double x = 0, y = 0, z = 0;

  [[nodiscard]] double operator[](int axis) const noexcept {
    return axis == 0 ? x : axis == 1 ? y : z;
  }
  friend vector3 operator+(const vector3& a, const vector3& b) noexcept {
    return {a.x + b.x, a.y + b.y, a.z + b.z};
  }
  friend vector3 operator-(const vector3& a, const vector3& b) noexcept {
    return {a.x - b.x, a.y - b.y, a.z - b.z};
  }
  friend vector3 operator*(const vector3& a, double s) noexcept {
    return {a.x * s, a.y * s, a.z * s};
  }
  /// The product of each component.
  friend vector3 operator*(const vector3& a, const vector3& b) noexcept {
    return {a.x * b.x, a.y * b.y, a.z * b.z};
  }
  friend bool operator==(const vector3&, const vector3&) = default;
};

[[nodiscard]] inline double dot(const vector3& a, const vector3& b) noexcept {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
[[nodiscard]] inline vector3 cross(const vector3& a, const vector3& b) noexcept {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
[[nodiscard]] inline double length(const vector3& a) noexcept {
  return std::sqrt(dot(a, a));
}
[[nodiscard]] inline vector3 unit(const vector3& a) noexcept {
  return a * (1 / length(a));
}

}  // namespace creek::tool
