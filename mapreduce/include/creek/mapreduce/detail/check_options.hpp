// SPDX-License-Identifier: Apache-2.0
// Options that a job cannot have.
#pragma once

#include <creek/core/error.hpp>
#include <creek/mapreduce/dense.hpp>
#include <creek/mapreduce/job.hpp>
#include <creek/mapreduce/options.hpp>

namespace creek::mapreduce::detail {

/// Throws usage_error.
template <class Job>
void check(const options& chosen) {
  if (chosen.top != 0 && !chosen.sort) {
    throw usage_error("mapreduce: options.top needs options.sort");
  }
  if (!sortable<Job> && chosen.sort) {
    throw usage_error("mapreduce: keys without an order: give the job before(), or sort = false");
  }
  if (!combines<Job> && chosen.how == strategy::combine_on_emit) {
    throw usage_error("mapreduce: strategy combine_on_emit needs a job with combine()");
  }
  if (fills<Job> && chosen.how == strategy::emit_and_group) {
    throw usage_error("mapreduce: strategy emit_and_group needs a job with map(), not fill()");
  }
}

}  // namespace creek::mapreduce::detail
