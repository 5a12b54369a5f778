// SPDX-License-Identifier: Apache-2.0
// The choice of the points that k-means starts from.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <creek/core/messages/any_communicator.hpp>
#include <creek/mapreduce/jobs/k_means.hpp>
#include <creek/tasking/runtime.hpp>

namespace creek::mapreduce::detail {

inline constexpr std::size_t points_a_split = 8192;

/// Returns the indices of options.clusters different points, chosen as options.start says. The same
/// for every number of workers and every instruction set. Called by a task; throws creek::error
/// (ECANCELED) once a stop is requested.
std::vector<std::size_t> first_centres(std::span<const float> points,
                                       const k_means_options& options);

/// Returns the coordinates of the same points on all ranks, each of which has the points of its
/// share, out of `all`. All ranks call it, outside of tasks.
std::vector<float> first_centres_on_ranks(std::span<const float> points, std::size_t all,
                                          any_communicator& ranks, runtime& rt,
                                          const k_means_options& options);

}  // namespace creek::mapreduce::detail
