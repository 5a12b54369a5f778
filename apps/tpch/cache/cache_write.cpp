// SPDX-License-Identifier: Apache-2.0
#include <creek/core/io/atomic_file.hpp>
#include <cstring>
#include <utility>

#include "cache_file.hpp"
#include "cache_layout.hpp"
#include "json/json_value.hpp"
#include "tpch/loading/in_order.hpp"

namespace creek::tpch {
namespace {

using detail::round_up_64, detail::section_bytes;

struct section {
  std::string_view bytes;
  std::uint64_t offset = 0;  ///< from the first section
  std::vector<std::uint64_t> hashes{};
};

/// Returns the arrays of a table in the order of the file: values, begins of words and bytes of
/// each column.
std::vector<section> sections_of(const table& content) {
  std::vector<section> sections;
  std::uint64_t offset = 0;
  const auto add = [&](std::string_view bytes) {
    sections.push_back({bytes, offset});
    offset += section_bytes(bytes.size());
  };
  for (std::size_t i = 0; i < content.schema().columns.size(); ++i) {
    const column& from = *content.at(i);
    add(detail::bytes_of(from.values));
    add(detail::bytes_of(from.word_begins));
    add(from.bytes);
  }
  in_order(sections.size(), [&] {
    return [&](std::size_t i) { sections[i].hashes = detail::hashes_of(sections[i].bytes); };
  });
  return sections;
}

// Members are in the order of their names, as in the caches of earlier versions.

json_value describe(const packed& values, const section& at) {
  return {{"base", values.base},      {"factor", values.factor}, {"hashes", at.hashes},
          {"last", values.last_code}, {"offset", at.offset},     {"size", values.size},
          {"width", values.width}};
}

std::string directory_of(const loaded_table& loaded, const std::vector<section>& sections) {
  json_value columns = json_value::array();
  const auto* at = sections.data();
  for (std::size_t i = 0; i < loaded.content.schema().columns.size(); ++i, at += 3) {
    const column& from = *loaded.content.at(i);
    columns.push_back(
        {{"begins", describe(from.word_begins, at[1])},
         {"bytes",
          {{"hashes", at[2].hashes}, {"offset", at[2].offset}, {"size", at[2].bytes.size()}}},
         {"name", from.schema->name},
         {"values", describe(from.values, at[0])}});
  }
  json_value files = json_value::array();
  for (const file_stamp& file : loaded.from) {
    files.push_back({{"bytes", file.bytes}, {"modified", file.modified}});
  }
  return json_value{{"columns", std::move(columns)},
                    {"files", std::move(files)},
                    {"rows", loaded.content.rows()},
                    {"table", loaded.content.schema().name}}
      .dump();
}

void write_padded(atomic_file& out, std::string_view bytes, std::uint64_t whole) {
  out.write(bytes);
  out.write(std::string(whole - bytes.size(), '\0'));
}

}  // namespace

std::uint64_t detail::hash_of(const cache_header& header) noexcept {
  return hash_of({reinterpret_cast<const char*>(&header), offsetof(cache_header, header_hash)});
}

std::uint64_t write_cache(const std::string& file, const loaded_table& loaded) {
  atomic_file out(file, atomic_file::targets::regular);
  const std::vector<section> sections = sections_of(loaded.content);
  const std::string directory = directory_of(loaded, sections);

  detail::cache_header header;
  header.magic = detail::cache_magic;
  header.version = cache_version;
  header.directory_bytes = static_cast<std::uint32_t>(directory.size());
  header.directory_hash = detail::hash_of(directory);
  header.file_bytes = sizeof header + round_up_64(directory.size()) + sections.back().offset +
                      section_bytes(sections.back().bytes.size());
  header.header_hash = detail::hash_of(header);

  out.write({reinterpret_cast<const char*>(&header), sizeof header});
  write_padded(out, directory, round_up_64(directory.size()));
  for (const section& part : sections) {
    write_padded(out, part.bytes, section_bytes(part.bytes.size()));
  }
  out.commit();
  return header.file_bytes;
}

}  // namespace creek::tpch
