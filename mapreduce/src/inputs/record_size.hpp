// SPDX-License-Identifier: Apache-2.0
// Checks of a file's size against its layout of records.
#pragma once

#include <creek/mapreduce/inputs/files.hpp>
#include <cstddef>
#include <cstdint>
#include <string>

namespace creek::mapreduce::detail {

/// Maximum number of bytes at the start of a file that its layout may depend on.
inline constexpr std::size_t head_bytes = 4096;

/// Throws creek::error naming the file if `size` bytes end within a record or lack some records.
void check_size(const std::string& name, const record_layout& layout, std::uint64_t size);

}  // namespace creek::mapreduce::detail
