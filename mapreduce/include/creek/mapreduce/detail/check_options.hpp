// SPDX-License-Identifier: Apache-2.0
// Checks of a run's options against the job.
#pragma once

#include <creek/mapreduce/dense.hpp>
#include <creek/mapreduce/detail/stages.hpp>
#include <creek/mapreduce/job.hpp>
#include <creek/mapreduce/options.hpp>

namespace creek::mapreduce::detail {

/// Throws usage_error for options that the job does not support.
template <class Job>
void check(const options& chosen) {
  static_assert(dense_requirements<Job>::met);
  static_assert(order_requirements<Job>::met);
  check_options(chosen, {sortable<Job>, combines<Job>, fills<Job>});
}

}  // namespace creek::mapreduce::detail
