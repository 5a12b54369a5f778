// SPDX-License-Identifier: Apache-2.0
// Read bandwidth of memory, to compare a scan with.
#pragma once

namespace creek::tpch {

/// Returns the bytes per second that all workers of the current runtime together read from memory:
/// the best of a few sums of an array of 256 MiB, larger than usual caches. Takes some 0.2 s.
[[nodiscard]] double read_bandwidth();

}  // namespace creek::tpch
