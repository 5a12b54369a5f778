// SPDX-License-Identifier: Apache-2.0
// The peers: loops over even shares of the data on their own threads, without creek's runtime.
// `vectorised` is the kernel that the job uses, called once per thread; the extra time of a job is
// the cost of MapReduce. `plain` is the straightforward loop; `native` is one for the widest
// vectors of the machine that compiles it.
#pragma once

#include <creek/mapreduce.hpp>
#include <cstdint>
#include <span>
#include <vector>

namespace creek_bench {

using creek::mapreduce::byte_point;
using creek::mapreduce::pixel;

/// All answers as numbers, to be compared; integers are exact.
using answer = std::vector<double>;

enum class loop_kind { plain, native, vectorised };

answer histogram_by_loop(std::span<const pixel> pixels, unsigned threads, loop_kind kind);
answer line_sums_by_loop(std::span<const byte_point> points, unsigned threads, loop_kind kind);
/// Does one round: see creek::mapreduce::add_to_nearest. `native` has three dimensions.
answer k_means_by_loop(std::span<const float> points, std::span<const float> centres,
                       std::size_t dimensions, unsigned threads, loop_kind kind);

/// The `native` loop of a round, over the points of one thread.
void native_k_means(std::span<const float> points, std::span<const float> centres,
                    std::span<double> sums);

}  // namespace creek_bench
