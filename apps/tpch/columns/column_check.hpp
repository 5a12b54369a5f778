// SPDX-License-Identifier: Apache-2.0
// Checks that a column read from a file keeps the promises of column and packed.
#pragma once

#include "table.hpp"

namespace creek::tpch {

/// Returns true if no code is above `last_code`, every code of a category has a word, the words are
/// in order, and texts and words lie within `bytes`, each ending where the next one begins. Reads
/// all numbers of the column, in about the time of a checksum over them. Any thread.
[[nodiscard]] bool is_sound(const column& what) noexcept;

}  // namespace creek::tpch
