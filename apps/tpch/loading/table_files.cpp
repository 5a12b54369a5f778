// SPDX-License-Identifier: Apache-2.0
#include "table_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <creek/core/error.hpp>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>

namespace creek::tpch {
namespace {

namespace fs = std::filesystem;

enum class numbering : unsigned char { none, by_parts, free };

/// One naming scheme of a table's files: NAME + before, NAME + before + N + after, or anything +
/// after.
struct naming {
  file_format format;
  numbering numbered;
  std::string_view before, after;
};

constexpr naming in_folder[] = {
    {file_format::text, numbering::none, ".tbl", ""},
    {file_format::text, numbering::by_parts, ".tbl.", ""},
    {file_format::text, numbering::by_parts, ".", ".tbl"},
    {file_format::parquet, numbering::none, ".parquet", ""},
    {file_format::parquet, numbering::by_parts, ".", ".parquet"},
};
constexpr naming in_other_words{file_format::parquet, numbering::free, "", ".parquet"};

struct table_part {
  std::uint64_t number = 0;
  std::string file;
};

/// The files of one folder with the same naming scheme.
struct table_parts {
  std::string folder, table;
  naming called;
  std::vector<table_part> files;

  [[nodiscard]] std::string name_of(std::uint64_t number) const {
    return fmt::format("{}/{}{}{}{}", folder, table, called.before, number, called.after);
  }
};

/// Returns the number of a part by this scheme, 0 for none, or nullopt for another name.
std::optional<std::uint64_t> number_in(std::string_view file, std::string_view table,
                                       const naming& called) {
  if (called.numbered == numbering::free) {
    if (file.starts_with('_') || file.starts_with('.') || !file.ends_with(called.after)) return {};
    return 0;
  }
  const auto strip = [&file](std::string_view front) {
    const bool is = file.starts_with(front);
    if (is) file.remove_prefix(front.size());
    return is;
  };
  if (!strip(table) || !strip(called.before)) return {};
  if (called.numbered == numbering::none)
    return file.empty() ? std::optional<std::uint64_t>(0) : std::nullopt;
  if (!file.ends_with(called.after)) return {};
  file.remove_suffix(called.after.size());
  std::uint64_t number = 0;
  const auto [end, fault] = std::from_chars(file.data(), file.data() + file.size(), number);
  if (fault != std::errc() || end != file.data() + file.size()) return {};
  return number;
}

/// Adds the table's files in `place`, by the first of the schemes that fits a file. Adds none if
/// the place does not exist.
void look_into(const std::string& place, std::string_view table, std::span<const naming> ways,
               std::vector<table_parts>& found) {
  std::error_code fault;
  fs::directory_iterator at(place, fault);
  if (fault == std::errc::no_such_file_or_directory || fault == std::errc::not_a_directory) return;
  std::vector<table_parts> here;
  for (const naming& called : ways) here.push_back({place, std::string(table), called, {}});
  for (; !fault && at != fs::directory_iterator(); at.increment(fault)) {
    const std::string name = at->path().filename().string();
    for (table_parts& parts : here) {
      const auto number = number_in(name, table, parts.called);
      if (!number) continue;
      parts.files.push_back({*number, at->path().string()});
      break;
    }
  }
  if (fault) throw error(fault, place);
  for (table_parts& parts : here) {
    if (!parts.files.empty()) found.push_back(std::move(parts));
  }
}

/// Compares texts, and where both have digits, the numbers that they make.
bool comes_before(std::string_view a, std::string_view b) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto digits_of = [&](std::string_view& text) {
    const auto end = std::ranges::find_if_not(text, is_digit);
    std::string_view digits = text.substr(0, static_cast<std::size_t>(end - text.begin()));
    text.remove_prefix(digits.size());
    while (digits.starts_with('0')) digits.remove_prefix(1);
    return digits;
  };
  const std::string_view whole_a = a, whole_b = b;
  while (!a.empty() && !b.empty()) {
    if (is_digit(a[0]) && is_digit(b[0])) {
      const std::string_view x = digits_of(a), y = digits_of(b);
      if (x != y) return std::pair(x.size(), x) < std::pair(y.size(), y);
    } else if (a[0] != b[0]) {
      return a[0] < b[0];
    } else {
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  if (a.empty() != b.empty()) return a.empty();
  return whole_a < whole_b;
}

std::vector<table_parts> all_of(const std::string& folder, std::string_view table) {
  std::vector<table_parts> found;
  const std::string own = fmt::format("{}/{}", folder, table);
  std::vector<naming> in_own(std::begin(in_folder), std::end(in_folder));
  in_own.push_back(in_other_words);
  std::error_code none;
  const bool is_folder = fs::is_directory(own + ".parquet", none);
  look_into(folder, table, in_folder, found);
  if (is_folder) {
    std::erase_if(
        found, [&](const table_parts& parts) { return parts.files[0].file == own + ".parquet"; });
    look_into(own + ".parquet", table, in_own, found);
  }
  look_into(own, table, in_own, found);
  for (table_parts& parts : found) {
    std::ranges::sort(parts.files, [](const table_part& a, const table_part& b) {
      return a.number != b.number ? a.number < b.number : comes_before(a.file, b.file);
    });
  }
  return found;
}

void check_numbers(const table_parts& parts) {
  for (std::uint64_t wanted = 1; const table_part& part : parts.files) {
    if (part.number > wanted) {
      throw error(ENOENT, fmt::format("{}: a part that must be there, as {} is",
                                      parts.name_of(wanted), part.file));
    }
    if (part.number < wanted++) {
      throw error(EINVAL, part.file + ": parts have the numbers 1, 2, 3 and so on, each once");
    }
  }
}

}  // namespace

table_files find_table(const std::string& folder, std::string_view table) {
  const std::vector<table_parts> found = all_of(folder, table);
  if (found.empty()) return {};
  if (found.size() > 1) {
    throw error(EEXIST,
                fmt::format("{} and {} both have the table {}; keep one and move the other away",
                            found[0].files[0].file, found[1].files[0].file, table));
  }
  if (found[0].called.numbered == numbering::by_parts) check_numbers(found[0]);
  table_files files{found[0].called.format, {}};
  for (const table_part& part : found[0].files) files.names.push_back(part.file);
  return files;
}

bool has_table(const std::string& folder, std::string_view table) {
  return !all_of(folder, table).empty();
}

}  // namespace creek::tpch
