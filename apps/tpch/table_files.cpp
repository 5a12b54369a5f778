// SPDX-License-Identifier: Apache-2.0
#include "table_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <creek/core/error.hpp>
#include <cstdint>
#include <filesystem>
#include <optional>

namespace creek::tpch {
namespace {

namespace fs = std::filesystem;

/// One way in which files of a table are called: NAME + before + N + after.
struct naming {
  std::string before, after;
  bool numbered = true;  ///< or NAME + before alone
};

struct table_part {
  std::uint64_t number = 0;
  std::string file;
};

/// The files of one place that are called in the same way.
struct table_parts {
  std::string folder, table;
  naming called;
  std::vector<table_part> files;

  [[nodiscard]] std::string name_of(std::uint64_t number) const {
    return fmt::format("{}/{}{}{}{}", folder, table, called.before, number, called.after);
  }
};

/// The number of a part that is called so, 0 for the only file; nothing if it is called otherwise.
std::optional<std::uint64_t> number_in(std::string_view file, std::string_view table,
                                       const naming& called) {
  const auto strip = [&file](std::string_view front) {
    const bool is = file.starts_with(front);
    if (is) file.remove_prefix(front.size());
    return is;
  };
  if (!strip(table) || !strip(called.before)) return {};
  if (!called.numbered) return file.empty() ? std::optional<std::uint64_t>(0) : std::nullopt;
  if (!file.ends_with(called.after)) return {};
  file.remove_suffix(called.after.size());
  std::uint64_t number = 0;
  const auto [end, fault] = std::from_chars(file.data(), file.data() + file.size(), number);
  if (fault != std::errc() || end != file.data() + file.size()) return {};
  return number;
}

/// Adds what `place` has of the table. A place that is not there has nothing.
void look_into(const std::string& place, std::string_view table, std::vector<table_parts>& found) {
  std::error_code fault;
  fs::directory_iterator at(place, fault);
  if (fault == std::errc::no_such_file_or_directory || fault == std::errc::not_a_directory) return;
  const naming ways[] = {{".tbl", "", false}, {".tbl.", ""}, {".", ".tbl"}};
  std::vector<table_parts> here;
  for (const naming& called : ways) here.push_back({place, std::string(table), called, {}});
  for (; !fault && at != fs::directory_iterator(); at.increment(fault)) {
    const std::string name = at->path().filename().string();
    for (table_parts& parts : here) {
      const auto number = number_in(name, table, parts.called);
      if (number) parts.files.push_back({*number, at->path().string()});
    }
  }
  if (fault) throw error(fault, place);
  for (table_parts& parts : here) {
    if (!parts.files.empty()) found.push_back(std::move(parts));
  }
}

std::vector<table_parts> all_of(const std::string& folder, std::string_view table) {
  std::vector<table_parts> found;
  look_into(folder, table, found);
  look_into(fmt::format("{}/{}", folder, table), table, found);
  for (table_parts& parts : found) {
    std::ranges::sort(parts.files, {},
                      [](const table_part& p) { return std::tie(p.number, p.file); });
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

std::vector<std::string> find_table(const std::string& folder, std::string_view table) {
  const std::vector<table_parts> found = all_of(folder, table);
  if (found.empty()) return {};
  if (found.size() > 1) {
    throw error(EEXIST,
                fmt::format("{} and {} both hold the table {}, keep one and move the other away",
                            found[0].files[0].file, found[1].files[0].file, table));
  }
  if (found[0].called.numbered) check_numbers(found[0]);
  std::vector<std::string> names;
  for (const table_part& part : found[0].files) names.push_back(part.file);
  return names;
}

bool has_table(const std::string& folder, std::string_view table) {
  return !all_of(folder, table).empty();
}

}  // namespace creek::tpch
