// SPDX-License-Identifier: Apache-2.0
// The virtual time of a communication pattern on the simulated chip.
#pragma once

#include <utility>
#include <vector>

#include <creek/scc/spmd.hpp>

namespace creek::tool {

inline constexpr int rounds_on_chip = 8;

/// Returns the virtual microseconds per round of `body(communicator)`, with rank i on `cores[i]`.
/// Each rank calls `begin(communicator)` first; a round to warm up and a barrier follow.
template <class Begin, class Body>
double microseconds_a_round(const scc_backend::machine_options& on,
                            const std::vector<core_id>& cores, const communicator_options& how,
                            Begin begin, Body body) {
  virtual_time begun, ended;
  simulate_on(
      cores,
      [&](scc_communicator& c) {
        begin(c);
        body(c);
        c.barrier();
        if (c.rank() == 0) begun = c.memory().now();
        for (int i = 0; i < rounds_on_chip; ++i) body(c);
        c.barrier();
        if (c.rank() == 0) ended = c.memory().now();
      },
      on, how);
  return (ended - begun).in_seconds().value * 1e6 / rounds_on_chip;
}

}  // namespace creek::tool
