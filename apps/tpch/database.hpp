// SPDX-License-Identifier: Apache-2.0
// A folder with the tables of one scale factor, as text, as caches or both.
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "tpch/cache/cache_file.hpp"
#include "tpch/loading/loaded_table.hpp"
#include "tpch/loading/table_files.hpp"
#include "tpch/loading/table_share.hpp"

namespace creek::tpch {

/// Source of a table, and the cost of reading it.
struct table_source {
  std::string_view table;
  std::string file;  ///< the first file if there are several
  std::size_t files = 1;
  file_format format = file_format::text;  ///< format of the files that it or its cache came from
  bool cached = false;
  /// Number made of `cached` and the sizes of the files, by which ranks see that they have shares
  /// of the same table.
  std::uint64_t version = 0;
  std::uint64_t rows = 0;         ///< of the share that was read
  std::uint64_t text_bytes = 0;   ///< size of the text or Parquet files
  std::uint64_t cache_bytes = 0;  ///< written by make_caches
  std::chrono::duration<double> reading{};
  std::chrono::duration<double> writing{};  ///< time of make_caches
};

/// Tables of a folder, read on request. Used by one thread; if that runs a task of a runtime,
/// reading is parallel.
class database {
 public:
  /// Opens a folder. `where` applies to columns from caches; others lie in memory, as do those of a
  /// cache written in the last tenth of a second. `share` is the part of every table to read.
  /// Throws creek::error if the folder cannot be read or holds neither tables nor caches.
  explicit database(std::string folder, residence where = residence::file, table_share share = {});

  /// Returns the named columns of the share of a table: from its cache TABLE.creek, if that was
  /// made from the files that find_table finds as they are now or if it finds none, else from those
  /// files. Throws creek::error as find_table, load_tbl, load_parquet and read_cache; refuses a
  /// damaged cache instead of ignoring it.
  [[nodiscard]] table open(std::string_view name, std::initializer_list<std::string_view> columns);

  /// Makes the cache of every table whose files exist. Throws creek::error, also if there is none.
  void make_caches();

  /// Returns the sources of the tables read so far.
  [[nodiscard]] const std::vector<table_source>& sources() const noexcept { return sources_; }

 private:
  [[nodiscard]] std::string cache_of(std::string_view table) const;
  [[nodiscard]] bool cache_serves(const table_schema& schema,
                                  const std::vector<std::string>& files) const;

  std::string folder_;
  residence where_;
  table_share share_;
  std::vector<table_source> sources_;
};

}  // namespace creek::tpch
