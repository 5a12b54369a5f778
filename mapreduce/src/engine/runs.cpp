// SPDX-License-Identifier: Apache-2.0
// Instantiates sorting and merging for records that many jobs share.
#include <creek/mapreduce/engine/runs.hpp>
#include <creek/mapreduce/jobs/word_count.hpp>

namespace creek::mapreduce {

template sort_effort sort_refs(std::vector<pair_ref<std::string_view, std::uint64_t>>&);
template class ordered_runs<detail::key_order<record<std::string_view, std::uint64_t>>>;
template class ordered_runs<detail::key_order<record<std::uint64_t, std::uint64_t>>>;
template class ordered_runs<detail::job_order<word_count>>;

}  // namespace creek::mapreduce
