// SPDX-License-Identifier: Apache-2.0
// The rates of the model as this machine has them.
#pragma once

#include "constants.hpp"

namespace creek::tool::machines {

/// Returns the constants with the rates of word count, LU and tree search measured here, in
/// processor time of one worker; those of the network are kept. `block`: columns of a panel of LU.
[[nodiscard]] constants measured_rates(constants of, long long block);

}  // namespace creek::tool::machines
