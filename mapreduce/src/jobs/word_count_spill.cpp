// SPDX-License-Identifier: Apache-2.0
// Instantiates run() of this job with a memory limit, for all inputs.
#include <creek/mapreduce/jobs/word_count.hpp>
#include <creek/mapreduce/spill.hpp>

namespace creek::mapreduce {

template spilled_result<word_count> detail::run_source(const word_count&, split_source<text_split>,
                                                       const options&, const memory_limit&);
template run_summary detail::run_source_to(const word_count&, split_source<text_split>,
                                           const options&, const memory_limit&,
                                           function_ref<void(const record_of<word_count>&)>);

}  // namespace creek::mapreduce
