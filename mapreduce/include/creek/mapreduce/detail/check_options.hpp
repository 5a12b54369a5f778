// SPDX-License-Identifier: Apache-2.0
// Options that a job cannot have.
#pragma once

#include <creek/mapreduce/dense.hpp>
#include <creek/mapreduce/detail/stages.hpp>
#include <creek/mapreduce/job.hpp>
#include <creek/mapreduce/options.hpp>

namespace creek::mapreduce::detail {

/// Throws usage_error.
template <class Job>
void check(const options& chosen) {
  check_options(chosen, {sortable<Job>, combines<Job>, fills<Job>});
}

}  // namespace creek::mapreduce::detail
