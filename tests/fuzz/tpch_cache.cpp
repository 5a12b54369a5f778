// SPDX-License-Identifier: Apache-2.0
// Cache files with correct checksums and wrong contents: every value of an accepted file can be
// read. The input is a directory (JSON) and arrays; this target creates the header and the
// checksums in the directory, so that a changed byte gets past them.
#include <cstring>
#include <nlohmann/json.hpp>

#include "harness.hpp"
#include "tpch/cache/cache_file.hpp"
#include "tpch/cache/cache_layout.hpp"
#include "tpch/loading/data_fault.hpp"

namespace creek::fuzz {
namespace {

using nlohmann::json;
using tpch::kind;

std::optional<std::uint64_t> number_in(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number_unsigned()) return {};
  return found->get<std::uint64_t>();
}

/// Puts the checksums of an array, if it lies within `arrays`, into its description.
void seal(json& part, std::string_view arrays, bool is_bytes) {
  if (!part.is_object()) return;
  const auto offset = number_in(part, "offset"), size = number_in(part, "size");
  const auto width = is_bytes ? 1 : number_in(part, "width");
  if (!offset || !size || !width || *width > 8 || *offset > arrays.size() ||
      *size > arrays.size() || *size * *width > arrays.size() - *offset) {
    return;
  }
  part["hashes"] = tpch::detail::hashes_of(arrays.substr(*offset, *size * *width));
}

std::string sealed_directory(std::string_view text, std::string_view arrays) {
  json directory = json::parse(text, nullptr, false);
  if (!directory.is_object() || !directory.contains("columns")) return std::string(text);
  for (json& column : directory["columns"]) {
    if (!column.is_object()) continue;
    for (const char* part : {"values", "begins", "bytes"}) {
      if (column.contains(part)) seal(column[part], arrays, std::strcmp(part, "bytes") == 0);
    }
  }
  return directory.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string cache_of(std::string_view directory_text, std::string_view arrays) {
  const std::string directory = sealed_directory(directory_text, arrays);
  const std::string padding(tpch::detail::round_up_64(directory.size()) - directory.size(), '\0');
  tpch::detail::cache_header header;
  header.magic = tpch::detail::cache_magic;
  header.version = tpch::cache_version;
  header.directory_bytes = static_cast<std::uint32_t>(directory.size());
  header.directory_hash = tpch::detail::hash_of(directory);
  header.file_bytes = sizeof header + directory.size() + padding.size() + arrays.size();
  header.header_hash = tpch::detail::hash_of(header);
  std::string file(sizeof header, '\0');
  std::memcpy(file.data(), &header, sizeof header);
  return file.append(directory).append(padding).append(arrays);
}

/// Reads all of an accepted table, relying on what column and packed promise.
void check_table(const tpch::table& table, const std::vector<bool>& wanted, std::size_t bytes) {
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    expect(table.has(i) == wanted[i], "other columns");
    if (!wanted[i]) continue;
    const tpch::column& column = *table.at(i);
    const std::string name(column.schema->name);
    const std::size_t extra = column.schema->holds == kind::text ? 1 : 0;
    expect(table.rows() + extra > extra * table.rows() && table.rows() <= bytes,
           "more rows than bytes in " + name);
    expect(column.values.size == table.rows() + extra, "another length of " + name);
    const auto begins = [&](const tpch::packed& at) {
      for (std::size_t k = 1; k < at.size; ++k) {
        expect(at.value(k - 1) <= at.value(k), "texts that end before they begin in " + name);
      }
      expect(at.size == 0 || (at.value(0) >= 0 && static_cast<std::uint64_t>(at.value(
                                                      at.size - 1)) <= column.bytes.size()),
             "text beyond the end in " + name);
    };
    tpch::packed unbounded = column.values;  // which code() would hide
    unbounded.last_code = UINT64_MAX;
    for (std::size_t row = 0; row < column.values.size; ++row) {
      expect(unbounded.code(row) <= column.values.last_code, "a greater code in " + name);
    }
    expect(column.values.least() <= column.values.greatest(), "numbers wrap around in " + name);
    if (column.schema->holds == kind::text) begins(column.values);
    if (column.schema->holds == kind::category) {
      begins(column.word_begins);
      for (std::size_t row = 0; row < table.rows(); ++row) {
        expect(column.values.code(row) < column.words(), "a code without a word in " + name);
      }
      for (std::size_t word = 1; word < column.words(); ++word) {
        expect(column.word(word - 1) < column.word(word), "words in no order in " + name);
      }
    }
  }
}

}  // namespace
}  // namespace creek::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace creek;
  fuzz::input from(data, size);
  const unsigned flags = from.byte();
  const tpch::table_schema& schema = tpch::tables()[from.below(8)];
  const std::size_t mask = from.below_wide(1 << 16);
  std::vector<bool> wanted = tpch::every_column(schema);
  for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] = (mask >> i & 1) == 0;
  const std::size_t directory = from.below_wide(1 << 16);
  const std::string_view rest = from.rest();
  const bool as_it_is = (flags & 2) != 0;
  const std::string content = as_it_is
                                  ? std::string(rest)
                                  : fuzz::cache_of(rest.substr(0, directory),
                                                   rest.substr(std::min(directory, rest.size())));
  const auto where = (flags & 4) != 0 ? tpch::residence::memory : tpch::residence::file;
  const fuzz::memory_file file(content);
  std::optional<tpch::loaded_table> loaded;
  const auto refused = fuzz::refusal_of(file.name(), [&] {
    loaded = fuzz::workers((flags & 1) != 0).run([&] {
      constexpr auto links = symbolic_links::follow;  // the name of a memory file is one
      static_cast<void>(tpch::cache_origin(file.name(), schema, links));
      return tpch::read_cache(file.name(), schema, wanted, where, links);
    });
  });
  if (refused) {
    fuzz::expect(refused->code == tpch::data_fault::corrupt, refused->why);
  } else {
    fuzz::check_table(loaded->content, wanted, content.size());
  }
  return 0;
}
