// SPDX-License-Identifier: Apache-2.0
// Places where a task graph can run.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include <creek/host.hpp>
#include <creek/tasking.hpp>

namespace creek::linalg::support {

/// Calls f() on a plain thread and in runtimes of one, two and four workers.
template <class F>
void everywhere(F f) {
  f();
  for (const unsigned workers : {1U, 2U, 4U}) {
    SCOPED_TRACE("workers = " + std::to_string(workers));
    runtime(host{workers}).run(f);
  }
}

}  // namespace creek::linalg::support
