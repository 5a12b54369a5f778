// SPDX-License-Identifier: Apache-2.0
#include "chip_driver.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <utility>
#include <vector>

#include <creek/core/error.hpp>

#include "checker/checker.hpp"
#include "tasks/schedule/work_span.hpp"

namespace creek::scc_backend {

namespace {

/// Called when the simulation itself fails: by a bug of the runtime, a charge that no core can
/// spend, or the end of time.
[[noreturn]] void end_process(const std::exception_ptr& why) noexcept {
  try {
    std::rethrow_exception(why);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "creek: %s\n", failure.what());
  }
  std::abort();
}

}  // namespace

void chip_driver::start(std::function<void(task_worker&)> body) {
  try {
    thread_ = std::thread([this, body = std::move(body)] { drive(body); });
  } catch (const std::system_error& failure) {
    throw error(failure.code(), "simulated chip: cannot start the thread that drives it");
  }
}

void chip_driver::drive(const std::function<void(task_worker&)>& body) noexcept {
  machine& chip = workers_.chip();
  worker_set::drive(&workers_);
  chip.simulation().failure().when_failing(&end_process);
  chip.run(observer_, [&](core_id core) {
    if (core.index() < workers_.size()) body(workers_[core.index()]);
  });
  worker_set::drive(nullptr);
  std::vector<fault> found = found_faults(chip.memory().check(), chosen_.machine.on_faults);
  virtual_time ended;
  for (const auto& each : workers_) {
    ended = std::max(ended, chip.simulation().cores().ended_at(each->core));
  }
  write_records(ended);
  if (chosen_.report != nullptr) {
    fill(*chosen_.report, ended);
    chosen_.report->faults = std::move(found);
  }
}

void chip_driver::write_records(virtual_time ended) noexcept {
  run_records& records = workers_.chip().records();
  records.tally(ended);
  try {
    records.write(ended);
  } catch (...) {
    unwritten_ = std::current_exception();
  }
}

void chip_driver::fill(task_report& report, virtual_time ended) const {
  report = {};
  report.counters = workers_.counters();
  for (const auto& each : workers_) report.lock_waits += each->lock_waits;
  report.ended = ended;
  usage_report used = workers_.chip().records().usage(ended);
  report.energy = used.total;
  if (used.accounts.size() > account_of_tasks.number) {
    report.tasks = used.accounts[account_of_tasks.number];
  }
  report.usage = std::move(used);
  report.memory_full = books_.memory_full();
  report.schedule = log_.hash();
}

std::exception_ptr chip_driver::join() noexcept {
  if (thread_.joinable()) thread_.join();
  return unwritten_;
}

}  // namespace creek::scc_backend
