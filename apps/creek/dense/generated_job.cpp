// SPDX-License-Identifier: Apache-2.0
#include "generated_job.hpp"

#include "jobs/tile_jobs.hpp"

namespace creek::tool::dense {

generated_job::generated_job(const problem& what)
    : what_(what), a_(generated_matrix<double>(what_)) {}

void generated_job::prepare() {
  if (!job_) {
    job_ = what_.layout == form::blocks ? make_tile_job<double>(what_, a_, nullptr)
                                        : make_job<double>(what_, a_, nullptr);
  }
  job_->prepare();
}

}  // namespace creek::tool::dense
