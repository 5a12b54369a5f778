// SPDX-License-Identifier: Apache-2.0
// Instantiates run() of this job, for all inputs.
#include <creek/mapreduce/jobs/colour_histogram.hpp>
#include <creek/mapreduce/run.hpp>

namespace creek::mapreduce {

template result<colour_histogram> detail::run_source(const colour_histogram&,
                                                     split_source<pixel_rows>, const options&);

}  // namespace creek::mapreduce
