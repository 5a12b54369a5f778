// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/stat.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <creek/core/error.hpp>
#include <cstring>
#include <utility>

#include "cache_file.hpp"
#include "cache_layout.hpp"
#include "json/json_value.hpp"
#include "tpch/columns/column_check.hpp"
#include "tpch/loading/data_fault.hpp"
#include "tpch/loading/in_order.hpp"

namespace creek::tpch {
namespace {

/// Returns the text of a member, or an empty one if it is missing. Throws json_error if no text.
std::string_view text_of(const json_value& from, std::string_view name) {
  const json_value* const found = from.find(name);
  return found != nullptr ? std::string_view(found->as_string()) : std::string_view();
}

/// The parts of an array with a checksum of their own that some of its bytes lie in.
struct hashed_parts {
  std::string_view bytes;
  std::size_t first = 0;    ///< number of the first part
  std::size_t skipped = 0;  ///< bytes before the wanted ones

  hashed_parts() = default;
  hashed_parts(std::string_view array, std::size_t begin, std::size_t end)
      : first(begin / detail::hashed_bytes), skipped(begin % detail::hashed_bytes) {
    const std::size_t before = begin - skipped;
    bytes = array.substr(before, (end - before + detail::hashed_bytes - 1) / detail::hashed_bytes *
                                     detail::hashed_bytes);
  }
  explicit hashed_parts(std::string_view array) : hashed_parts(array, 0, array.size()) {}

  [[nodiscard]] const std::byte* wanted() const noexcept {
    return reinterpret_cast<const std::byte*>(bytes.data()) + skipped;
  }
};

/// A mapped cache file whose header and directory have the right checksums.
class opened_cache {
 public:
  opened_cache(const std::string& file, const table_schema& schema, symbolic_links links)
      : source_(file, links), schema_(schema) {
    check_header();
    read_directory();
  }

  [[nodiscard]] const std::vector<file_stamp>& origin() const noexcept { return origin_; }
  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] const source_file& source() const noexcept { return source_; }
  [[nodiscard]] source_file take_source() { return std::move(source_); }

  /// Returns a column of all rows. The caller must check its checksums.
  [[nodiscard]] column read(std::size_t index) const {
    const json_value& from = columns().at(index);
    column result;
    result.schema = &schema_.columns[index];
    const json_value& bytes = from.at("bytes");
    result.bytes = section(bytes, number<std::uint64_t>(bytes, "size"));
    result.values = numbers(from.at("values"));
    result.word_begins = numbers(from.at("begins"));
    if (result.values.size != rows_ + (result.schema->holds == kind::text ? 1 : 0)) {
      refuse(fmt::format("column {} has another length", result.schema->name));
    }
    return result;
  }

  /// Returns whether the checksums of parts of an array of a column are right: "values", "begins"
  /// or "bytes".
  [[nodiscard]] bool has_hashes(std::size_t index, const char* array,
                                const hashed_parts& found) const {
    const std::vector<json_value>& hashes = columns().at(index).at(array).at("hashes").items();
    const std::vector<std::uint64_t> right = detail::hashes_of(found.bytes);
    if (hashes.size() < found.first + right.size()) return false;
    return std::equal(right.begin(), right.end(),
                      hashes.begin() + static_cast<std::ptrdiff_t>(found.first),
                      [](std::uint64_t hash, const json_value& stored) {
                        return stored.integer_as<std::uint64_t>() == hash;
                      });
  }

  /// Returns a number of the directory. Refuses one that does not fit `T`.
  template <class T>
  [[nodiscard]] T number(const json_value& from, const char* name) const {
    const std::optional<T> found = from.at(name).integer_as<T>();
    if (!found) refuse("the directory is damaged");
    return *found;
  }

  [[noreturn]] void refuse(const std::string& why) const {
    source_.check_unchanged();
    fail(data_fault::corrupt, source_.name() + ": " + why);
  }

 private:
  void check_header() {
    const std::string_view text = source_.bytes();
    detail::cache_header header;
    if (text.size() < sizeof header) refuse("too short for a cache of creek");
    std::memcpy(&header, text.data(), sizeof header);
    if (header.magic != detail::cache_magic) refuse("not a cache of creek");
    if (header.version != cache_version) {
      refuse(fmt::format("version {} of the cache, this creek reads {}", header.version,
                         cache_version));
    }
    if (header.header_hash != detail::hash_of(header)) refuse("the header is damaged");
    if (header.file_bytes != text.size()) {
      refuse(fmt::format("{} bytes long, not {}", text.size(), header.file_bytes));
    }
    const std::string_view rest = text.substr(sizeof header);
    if (header.directory_bytes > rest.size()) refuse("the directory is damaged");
    const std::string_view directory = rest.substr(0, header.directory_bytes);
    if (detail::hash_of(directory) != header.directory_hash) refuse("the directory is damaged");
    directory_ = json_value::parse(directory).value_or(nullptr);
    sections_ = rest.substr(
        std::min<std::size_t>(detail::round_up_64(header.directory_bytes), rest.size()));
  }

  void read_directory() {
    if (!directory_.is_object()) refuse("the directory is damaged");
    if (text_of(directory_, "table") != schema_.name) {
      refuse(fmt::format("not a cache of the table {}", schema_.name));
    }
    bool same = columns().size() == schema_.columns.size();
    for (std::size_t i = 0; same && i < columns().size(); ++i) {
      same = text_of(columns()[i], "name") == schema_.columns[i].name;
    }
    if (!same) refuse("has other columns");
    rows_ = number<std::size_t>(directory_, "rows");
    if (rows_ > sections_.size()) refuse("has more rows than bytes");
    for (const json_value& file : directory_.at("files").items()) {
      origin_.push_back(
          {number<std::uint64_t>(file, "bytes"), number<std::int64_t>(file, "modified")});
    }
  }

  [[nodiscard]] const std::vector<json_value>& columns() const {
    return directory_.at("columns").items();
  }

  [[nodiscard]] std::string_view section(const json_value& at, std::uint64_t bytes) const {
    const auto offset = number<std::uint64_t>(at, "offset");
    if (offset % 64 != 0 || bytes > sections_.size() || offset > sections_.size() ||
        detail::section_bytes(bytes) > sections_.size() - offset) {
      refuse("an array reaches beyond the end");
    }
    return sections_.substr(offset, bytes);
  }

  [[nodiscard]] packed numbers(const json_value& from) const {
    packed values;
    values.size = number<std::size_t>(from, "size");
    values.width = number<unsigned>(from, "width");
    values.base = number<std::int64_t>(from, "base");
    values.factor = number<std::int64_t>(from, "factor");
    values.last_code = number<std::uint64_t>(from, "last");
    const unsigned width = values.width;
    if ((width != 1 && width != 2 && width != 4 && width != 8) ||
        values.size > sections_.size() / width) {
      refuse("an array reaches beyond the end");
    }
    values.codes = reinterpret_cast<const std::byte*>(section(from, values.size * width).data());
    return values;
  }

  source_file source_;
  const table_schema& schema_;
  json_value directory_;
  std::string_view sections_;
  std::size_t rows_ = 0;
  std::vector<file_stamp> origin_;
};

/// Some rows of a column, and their own memory if they have any.
class placed_column {
 public:
  placed_column() = default;
  placed_column(const column& whole, table_share::range rows, residence where)
      : content_(whole), in_memory_(where == residence::memory) {
    const bool is_text = whole.schema->holds == kind::text;
    const unsigned width = whole.values.width;
    content_.values.size = rows.end - rows.begin + (is_text ? 1 : 0);
    values_ = {detail::bytes_of(whole.values), rows.begin * width,
               (rows.begin + content_.values.size) * width};
    place(values_);
    content_.values.codes = values_.wanted();
    begins_ = hashed_parts(detail::bytes_of(whole.word_begins));
    place(begins_);
    content_.word_begins.codes = begins_.wanted();
    if (is_text) {
      const std::size_t begin = std::min<std::size_t>(first_byte(), whole.bytes.size());
      const std::size_t end = content_.values.code(content_.values.size - 1);
      bytes_ = {whole.bytes, begin, std::clamp(end, begin, whole.bytes.size())};
    } else {
      bytes_ = hashed_parts(whole.bytes);
    }
    place(bytes_);
  }

  /// Returns whether the checksums are right, and the content sound, so that it is safe to use
  /// whoever made the file.
  [[nodiscard]] bool is_whole(const opened_cache& cache, std::size_t index) {
    if (!cache.has_hashes(index, "values", values_) ||
        !cache.has_hashes(index, "begins", begins_) || !cache.has_hashes(index, "bytes", bytes_)) {
      return false;
    }
    if (in_memory_) use_own_bytes();
    return is_sound(content_);
  }

  void hand_over(table& to, std::size_t index) {
    to.put(index, content_);
    for (buffer& memory : memory_) to.keep(std::move(memory));
  }

 private:
  [[nodiscard]] std::uint64_t first_byte() const noexcept { return content_.values.code(0); }

  void place(hashed_parts& array) {
    if (!in_memory_) return;
    const buffer& to = memory_.emplace_back(array.bytes.size());
    std::memcpy(to.data(), array.bytes.data(), array.bytes.size());
    array.bytes = {reinterpret_cast<const char*>(to.data()), array.bytes.size()};
  }

  /// Makes the bytes those in memory, and offsets of texts, which are in memory too, fit them.
  void use_own_bytes() {
    content_.bytes = bytes_.bytes;
    const std::uint64_t before = bytes_.first * detail::hashed_bytes;
    if (content_.schema->holds != kind::text || before == 0) return;
    packed& offsets = content_.values;
    with_width(offsets.width, [&](auto zero) {
      using code = decltype(zero);
      auto* const codes = reinterpret_cast<code*>(const_cast<std::byte*>(offsets.codes));
      for (std::size_t i = 0; i < offsets.size; ++i) {
        codes[i] = static_cast<code>(codes[i] - before);
      }
    });
    offsets.last_code -= std::min(before, offsets.last_code);
  }

  column content_;
  bool in_memory_ = false;
  hashed_parts values_, begins_, bytes_;
  std::vector<buffer> memory_;
};

/// Reports a json_error as damage: the directory's checksum is right, but its content is wrong.
template <class F>
auto with_json_errors_named(const std::string& file, F&& f) {
  try {
    return f();
  } catch (const json_error&) {
    fail(data_fault::corrupt, file + ": the directory is damaged");
  }
}

}  // namespace

std::uint64_t detail::hash_of(std::string_view bytes) noexcept {
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::vector<std::uint64_t> detail::hashes_of(std::string_view bytes) {
  std::vector<std::uint64_t> hashes;
  for (std::size_t at = 0; at < bytes.size(); at += hashed_bytes) {
    hashes.push_back(hash_of(bytes.substr(at, hashed_bytes)));
  }
  return hashes;
}

loaded_table read_cache(const std::string& file, const table_schema& schema,
                        const std::vector<bool>& wanted, residence where, symbolic_links links,
                        table_share share) {
  return with_json_errors_named(file, [&] {
    opened_cache cache(file, schema, links);
    loaded_table result{table(schema), cache.origin()};
    // Whole words of masks, and whole cache lines of codes.
    const table_share::range rows = share.of(cache.rows(), 64);
    result.content.set_rows(rows.end - rows.begin);
    std::vector<placed_column> columns(schema.columns.size());
    in_order(schema.columns.size(), [&] {
      return [&](std::size_t i) {
        if (!wanted[i]) return;
        columns[i] = placed_column(cache.read(i), rows, where);
        if (!columns[i].is_whole(cache, i)) {
          cache.refuse(fmt::format("column {} is damaged", schema.columns[i].name));
        }
      };
    });
    cache.source().check_unchanged();
    for (std::size_t i = 0; i < schema.columns.size(); ++i) {
      if (!wanted[i]) continue;
      columns[i].hand_over(result.content, i);
    }
    if (where == residence::file) result.content.keep(cache.take_source());
    return result;
  });
}

std::optional<std::vector<file_stamp>> cache_origin(const std::string& file,
                                                    const table_schema& schema,
                                                    symbolic_links links) {
  struct stat facts {};
  if (lstat(file.c_str(), &facts) != 0 && errno == ENOENT) return {};
  return with_json_errors_named(
      file, [&] { return std::optional(opened_cache(file, schema, links).origin()); });
}

}  // namespace creek::tpch
