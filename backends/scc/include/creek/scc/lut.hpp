// SPDX-License-Identifier: Apache-2.0
// A core's look-up table: where each 16 MB of its 32-bit addresses lie. On the chip every access of
// a core goes through it; here lookup_table::mapped() looks an address up, and the place that it
// returns is read and written like any other memory.
#pragma once

#include <compare>
#include <cstdint>

#include <creek/core/language.hpp>

namespace creek::scc_backend {

/// One of the 256 entries of a core [Mattson 2010]. Tables begin as the SCC's do [Intel EAS]:
/// private memory from entry 0, shared memory from 0x80, the message-passing buffers of the first
/// tiles from 0xC0, of the own tile at 0xD8.
struct lut_entry {
  enum class target : std::uint8_t {
    none,  ///< an access is an error
    mpb,   ///< the buffer of tile `destination`
    dram   ///< 16 MB from `address` on at controller `destination`
  };
  target to = target::none;
  int destination = 0;
  std::uint64_t address = 0;  ///< a multiple of 16 MB

  friend auto operator<=>(const lut_entry&, const lut_entry&) = default;
};

inline constexpr int first_shared_entry = 0x80;
inline constexpr int first_mpb_entry = 0xC0;
inline constexpr int own_mpb_entry = 0xD8;

}  // namespace creek::scc_backend
