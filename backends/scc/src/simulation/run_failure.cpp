// SPDX-License-Identifier: Apache-2.0
#include "run_failure.hpp"

#include <cerrno>
#include <system_error>

#include <creek/core/error.hpp>

namespace creek::scc_backend {

void run_failure::record(std::exception_ptr why) noexcept {
  if (observer_) observer_(why);
  if (!first_) first_ = std::move(why);
  aborted_ = true;
}

void run_failure::throw_if_aborted() const {
  if (aborted_) {
    throw error(std::error_code(ECANCELED, std::generic_category()),
                "simulated chip: the run was ended by a failure on another core");
  }
}

void run_failure::rethrow() {
  if (first_) std::rethrow_exception(std::exchange(first_, nullptr));
}

}  // namespace creek::scc_backend
