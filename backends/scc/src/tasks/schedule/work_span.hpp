// SPDX-License-Identifier: Apache-2.0
// Beginning and end of what a worker runs: a task, or the handling of a message.
#pragma once

#include "schedule_log.hpp"
#include "tasks/idle/policy_notices.hpp"

namespace creek::scc_backend {

/// Account of the energy that a core uses while a task runs on it; all else is account 0.
inline constexpr energy_account account_of_tasks{1};

/// While it exists, the running worker is in a task scope of its own, under the account of tasks,
/// and in a span of the traces.
class work_span {
 public:
  /// `kind` names the span; `notice` is the name that the policy is told, if any.
  work_span(ext::executor& home, machine& chip, schedule_log& log, policy_notices& policy,
            task_worker& worker, trace::name kind, const char* notice = nullptr) noexcept
      : chip_(chip), log_(log), worker_(worker) {
    worker.rest = {};
    worker.attempt = 0;
    log.note(worker, step::run);
    policy.about_to_run(worker, notice);
    ext::set_foreign_scope(&home, &scope_);
    before_ = chip_.log().switch_account(account_of_tasks);
    chip_.log().begin_span(kind, trace::no_argument);
  }
  work_span(const work_span&) = delete;
  work_span& operator=(const work_span&) = delete;
  ~work_span() {
    chip_.log().end_span();
    chip_.log().switch_account(before_);
    ext::set_foreign_scope(nullptr, nullptr);
    log_.ended(worker_);
  }

 private:
  machine& chip_;
  schedule_log& log_;
  task_worker& worker_;
  ext::task_scope scope_;
  energy_account before_{};
};

}  // namespace creek::scc_backend
