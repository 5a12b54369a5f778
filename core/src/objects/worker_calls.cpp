// SPDX-License-Identifier: Apache-2.0
#include "worker_calls.hpp"

#include <fmt/format.h>

#include <utility>

#include <creek/core/error.hpp>

namespace creek::detail {

void worker_calls::set_workers(std::unique_ptr<rank_workers> workers) {
  if (workers_) throw usage_error("an object_space has workers already");
  workers_ = std::move(workers);
}

int worker_calls::worker_count() const noexcept {
  return workers_ ? workers_->count() : 0;
}

std::unique_ptr<call_port> worker_calls::open(int rank, std::uint64_t number) {
  const std::uint64_t worker = number - 1;
  const int count = worker_count();
  if (count == 0) {
    throw usage_error(fmt::format(
        "a call of worker {} of rank {}, whose object_space has no workers: give it some by "
        "use_workers()",
        worker, rank));
  }
  if (worker >= static_cast<std::uint64_t>(count)) {
    throw usage_error(
        fmt::format("a call of worker {} of rank {}, which has 0 to {}", worker, rank, count - 1));
  }
  return workers_->open(static_cast<int>(worker));
}

void worker_calls::post(std::unique_ptr<worker_call> call) {
  ++under_way_;
  call_port& to = call->port();
  to.post(deferred_call_ptr(call.release()));
}

std::unique_ptr<worker_call> worker_calls::take() noexcept {
  std::unique_ptr<worker_call> taken(completed_->take());
  if (taken) --under_way_;
  return taken;
}

}  // namespace creek::detail
