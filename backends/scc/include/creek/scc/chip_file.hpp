// SPDX-License-Identifier: Apache-2.0
// Descriptions of chips as JSON. A file names what differs from the preset that it is based on:
//
//     {"base": "scc-533", "name": "wide", "mesh": {"columns": 8, "rows": 8},
//      "costs": {"mpb_access": 30}}
//
// to_json() of any chip shows all keys.
#pragma once

#include <string>
#include <string_view>

#include <creek/scc/chip.hpp>

namespace creek::scc_backend {

/// Returns the chip of `text`. Throws usage_error that says `source`, the key and the reason if it
/// is not JSON, has an unknown key, a value of another type, or one that no chip can have. Where
/// the mesh differs from the base's, controllers and counters lie as on the SCC unless said.
[[nodiscard]] chip parse_chip(std::string_view text, const std::string& source);
/// Does the same for a file or a pipe. Throws usage_error too if it cannot be read or is larger
/// than 16 MiB.
[[nodiscard]] chip read_chip(const std::string& path);
/// Returns a description with every key, in lines; parse_chip() of it gives the same chip.
[[nodiscard]] std::string to_json(const chip& what);

}  // namespace creek::scc_backend
