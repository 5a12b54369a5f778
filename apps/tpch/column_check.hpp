// SPDX-License-Identifier: Apache-2.0
// Whether a column that was read from a file keeps the promises that column and packed make.
#pragma once

#include "table.hpp"

namespace creek::tpch {

/// True if no code is greater than said, every code of a category has a word, the words are in
/// order, and texts and words lie within `bytes`, each ending where the next one begins. Reads all
/// numbers of the column, in about the time that a checksum of them takes. Any thread.
[[nodiscard]] bool is_sound(const column& what) noexcept;

}  // namespace creek::tpch
