// SPDX-License-Identifier: Apache-2.0
// The workloads of the study of the host that read arrays.
#include "host_study.hpp"

namespace creek::tool::bench {

template void workloads<host_study>::histogram(const char*, std::size_t, host_study&);
template void workloads<host_study>::linear_regression(const char*, std::size_t, host_study&);
template void workloads<host_study>::k_means(const char*, std::size_t, host_study&);

}  // namespace creek::tool::bench
