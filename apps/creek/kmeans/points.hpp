// SPDX-License-Identifier: Apache-2.0
// The points that `creek kmeans` reads: pieces of files, joined in the order of the input.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <creek/mapreduce/inputs/files.hpp>
#include <creek/mapreduce/job.hpp>

#include "jobs/rank_group.hpp"

namespace creek::tool {

/// The points of some records.
struct some_points {
  std::vector<float> values;
  std::size_t columns = 0;
};

using piece_of_points = mapreduce::record<mapreduce::origin, some_points>;

struct cloud {
  std::vector<float> points;  // those of this rank, if there are ranks
  std::size_t dimensions = 0;
  std::size_t count = 0;  // of all points
};

/// Joins pieces, which are in order and lose their values. With ranks, each has read some of the
/// pieces and gets its share of the points (k_means_share); all ranks call it. Throws creek::error
/// if pieces have different numbers of columns, or if there are no points.
[[nodiscard]] cloud join_points(std::span<piece_of_points> pieces,
                                const mapreduce::text_files& files, rank_group* ranks);

}  // namespace creek::tool
