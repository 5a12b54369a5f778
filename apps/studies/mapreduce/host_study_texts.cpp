// SPDX-License-Identifier: Apache-2.0
// The workloads of the study of the host that read texts.
#include "host_study.hpp"

namespace creek::tool::bench {

template void workloads<host_study>::word_count(const char*, std::size_t, host_study&);
template void workloads<host_study>::string_match(const char*, std::size_t, host_study&);
template void workloads<host_study>::inverted_index(const char*, std::size_t, host_study&);
template void workloads<host_study>::line_filter(const char*, std::size_t, host_study&);

}  // namespace creek::tool::bench
