// SPDX-License-Identifier: Apache-2.0
// Partitions of integer keys with vector instructions, the widest the machine has.
#pragma once

#include <cstddef>
#include <cstdint>

namespace creek::detail {

/// Reorders keys[0, count) so that those with key < pivot (`or_equal`: key <= pivot) come first;
/// returns their number. One pass, in place. Any thread; never throws.
std::size_t partition_keys(std::int16_t* keys, std::size_t count, std::int16_t pivot,
                           bool or_equal) noexcept;
std::size_t partition_keys(std::uint16_t* keys, std::size_t count, std::uint16_t pivot,
                           bool or_equal) noexcept;
std::size_t partition_keys(std::int32_t* keys, std::size_t count, std::int32_t pivot,
                           bool or_equal) noexcept;
std::size_t partition_keys(std::uint32_t* keys, std::size_t count, std::uint32_t pivot,
                           bool or_equal) noexcept;
std::size_t partition_keys(std::int64_t* keys, std::size_t count, std::int64_t pivot,
                           bool or_equal) noexcept;
std::size_t partition_keys(std::uint64_t* keys, std::size_t count, std::uint64_t pivot,
                           bool or_equal) noexcept;

}  // namespace creek::detail
