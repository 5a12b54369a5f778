// SPDX-License-Identifier: Apache-2.0
// Options of a task runtime: checked, and what they say about it.
#pragma once

#include <creek/scc.hpp>
#include <creek/tasking/ext/executor.hpp>

namespace creek::scc_backend {

/// Returns the options with defaults filled in; throws usage_error if the chip cannot serve them.
scc checked(scc chosen);
/// Returns the traits of a runtime with checked options.
ext::executor_traits traits_of(const scc& chosen);

}  // namespace creek::scc_backend
