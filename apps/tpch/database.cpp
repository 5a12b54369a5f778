// SPDX-License-Identifier: Apache-2.0
#include "database.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <creek/core/error.hpp>

#include "cache_file.hpp"
#include "data_fault.hpp"

namespace creek::tpch {
namespace {

using clock = std::chrono::steady_clock;

bool exists(const std::string& file) {
  struct stat facts {};
  if (stat(file.c_str(), &facts) == 0) return true;
  if (errno == ENOENT) return false;
  throw error(errno, file);
}

/// Nothing if there is no such file.
std::optional<file_stamp> stamp_of(const std::string& file) {
  struct stat facts {};
  if (stat(file.c_str(), &facts) != 0) return {};
  return file_stamp{static_cast<std::uint64_t>(facts.st_size),
                    facts.st_mtim.tv_sec * 1'000'000'000 + facts.st_mtim.tv_nsec};
}

}  // namespace

database::database(std::string folder) : folder_(std::move(folder)) {
  struct stat facts {};
  if (stat(folder_.c_str(), &facts) != 0) throw error(errno, folder_);
  if (!S_ISDIR(facts.st_mode)) throw error(ENOTDIR, folder_);
  for (const table_schema& table : tables()) {
    if (exists(text_of(table.name)) || exists(cache_of(table.name))) return;
  }
  throw error(ENOENT, folder_ + ": has no .tbl files of dbgen");
}

std::string database::text_of(std::string_view table) const {
  return fmt::format("{}/{}.tbl", folder_, table);
}

std::string database::cache_of(std::string_view table) const {
  return fmt::format("{}/{}.creek", folder_, table);
}

bool database::cache_serves(const table_schema& schema) const {
  const auto origin = cache_origin(cache_of(schema.name), schema);
  if (!origin) return false;
  const auto text = stamp_of(text_of(schema.name));
  return !text || *text == *origin;
}

table database::open(std::string_view name, std::initializer_list<std::string_view> columns) {
  const table_schema& schema = table_named(name);
  std::vector<bool> wanted(schema.columns.size());
  for (const std::string_view column : columns) wanted[schema.at(column)] = true;
  const auto start = clock::now();
  const bool cached = cache_serves(schema);
  const std::string file = cached ? cache_of(name) : text_of(name);
  loaded_table loaded = cached ? read_cache(file, schema, wanted) : load_tbl(file, schema, wanted);
  sources_.push_back({.table = schema.name,
                      .file = file,
                      .cached = cached,
                      .rows = loaded.content.rows(),
                      .text_bytes = loaded.from.bytes,
                      .reading = clock::now() - start});
  return std::move(loaded.content);
}

void database::make_caches() {
  bool found = false;
  for (const table_schema& schema : tables()) {
    const std::string file = text_of(schema.name);
    if (!exists(file)) continue;
    found = true;
    const auto start = clock::now();
    const loaded_table loaded = load_tbl(file, schema, every_column(schema));
    const auto read = clock::now();
    const std::uint64_t bytes = write_cache(cache_of(schema.name), loaded);
    sources_.push_back({.table = schema.name,
                        .file = file,
                        .rows = loaded.content.rows(),
                        .text_bytes = loaded.from.bytes,
                        .cache_bytes = bytes,
                        .reading = read - start,
                        .writing = clock::now() - read});
  }
  if (!found) throw error(ENOENT, folder_ + ": has no .tbl files of dbgen");
}

}  // namespace creek::tpch
