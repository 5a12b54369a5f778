// SPDX-License-Identifier: Apache-2.0
#include "database.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <creek/core/error.hpp>
#include <creek/tasking/hash.hpp>

#include "tpch/loading/tbl_file.hpp"
#include "tpch/parquet/parquet_file.hpp"

namespace creek::tpch {
namespace {

using clock = std::chrono::steady_clock;

bool exists(const std::string& file) {
  struct stat facts {};
  if (lstat(file.c_str(), &facts) == 0) return true;
  if (errno == ENOENT) return false;
  throw error(errno, file);
}

/// Returns true if the file was written to less than some ticks of its clock ago: a further write
/// may not change its time of modification, so that nobody would notice it.
bool is_young(const std::string& file) {
  constexpr auto ticks = std::chrono::milliseconds(100);
  const std::chrono::nanoseconds modified(stamp_of(file).modified);
  return std::chrono::system_clock::now().time_since_epoch() - modified < ticks;
}

std::uint64_t total_bytes(const std::vector<file_stamp>& files) {
  std::uint64_t bytes = 0;
  for (const file_stamp& file : files) bytes += file.bytes;
  return bytes;
}

loaded_table load(const table_files& files, const table_schema& schema,
                  const std::vector<bool>& wanted, table_share share = {}) {
  return files.format == file_format::text
             ? load_tbl(files.names, schema, wanted, tbl_piece_bytes, share)
             : load_parquet(files.names, schema, wanted, share);
}

std::uint64_t version_of(bool cached, const std::vector<file_stamp>& files) {
  std::uint64_t version = cached ? 1 : 2;
  for (const file_stamp& file : files) {
    version = multiply_and_fold(version ^ file.bytes, fixed_hash_factors.high) + 1;
  }
  return version;
}

constexpr const char* no_tables = ": has no .tbl or .parquet files of TPC-H";

}  // namespace

database::database(std::string folder, residence where, table_share share)
    : folder_(std::move(folder)), where_(where), share_(share) {
  struct stat facts {};
  if (stat(folder_.c_str(), &facts) != 0) throw error(errno, folder_);
  if (!S_ISDIR(facts.st_mode)) throw error(ENOTDIR, folder_);
  for (const table_schema& table : tables()) {
    if (has_table(folder_, table.name) || exists(cache_of(table.name))) return;
  }
  throw error(ENOENT, folder_ + no_tables);
}

std::string database::cache_of(std::string_view table) const {
  return fmt::format("{}/{}.creek", folder_, table);
}

bool database::cache_serves(const table_schema& schema,
                            const std::vector<std::string>& files) const {
  const auto origin = cache_origin(cache_of(schema.name), schema);
  return origin && (files.empty() || std::ranges::equal(*origin, files, {}, {}, stamp_of));
}

table database::open(std::string_view name, std::initializer_list<std::string_view> columns) {
  const table_schema& schema = table_named(name);
  std::vector<bool> wanted(schema.columns.size());
  for (const std::string_view column : columns) wanted[schema.at(column)] = true;
  const auto start = clock::now();
  table_files files = find_table(folder_, name);
  const bool cached = cache_serves(schema, files.names);
  if (cached) files.names = {cache_of(name)};
  if (files.names.empty()) throw error(ENOENT, fmt::format("{}/{}.tbl", folder_, name));
  const auto read_cached = [&] {
    const std::string& cache = files.names[0];
    return read_cache(cache, schema, wanted, is_young(cache) ? residence::memory : where_,
                      symbolic_links::refuse, share_);
  };
  loaded_table loaded = cached ? read_cached() : load(files, schema, wanted, share_);
  sources_.push_back({.table = schema.name,
                      .file = files.names[0],
                      .files = files.names.size(),
                      .format = files.format,
                      .cached = cached,
                      .version = version_of(cached, loaded.from),
                      .rows = loaded.content.rows(),
                      .text_bytes = total_bytes(loaded.from),
                      .reading = clock::now() - start});
  return std::move(loaded.content);
}

void database::make_caches() {
  bool found = false;
  for (const table_schema& schema : tables()) {
    const table_files files = find_table(folder_, schema.name);
    if (files.names.empty()) continue;
    found = true;
    const auto start = clock::now();
    const loaded_table loaded = load(files, schema, every_column(schema));
    const auto read = clock::now();
    const std::uint64_t bytes = write_cache(cache_of(schema.name), loaded);
    sources_.push_back({.table = schema.name,
                        .file = files.names[0],
                        .files = files.names.size(),
                        .format = files.format,
                        .rows = loaded.content.rows(),
                        .text_bytes = total_bytes(loaded.from),
                        .cache_bytes = bytes,
                        .reading = read - start,
                        .writing = clock::now() - read});
  }
  if (!found) throw error(ENOENT, folder_ + no_tables);
}

}  // namespace creek::tpch
