// SPDX-License-Identifier: Apache-2.0
// Inputs for measuring the jobs, the same in every run.
#pragma once

#include <creek/mapreduce.hpp>
#include <cstddef>
#include <vector>

namespace creek_bench {

/// Returns pixels with similar neighbours, as in photographs: harder to count than noise.
std::vector<creek::mapreduce::pixel> walking_colours(std::size_t count);
std::vector<creek::mapreduce::byte_point> noisy_line(std::size_t count);
/// Returns points uniform in a cube, in random order, stored by rows.
std::vector<float> uniform_points(std::size_t count, std::size_t dimensions);

}  // namespace creek_bench
