// SPDX-License-Identifier: Apache-2.0
// Energy of calls, by the machine's meter, for CREEK_LAPACK_VERBOSE. One call is measured at a
// time: a meter shows what the whole machine uses, which calls that overlap cannot share out.
#pragma once

#include <string>

namespace creek::lapack {

/// Opens the meter that CREEK_METER names. Throws usage_error for a bad value.
void open_meter();

/// Begins to measure. Returns false if there is no meter, or another call is measured. Any thread.
bool begin_energy() noexcept;

/// Ends what begin_energy began. Returns joules, or NaN if the meter failed.
double end_energy() noexcept;

/// In a child of fork(): no call is measured.
void forget_energy() noexcept;

/// Returns where the figures come from, or why there are none, as a line; empty if nobody asked for
/// a meter and there is none.
std::string energy_line();

/// Returns whether there are figures.
bool has_energy() noexcept;

}  // namespace creek::lapack
