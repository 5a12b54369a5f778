// SPDX-License-Identifier: Apache-2.0
// How fast memory can be read, to compare a scan with.
#pragma once

namespace creek::tpch {

/// Bytes a second that the workers of the runtime that this runs in read from memory together: the
/// best of a few sums of an array of 256 MiB, larger than caches usually are. Takes some 0.2 s.
[[nodiscard]] double read_bandwidth();

}  // namespace creek::tpch
