// SPDX-License-Identifier: Apache-2.0
// The choice of the points that k-means starts from.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <creek/mapreduce/jobs/k_means.hpp>

namespace creek::mapreduce::detail {

/// Returns the indices of options.clusters different points, chosen as options.start says. The same
/// for every number of workers and every instruction set. Called by a task; throws creek::error
/// (ECANCELED) once a stop is requested.
std::vector<std::size_t> first_centres(std::span<const float> points,
                                       const k_means_options& options);

}  // namespace creek::mapreduce::detail
