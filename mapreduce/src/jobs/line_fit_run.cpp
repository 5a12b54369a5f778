// SPDX-License-Identifier: Apache-2.0
// Instantiates run() of these jobs, for all inputs.
#include <creek/mapreduce/jobs/line_fit.hpp>
#include <creek/mapreduce/run.hpp>

namespace creek::mapreduce {

template result<line_fit<byte_point>> detail::run_source(const line_fit<byte_point>&,
                                                         split_source<std::span<const byte_point>>,
                                                         const options&);
template result<line_fit<real_point>> detail::run_source(const line_fit<real_point>&,
                                                         split_source<std::span<const real_point>>,
                                                         const options&);

}  // namespace creek::mapreduce
