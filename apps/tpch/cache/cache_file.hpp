// SPDX-License-Identifier: Apache-2.0
// Cache files: tables in their layout in memory, which are mapped and not parsed.
//
// Layout, little-endian: a header of 64 bytes (cache_header); the directory, JSON text that says
// where the arrays of each column are, how they are packed and what their checksums are; from the
// next multiple of 64 on the arrays, each on a multiple of 64 and followed by `read_slack` zero
// bytes. Checksums are XXH3-64: the header's covers itself, it holds the directory's, and the
// directory those of each MiB of the arrays, so that a share of a table is checked by itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tpch/columns/table.hpp"
#include "tpch/loading/loaded_table.hpp"
#include "tpch/loading/table_share.hpp"

namespace creek::tpch {

/// Version that changes with the layout and with the schema; other versions are refused.
inline constexpr std::uint32_t cache_version = 3;

/// Writes all columns of `loaded` to `file`, which appears whole or not at all. Checksums are made
/// in parallel on the runtime that this runs in. Returns the bytes written. Throws creek::error.
std::uint64_t write_cache(const std::string& file, const loaded_table& loaded);

/// Place of a cache's columns once they are loaded.
enum class residence : unsigned char {
  file,    ///< in the mapped file: nothing is copied, memory is that of the page cache
  memory,  ///< in their own large pages, which scans read faster; the file is closed
};

/// Maps or copies the columns `wanted` and checks their checksums, in parallel. Throws
/// creek::error: "FILE: why" if it cannot be read, is damaged, of another version or of another
/// table; std::bad_alloc. The user does not choose the name of a cache, so a link there is refused
/// unless `links` says otherwise. Of a share it reads and checks that share of the rows.
[[nodiscard]] loaded_table read_cache(const std::string& file, const table_schema& schema,
                                      const std::vector<bool>& wanted,
                                      residence where = residence::file,
                                      symbolic_links links = symbolic_links::refuse,
                                      table_share share = {});

/// Returns a stamp of each file that a cache was made from, or nullopt if there is no such cache.
/// Throws as read_cache.
[[nodiscard]] std::optional<std::vector<file_stamp>> cache_origin(
    const std::string& file, const table_schema& schema,
    symbolic_links links = symbolic_links::refuse);

}  // namespace creek::tpch
