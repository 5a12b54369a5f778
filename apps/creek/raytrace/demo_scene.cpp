// SPDX-License-Identifier: Apache-2.0
#include "scene.hpp"

namespace creek::tool {

std::string_view demo_scene() noexcept {
  return R"(# Spheres and a pyramid on a mirroring floor.
size 640 480
samples 2
depth 5
background 0.25 0.4 0.6
ambient 0.12 0.12 0.12
camera 0 2.2 7  0 0.7 0  45
light 4 6 5      0.8 0.8 0.75
light -5 4 3     0.35 0.35 0.45

material floor   0.6 0.6 0.6    0 1 0.25
material red     0.85 0.15 0.1  0.5 60 0.1
material glass   0.9 0.9 0.9    0.9 200 0.8
material blue    0.1 0.25 0.8   0.5 40 0.15
material gold    0.8 0.6 0.15   0.8 80 0.35

triangle floor   -8 0 -8   -8 0 8   8 0 8
triangle floor   -8 0 -8   8 0 8    8 0 -8
sphere red       -1.9 0.8 0.3  0.8
sphere glass     0 1.1 -1      1.1
sphere blue      1.3 0.45 1.6  0.45
sphere gold      -0.6 0.3 2    0.3
triangle gold    1.6 0 -0.6   3.2 0 -0.6   2.4 1.9 0.1
triangle gold    3.2 0 -0.6   2.8 0 0.9    2.4 1.9 0.1
triangle gold    2.8 0 0.9    1.6 0 -0.6   2.4 1.9 0.1
)";
}

}  // namespace creek::tool
