// SPDX-License-Identifier: Apache-2.0
// Instantiates run() of this job, for all inputs.
#include <creek/mapreduce/jobs/inverted_index.hpp>
#include <creek/mapreduce/run.hpp>

namespace creek::mapreduce {

template result<inverted_index> detail::run_source(const inverted_index&, split_source<text_split>,
                                                   const options&);

}  // namespace creek::mapreduce
