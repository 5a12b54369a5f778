// SPDX-License-Identifier: Apache-2.0
// Instantiates run() of this job, for all inputs.
#include <creek/mapreduce/jobs/line_filter.hpp>
#include <creek/mapreduce/run.hpp>

namespace creek::mapreduce {

template result<line_filter> detail::run_source(const line_filter&, split_source<text_split>,
                                                const options&);

}  // namespace creek::mapreduce
