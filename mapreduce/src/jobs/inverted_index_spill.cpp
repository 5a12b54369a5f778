// SPDX-License-Identifier: Apache-2.0
// Instantiates run() of this job with a memory limit, for all inputs.
#include <creek/mapreduce/jobs/inverted_index.hpp>
#include <creek/mapreduce/spill.hpp>

namespace creek::mapreduce {

template spilled_result<inverted_index> detail::run_source(const inverted_index&,
                                                           split_source<text_split>, const options&,
                                                           const memory_limit&);
template run_summary detail::run_source_to(const inverted_index&, split_source<text_split>,
                                           const options&, const memory_limit&,
                                           function_ref<void(const record_of<inverted_index>&)>);

}  // namespace creek::mapreduce
