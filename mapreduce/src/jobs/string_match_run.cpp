// SPDX-License-Identifier: Apache-2.0
// Instantiates run() of this job, for all inputs.
#include <creek/mapreduce/jobs/string_match.hpp>
#include <creek/mapreduce/run.hpp>

namespace creek::mapreduce {

template result<string_match> detail::run_source(const string_match&, split_source<text_split>,
                                                 const options&);

}  // namespace creek::mapreduce
