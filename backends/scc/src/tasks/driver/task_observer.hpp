// SPDX-License-Identifier: Apache-2.0
// Observer of the tasks of a runtime. Adds to that of a core the turns of workers at data that they
// share, in the order of virtual time: under the test-and-set register of a core, with their words
// in uncached shared memory.
#pragma once

#include "chip/core_observer.hpp"
#include "tasks/idle/policy_notices.hpp"
#include "tasks/worker_set.hpp"

namespace creek::scc_backend {

class task_observer final : public core_observer {
 public:
  task_observer(worker_set& workers, policy_notices& policy) noexcept
      : core_observer(workers.chip()), workers_{workers}, policy_{policy} {}

  void entered(unsigned owner) noexcept override;
  void left(unsigned owner, std::span<const work_amount> done) noexcept override;

 private:
  worker_set& workers_;
  policy_notices& policy_;
};

}  // namespace creek::scc_backend
