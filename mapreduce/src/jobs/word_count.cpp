// SPDX-License-Identifier: Apache-2.0
// Instantiates run() of this job, for all inputs.
#include <creek/mapreduce/jobs/word_count.hpp>
#include <creek/mapreduce/run.hpp>

namespace creek::mapreduce {

template result<word_count> detail::run_source(const word_count&, split_source<text_split>,
                                               const options&);

}  // namespace creek::mapreduce
